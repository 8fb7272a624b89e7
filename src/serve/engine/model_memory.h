// Which loaded models to unload, as functions of sizes and times.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "serve/engine/work.h"

namespace tril::serve {

/// A loaded model.
struct ModelUse {
  std::size_t model = 0;   ///< its number
  std::int64_t bytes = 0;  ///< memory that it takes now
  bool busy = false;       ///< it has running requests
  Clock::time_point last_use = {};
};

enum class Unload : std::uint8_t { idle, any };  ///< any: also those with running requests

/// The models to unload so that at least `excess` bytes become free, in this order: those without running requests before
/// those with, the least recently used first. All that `which` allows if they do not suffice; none if `excess` is not
/// positive.
std::vector<std::size_t> models_to_unload(std::vector<ModelUse> loaded, std::int64_t excess, Unload which);

/// Seconds until a load is tried again, after this many consecutive failures: doubles from `first` up to `longest`.
double seconds_until_retry(int failures, double first, double longest);

/// Refuses a model that takes more than the limit of all models, `most`; 0: no limit. @throws Error(usage) naming both
/// sizes
void check_model_size(const std::string& name, std::int64_t bytes, std::int64_t most);

/// "1.50 GiB", "70 MiB", "1.0 KiB"
std::string memory_text(std::int64_t bytes);

}  // namespace tril::serve
