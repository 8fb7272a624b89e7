// A draft model: a small model proposes its own continuation.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "decode/batches/draft_candidates.h"
#include "decode/batches/proposer.h"
#include "decode/steps/decoding_state.h"

namespace tril::search {

struct DraftModelOptions {
  DecodingStateOptions state;   ///< `beyond_window` is set: rejected tokens must be removable
  float min_prob = 0;           ///< no token is proposed after one that the draft finds less probable than this
  std::int32_t portion = 4096;  ///< the maximum number of tokens of texts that one call reads
};

/// Proposes the continuation of a small model with the same vocabulary, by the rules of each row's search (draft_candidates.h). A long
/// text is read in portions, and its row gets proposals once it has been read.
class DraftModel : public Proposer {
 public:
  /// The context and the model must outlive it.
  DraftModel(Context& c, const model::Model& model, DraftModelOptions options);

  void add(std::span<const std::int32_t> sentences, std::span<const std::vector<std::int32_t>> sources) override;
  void remove(std::int32_t sentence) override;
  void clear() override;
  void propose(Context& c, const Drafts& drafts, std::vector<std::vector<std::int32_t>>& proposals) override;
  bool has_model() const override { return true; }
  bool is_reading() const override { return is_reading_; }
  std::int64_t cache_bytes() const override { return state_.cache_bytes(); }

 private:
  /// A row of the draft's cache.
  struct Row {
    std::int32_t sentence = -1;      ///< -1: it has ended
    std::vector<std::int32_t> read;  ///< its tokens
    bool is_partial = false;         ///< its text goes on, and has not been read further
  };
  struct Asked;
  std::vector<Asked> ask(const Drafts& drafts);
  void divide(std::vector<Asked>& asked) const;
  std::vector<Asked*> step(Context& c, std::vector<Asked>& asked);

  DraftModelOptions options_;
  DecodingState state_;
  std::unique_ptr<Step> step_;
  double least_log_prob_;  ///< of a token after which another is proposed
  DraftCandidates candidates_;
  std::vector<Row> rows_;  ///< those of the last step
  bool is_reading_ = false;
};

}  // namespace tril::search
