// Keeps the keys and values of one text between calls, so that a later text with the same beginning is read only from where it
// differs: the next turn of a conversation, another ending of a prompt, or the same prompt on another day (from a file).
//
// A session belongs to one context, so to one thread at a time.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

#include "decode/batches/decode.h"
#include "decode/batches/proposal_source.h"
#include "decode/steps/decoding_state.h"
#include "model/spec/model.h"

namespace tril::search {

class PromptSession {
 public:
  /// @param c, model  must outlive the session; a language model
  /// @param identity     identifies the model's weights and their precision in files of save() and load()
  /// @param speculative  proposes tokens for searches that can use them (SearchPlan::takes_proposals())
  PromptSession(Context& c, const model::Model& model, CacheOptions options, std::string identity = {},
                const SpeculativeOptions& speculative = {});

  /// The tokens that have been read.
  const std::vector<std::int32_t>& tokens() const { return tokens_; }
  /// In the last read() or decode(): the number of tokens that were reused, and that were read.
  std::int64_t reused() const { return reused_; }
  std::int64_t newly_read() const { return newly_read_; }
  /// Counts over all calls of decode(), if tokens are proposed.
  const Speculation& speculation() const { return proposals_.counts(); }

  /// Reads a text; reuses the beginning that it shares with the previous one.
  /// @param stop  checked between portions. If stop is requested, only a beginning has been read
  void read(std::span<const std::int32_t> tokens, const std::stop_token& stop = {});
  /// decode() for one request. Afterwards the session holds the prompt and the generated tokens except the last. After beam
  /// search or several samples it is empty.
  std::vector<Hypothesis> decode(const Request& request, const SearchPlan& options, const Watch& watch = {});

  /// Writes tokens, keys and values to a file, which appears only when it is complete.
  void save(const std::string& path) const;
  /// Replaces the text by that of a file.
  /// @throws Error if the file is damaged or has another model, precision or size; names the difference
  void load(const std::string& path);

 private:
  void keep(std::int64_t tokens);
  std::int64_t common(std::span<const std::int32_t> tokens) const;
  void was_given(std::int64_t tokens);
  std::unique_ptr<Step> resumed_step();

  nn::KvCache& cache() { return *state_.cache(); }
  const nn::KvCache& cache() const { return *state_.cache(); }

  Context* context_;
  CacheOptions options_;
  std::string identity_;
  DecodingState state_;               ///< its cache has one row, or none yet
  std::vector<std::int32_t> tokens_;  ///< the tokens of that row
  std::int64_t given_ = 0;  ///< the length of the prompt among them; 0: the row was read again when it grew long
  std::int64_t reused_ = 0, newly_read_ = 0;
  ProposalSource proposals_;
};

}  // namespace tril::search
