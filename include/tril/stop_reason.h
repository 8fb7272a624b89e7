// Why a text ended.
#pragma once

#include <tril/export.h>
#include <tril/namespace.h>

#include <cstdint>
#include <string>

TRIL_NAMESPACE_BEGIN
enum class StopReason : std::uint8_t {
  end_token,   ///< the model generated an end token
  stop,        ///< at a stop string
  length,      ///< the requested maximum length is reached
  positions,   ///< the model has no more positions
  dead_end,    ///< every next token is forbidden
  time_limit,  ///< the time limit has passed
  cancelled,   ///< stop was requested
  refused      ///< the prompt cannot be continued
};

/// "end_token", "stop", ...
TRIL_API std::string name_of(StopReason reason);

TRIL_NAMESPACE_END
