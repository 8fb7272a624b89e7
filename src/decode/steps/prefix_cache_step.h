// Starts rows with the cached keys and values of the same prefix (prefix_cache.h), so that only the rest is read.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <vector>

#include "decode/steps/prefix_cache.h"
#include "decode/steps/sentence_adapters.h"
#include "decode/steps/step_decorator.h"

namespace tril::search {

class PrefixCacheStep : public StepDecorator {
 public:
  /// @param cache     the KV cache of the inner step
  /// @param prefixes  over the same cache
  /// @param beyond    rows with more tokens than this use other rotary angles, so they neither reuse nor cache prefixes
  ///                  (nn::LengthDependence); 0: no limit
  /// @param adapters  the adapters of the sentences, which share prefixes only under the same adapter; null: they use none
  PrefixCacheStep(std::unique_ptr<Step> inner, nn::KvCache& cache, PrefixCache& prefixes, std::int64_t beyond,
                  const SentenceAdapters* adapters = nullptr);
  StepOutput step(Context& c, const StepInput& input) override;
  std::int32_t reuse_prefix(std::int32_t sentence, std::span<const std::int32_t> prompt) override;
  void keep_prefix(std::int32_t row, std::span<const std::int32_t> text) override;

 private:
  bool is_too_long(std::int64_t tokens) const;
  std::int32_t adapter_of(std::int32_t sentence) const { return adapters_ ? adapters_->of(sentence) : -1; }

  nn::KvCache* cache_;
  PrefixCache* prefixes_;
  std::int64_t beyond_;
  const SentenceAdapters* adapters_;
  std::map<std::int32_t, std::vector<std::int32_t>> begun_;  ///< by sentence: the cached slots for its first row
  std::vector<std::int32_t> parents_;                        ///< StepInput::parents for the inner step
  std::vector<std::int32_t> prompt_lengths_;                 ///< [rows] of the last step; empty: not given
  std::vector<std::int32_t> sentences_;                      ///< [rows] of the last step
};

}  // namespace tril::search
