// Rows that begin as an earlier text did begin with that text's keys and values (prefix_cache.h), so that the rest alone is read.
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
  /// @param cache     of the inner step, which follows StepInput::parents with it
  /// @param prefixes  of the same cache
  /// @param beyond    rows of more tokens are turned by other angles than the beginnings that are kept, so they neither reuse
  ///                  nor keep any (nn::LengthDependence); 0: no row is
  /// @param adapters  of the sentences, which share beginnings only with those of the same one; null: they name none
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
  std::map<std::int32_t, std::vector<std::int32_t>> begun_;  ///< by sentence: the slots that its row begins with
  std::vector<std::int32_t> parents_;                        ///< of a step in which such a row begins
  std::vector<std::int32_t> prompt_lengths_;                 ///< of the rows of the last step; empty: not told
  std::vector<std::int32_t> sentences_;                      ///< of the rows of the last step
};

}  // namespace tril::search
