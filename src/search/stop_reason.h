// Why a hypothesis ends where it does. Answers of commands and of the server say it in their own words (name_of, or those of an API).
#pragma once

#include <cstdint>
#include <string_view>

namespace tril::search {

enum class StopReason : std::uint8_t {
  end_token,   ///< the model said so
  stop,        ///< SearchPlan::ends, such as a stop string
  length,      ///< as many tokens as were asked for
  positions,   ///< the model has no more positions
  dead_end,    ///< nothing may follow: all that could is forbidden
  time_limit,  ///< SearchPlan::time_limit or a deadline was up
  cancelled,   ///< the caller asked for it
  refused      ///< nothing can follow this prompt: it leaves no room, or has no token
};

/// "end_token", "stop", ...
std::string_view name_of(StopReason reason);

/// Whether the search was ended before its end.
constexpr bool is_cut(StopReason reason) {
  return reason == StopReason::dead_end || reason == StopReason::time_limit || reason == StopReason::cancelled;
}

}  // namespace tril::search
