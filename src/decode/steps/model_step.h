// A model as a search's step: what it sees as sources, what it remembers of each row, and the logits that it answers with.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include "decode/steps/cache_options.h"
#include "decode/steps/prefix_cache.h"
#include "decode/steps/sources.h"
#include "model/spec/model.h"
#include "search/step.h"

namespace tril::search {

/// The step of a model: of a decoder, or of an encoder-decoder over what its sentences translate. Rows of a sentence that
/// is done are named no more, and the cache takes their slots back.
class ModelStep : public Step {
 public:
  /// @param sources  of all sentences that a step names; null for a model without an encoder
  /// @param cache  where keys and values of earlier tokens are kept, without rows yet; null: every step computes its
  ///               rows' tokens all over again, which gives the same logits slowly
  ModelStep(const model::Model& model, const Sources* sources, nn::KvCache* cache, CacheOptions options = {});

  std::int64_t vocab_size() const override { return model_->vocab_size(); }
  StepOutput step(Context& c, const StepInput& input) override;

  /// From now on results tell what the tap's layer looks at.
  void keep_attention(nn::AttentionTap tap) { tap_ = std::move(tap); }
  void keep_no_attention() { tap_.reset(); }
  bool keeps_attention() const { return tap_.has_value(); }
  /// The cache has one row already, of this text.
  void resume(std::span<const std::int32_t> text) { texts_.assign(1, {text.begin(), text.end()}); }
  /// From now on rows that begin as texts did which are kept there begin behind them. It must be of the same cache.
  void share_prefixes(PrefixCache* prefixes) { prefixes_ = prefixes; }
  std::int32_t reuse_prefix(std::int32_t sentence, std::span<const std::int32_t> prompt) override;
  void keep_prefix(std::int32_t row, std::span<const std::int32_t> text) override;
  /// From now on sentence s is made of the tokens lists[s] (ascending ids), and logits are worked out for those alone that
  /// the sentences of a step have.
  void restrict_to(std::vector<std::vector<std::int32_t>> lists) { lists_ = std::move(lists); }

 private:
  Tensor hidden_states(Context& c, const StepInput& input);  // of the tokens that are to be answered
  Tensor listed_logits(Context& c, const StepInput& input, const Tensor& hidden);
  Tensor cached(Context& c, StepInput input);
  void follow(const StepInput& input);
  void read_anew(StepInput& input);
  std::vector<std::int32_t> read_chunks(Context& c, const StepInput& input);
  Tensor recomputed(Context& c, const StepInput& input);
  Tensor hidden(Context& c, std::span<const std::int32_t> ids, Rows rows, const StepInput& input);
  Tensor last_hidden(Context& c, std::span<const std::int32_t> ids, const Rows& rows, const StepInput& input);
  void choose_columns(Context& c, std::span<const std::int32_t> sentences);
  void take_attention(const Rows& rows, std::span<const std::int32_t> sentences);

  const model::Model* model_;
  const Sources* sources_;
  nn::KvCache* cache_;
  CacheOptions options_;
  PrefixCache* prefixes_ = nullptr;
  struct Begun {
    std::vector<std::int32_t> slots, text;
  };
  std::map<std::int32_t, Begun> begun_;       ///< by sentence: what its row begins with
  std::vector<std::int32_t> prompt_lengths_;  ///< of the rows of the last step
  std::optional<nn::AttentionTap> tap_;
  std::uint64_t tapped_version_ = 0;              ///< of the sources whose keys the tap keeps
  StepAttention attention_;                       ///< of the step that is going on
  std::vector<std::vector<std::int32_t>> lists_;  ///< by sentence; none: all tokens
  std::vector<std::int32_t> chosen_for_, columns_;
  ops::Weight weight_;  ///< the output's rows of columns_
  Tensor bias_;
  Tensor masks_;  ///< [sentences chosen_for_, columns]: 0, or -inf for what a sentence has not
  std::vector<std::int32_t> memory_rows_;
  std::vector<std::vector<std::int32_t>> texts_;  ///< of the rows, where they are or may have to be read again
  std::vector<std::int32_t> ids_, counts_;        ///< of a step in which rows are read again
};

}  // namespace tril::search
