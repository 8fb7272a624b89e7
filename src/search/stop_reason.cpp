#include "search/stop_reason.h"

namespace tril::search {

std::string_view name_of(StopReason reason) {
  switch (reason) {
    case StopReason::end_token:
      return "end_token";
    case StopReason::stop:
      return "stop";
    case StopReason::length:
      return "length";
    case StopReason::positions:
      return "positions";
    case StopReason::dead_end:
      return "dead_end";
    case StopReason::time_limit:
      return "time_limit";
    case StopReason::cancelled:
      return "cancelled";
    case StopReason::refused:
      return "refused";
  }
  return "";
}

}  // namespace tril::search
