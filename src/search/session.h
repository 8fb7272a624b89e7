// A model at work on a batch of sentences: what it sees as sources, what it remembers, and the searches that it feeds.
// One session belongs to one context, so to one thread; sessions share their model.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "model/model.h"
#include "search/decode.h"

namespace tril::search {

/// The step of a model: of a decoder, or of an encoder-decoder over the memory of its sources, where sentence s attends
/// to row s of the memory. Rows of a sentence that is done are named no more, and the cache takes their slots back.
class ModelStep : public Step {
 public:
  /// @param memory  null for a model without an encoder
  /// @param cache  where keys and values of earlier tokens are kept, without rows yet; null: every step computes its
  ///               rows' tokens all over again, which gives the same logits slowly
  ModelStep(const model::Model& model, const model::Memory* memory, nn::KvCache* cache);

  std::int64_t vocab_size() const override { return model_->vocab_size(); }
  Tensor logits(Context& c, const StepInput& input) override;
  Following following(Context& c, const StepInput& input) override;

 private:
  Tensor hidden(Context& c, const StepInput& input);  // of each row's last token
  Tensor cached(Context& c, const StepInput& input);
  Tensor recomputed(Context& c, const StepInput& input);
  Tensor last_hidden(Context& c, std::span<const std::int32_t> ids, Rows rows, const StepInput& input) const;

  const model::Model* model_;
  const model::Memory* memory_;
  nn::KvCache* cache_;
  std::vector<std::vector<std::int32_t>> histories_;  // of the rows, where there is no cache
};

class Session {
 public:
  /// @param use_cache  false: recompute instead (for tests, and for families without a cache)
  Session(Context& c, const model::Model& model, bool use_cache = true);

  /// The hypotheses for each request, best first.
  /// @param sources  an encoder-decoder: what each request translates, ids with EOS; a model without an encoder: none
  std::vector<std::vector<Hypothesis>> decode(std::span<const std::vector<std::int32_t>> sources,
                                              std::span<const Request> requests, const SearchOptions& options,
                                              std::int64_t max_live = 0, const Watch& watch = {});

  /// Null where nothing is kept. Between two decode() calls it holds no rows.
  const nn::KvCache* cache() const { return cache_.get(); }

 private:
  Context* context_;
  const model::Model* model_;
  std::unique_ptr<nn::KvCache> cache_;
};

/// The memory of sources given as lists of ids.
model::Memory encode(Context& c, const model::Model& model, std::span<const std::vector<std::int32_t>> sources);

}  // namespace tril::search
