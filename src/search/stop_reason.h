// The reason why a hypothesis ended. Commands print name_of(); APIs of the server translate it to their own words.
#pragma once

#include <cstdint>
#include <string_view>

namespace tril::search {

enum class StopReason : std::uint8_t {
  end_token,   ///< the model generated an end token
  stop,        ///< SearchPlan::ends: a stop string, for example
  length,      ///< the requested maximum length is reached
  positions,   ///< the model has no more positions
  dead_end,    ///< every next token is forbidden
  time_limit,  ///< SearchPlan::time_limit or a deadline has passed
  cancelled,   ///< cancelled by the caller
  refused      ///< the prompt cannot be continued: it leaves no room, or has no token
};

/// "end_token", "stop", ...
std::string_view name_of(StopReason reason);

/// True if the search was interrupted.
constexpr bool is_cut(StopReason reason) {
  return reason == StopReason::dead_end || reason == StopReason::time_limit || reason == StopReason::cancelled;
}

}  // namespace tril::search
