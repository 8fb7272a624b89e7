// One text -> an endless stream of batches for a language model, resumable at every batch.
//
// The text is held in memory as ids. An epoch cuts it at o, o + T, o + 2T, ... into blocks of T = `context` tokens, where o is
// drawn anew for each epoch, so that blocks begin elsewhere each time; the text before o and after the last cut forms shorter
// blocks. Within a block each token is predicted from those before it in the block: an epoch predicts every token of the text
// except the first exactly once. Blocks come in random order. The stream is a function of the seed, the epoch and the text.
//
// The text may also be a list of documents. Then each is a text of its own, "b x_1 ... x_n e": b is what the model expects before
// a text, else its begin token, e is its end token, and x_1 ... x_n and e are predicted. No block has tokens of two documents, so
// a document is never predicted from another. Only documents of more than T predicted tokens are cut. As a batch is ragged
// (batch.h), short documents cost no padding: each row has its own positions, attention and recurrent state.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "corpus/corpus.h"

namespace tril {

/// How a file is split into documents.
enum class Documents : std::uint8_t {
  whole,       ///< not at all: it is one text
  lines,       ///< each line is a document; empty lines are none
  blank_lines  ///< one or more empty lines (of white space) stand between documents
};

struct LmCorpusOptions {
  std::string file;
  Documents documents = Documents::whole;
  std::int64_t context = 256;       ///< tokens of a block
  std::int64_t max_tokens = 16384;  ///< of a batch: as many blocks as fit, at least one
  bool shuffle = true;              ///< false: cuts at multiples of `context`, blocks in order
  std::uint64_t seed = 1;
  std::int64_t memory_bytes = std::int64_t{1} << 30;  ///< for the text and its ids
};

class LmCorpus : public BatchStream {
 public:
  /// Reads and tokenises the text.
  /// @param state  where to resume; default: the start
  /// @throws Error if the text is too short or too long, if documents need an end token that the tokenizer lacks, or if `state`
  ///   belongs to another corpus or other options
  LmCorpus(const LmCorpusOptions& options, const Tokenizer& tokenizer, const CorpusState& state = {});

  /// In each row, the source is what the decoder reads, the target the token after each of its tokens.
  Batch next() override;
  const CorpusState& state() const override { return state_; }
  std::string report() const override;

  /// With documents, including the tokens around them.
  std::int64_t tokens() const { return std::ssize(ids_); }
  std::int64_t documents() const { return std::ssize(documents_) - 1; }

 private:
  struct Block {
    std::int64_t begin = 0, length = 0;
  };
  void read_documents(std::string_view text, const Tokenizer& tokenizer);
  void plan_epoch();

  LmCorpusOptions options_;
  std::vector<std::int32_t> ids_;
  std::vector<std::size_t> documents_;  // where each begins in ids_, and the end
  CorpusState state_;
  std::vector<Block> blocks_;         // of the current epoch, in order
  std::vector<std::size_t> batches_;  // the first block of each batch, and the end
};

/// One epoch as a list, for validation sets: consecutive blocks of `context` tokens; every token except the first (of each
/// document) is predicted once.
std::vector<Batch> read_lm_batches(LmCorpusOptions options, const Tokenizer& tokenizer);

}  // namespace tril
