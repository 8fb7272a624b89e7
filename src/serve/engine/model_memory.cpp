#include "serve/engine/model_memory.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <tuple>

#include "base/error.h"

namespace tril::serve {

std::vector<std::size_t> models_to_unload(std::vector<ModelUse> loaded, std::int64_t excess, Unload which) {
  std::sort(loaded.begin(), loaded.end(), [](const ModelUse& a, const ModelUse& b) {
    return std::tie(a.busy, a.last_use, a.model) < std::tie(b.busy, b.last_use, b.model);
  });
  std::vector<std::size_t> list;
  for (const ModelUse& use : loaded) {
    if (excess <= 0 || (use.busy && which == Unload::idle)) break;
    list.push_back(use.model);
    excess -= use.bytes;
  }
  return list;
}

double seconds_until_retry(int failures, double first, double longest) {
  return std::min(longest, first * std::exp2(std::max(0, failures - 1)));
}

void check_model_size(const std::string& name, std::int64_t bytes, std::int64_t most) {
  if (most > 0 && bytes > most)
    fail_usage(
        "model_memory",
        fmt::format("model {} takes {}, more than the {} for all models", name, memory_text(bytes), memory_text(most)),
        "raise the limit, serve the model in a lower `precision`, or leave it out");
}

std::string memory_text(std::int64_t bytes) {
  const double mib = static_cast<double>(bytes) / (1 << 20);
  if (mib < 0.1) return fmt::format("{:.1f} KiB", mib * 1024);
  if (mib < 10) return fmt::format("{:.2f} MiB", mib);
  return mib < 1024 ? fmt::format("{:.0f} MiB", mib) : fmt::format("{:.2f} GiB", mib / 1024);
}

}  // namespace tril::serve
