// Where models are downloaded to, and whether that works. Nothing is sent to the hub.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "doctor/finding.h"

namespace tril::doctor {

struct HubState {
  std::string cache, endpoint;
  std::int64_t free_bytes = -1;  ///< of the cache's file system; -1: not known
  bool offline = false, has_token = false;
  std::string token_origin;  ///< where the token comes from, never the token
  Findings findings;
};

/// @param variable  the value of an environment variable; "" if it is unset
HubState check_hub(const std::function<std::string(const std::string& name)>& variable);

}  // namespace tril::doctor
