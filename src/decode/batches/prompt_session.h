// A text that a model has read, with the keys and values of its tokens, so that what comes next begins where it ended: the
// next turn of a talk, another end of the same prompt, the same prompt on another day (from a file).
//
// Whatever is to be read next shares a beginning with what was read before; that stays, and the rest alone is computed.
// One text, one context: for one thread at a time.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

#include "decode/batches/decode.h"
#include "decode/steps/decoding_state.h"
#include "model/spec/model.h"

namespace tril::search {

class PromptSession {
 public:
  /// @param model     a language model, which must outlive it, as must the context
  /// @param identity  of the model's weights and their precision, for save() and load(): texts that differ where models do
  PromptSession(Context& c, const model::Model& model, CacheOptions options, std::string identity = {});

  /// What has been read.
  const std::vector<std::int32_t>& tokens() const { return tokens_; }
  /// Of the last read() or decode(): tokens that were there already, and tokens that had to be read.
  std::int64_t reused() const { return reused_; }
  std::int64_t newly_read() const { return newly_read_; }

  /// Reads a text, beginning with what it has in common with the one before.
  /// @param stop  asked between portions; then a beginning has been read
  void read(std::span<const std::int32_t> tokens, const std::stop_token& stop = {});
  /// decode() for one request. Afterwards the request's tokens are read and those that were generated, but for the last;
  /// after a beam search or several samples, whose rows go with them, nothing is.
  std::vector<Hypothesis> decode(const Request& request, const SearchPlan& options, const Watch& watch = {});

  /// Writes tokens, keys and values, whole or not at all.
  void save(const std::string& path) const;
  /// Reads them in place of what there is.
  /// @throws Error naming what differs: the model, the precision of weights or cache, sizes; or what is wrong with the file
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
  std::vector<std::int32_t> tokens_;  ///< of that row
  std::int64_t given_ = 0;  ///< of them, those that it was given at once; 0: it was read anew when it grew long
  std::int64_t reused_ = 0, newly_read_ = 0;
};

}  // namespace tril::search
