#include "corpus/lm_corpus.h"

#include <algorithm>
#include <utility>

#include "base/as_size.h"
#include "base/error.h"
#include "base/hash.h"
#include "base/number_text.h"
#include "base/progress.h"
#include "base/rng.h"
#include "corpus/document.h"

namespace tril {
namespace {

constexpr std::uint64_t order_stream = 0x6c6d626c6f636b73;  // distinct from every other use of the seed

std::uint64_t fingerprint_of(const LmCorpusOptions& o, std::span<const std::int32_t> ids) {
  const auto bytes = std::as_bytes(ids);
  Hash hash;
  hash.add(std::string_view(reinterpret_cast<const char*>(bytes.data()), bytes.size()));
  for (std::int64_t number : {o.context, o.max_tokens, std::int64_t{o.shuffle}, static_cast<std::int64_t>(o.seed)})
    hash.add(number);
  return hash.value();
}

}  // namespace

LmCorpus::LmCorpus(const LmCorpusOptions& options, const Tokenizer& tokenizer, const CorpusState& state)
    : options_(options), state_(state) {
  check(options.context >= 1, "language model", "expected a context of at least 1 token, got {}", options.context);
  check(options.max_tokens >= options.context, "language model", "a batch of {} tokens cannot hold a block of {}",
        options.max_tokens, options.context);
  tokenizer.encode(read_document(options.file, options.memory_bytes), Side::target, ids_);
  const auto bytes = static_cast<std::int64_t>(ids_.size() * sizeof(ids_[0]));
  check(bytes <= options.memory_bytes, options.file, "its {} tokens need {} bytes of memory, more than the {} allowed",
        ids_.size(), bytes, options.memory_bytes);
  if (ids_.size() < 2)
    fail(options.file, fmt::format("a text of {} has nothing to predict", counted(ids_.size(), "token")));

  const std::uint64_t fingerprint = fingerprint_of(options, ids_);
  if (state.fingerprint != 0 && state.fingerprint != fingerprint)
    fail_usage("corpus", "its file, its options or the tokenizer differ from those of the saved position",
               "use the same ones, or pass `overwrite` to start over");
  state_.fingerprint = fingerprint;
  plan_epoch();
  check(state_.batch_in_epoch + 1 < std::ssize(batches_), "corpus",
        "the saved position is batch {}, but an epoch has {}", state_.batch_in_epoch, batches_.size() - 1);
}

// Plans the blocks of epoch state_.epoch and their batches.
void LmCorpus::plan_epoch() {
  const std::int64_t T = options_.context, N = tokens() - 1;  // N tokens are predicted, each from its predecessors
  RandomSequence random(options_.seed, mix64(order_stream + static_cast<std::uint64_t>(state_.epoch)));
  blocks_.clear();
  const std::int64_t first =
      options_.shuffle ? static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(std::min(T, N)))) : 0;
  if (first > 0) blocks_.push_back({0, first});
  for (std::int64_t at = first; at < N; at += T) blocks_.push_back({at, std::min(T, N - at)});
  if (options_.shuffle)  // [Fisher & Yates]
    for (std::size_t i = blocks_.size(); i > 1; --i) std::swap(blocks_[i - 1], blocks_[random.below(i)]);

  batches_ = {0};
  std::int64_t tokens = 0;
  for (std::size_t i = 0; i < blocks_.size(); ++i) {
    if (tokens + blocks_[i].length > options_.max_tokens) batches_.push_back(i), tokens = 0;
    tokens += blocks_[i].length;
  }
  batches_.push_back(blocks_.size());
}

Batch LmCorpus::next() {
  Batch batch;
  batch.epoch = state_.epoch;
  const auto number = as_size(state_.batch_in_epoch);
  const std::span<const std::int32_t> ids = ids_;
  for (std::size_t i = batches_[number]; i < batches_[number + 1]; ++i) {
    const auto begin = as_size(blocks_[i].begin), length = as_size(blocks_[i].length);
    batch.append(ids.subspan(begin, length), ids.subspan(begin + 1, length), blocks_[i].begin);
  }
  batch.last_of_epoch = number + 2 == batches_.size();

  ++state_.batches;
  state_.sentences += batch.sentences();
  state_.source_tokens += batch.source_tokens();
  state_.target_tokens += batch.target_tokens();
  ++state_.batch_in_epoch;
  if (batch.last_of_epoch) {
    ++state_.epoch;
    state_.batch_in_epoch = 0;
    plan_epoch();
  }
  return batch;
}

std::string LmCorpus::report() const {
  return fmt::format("{} in blocks of {}", counted(format_count(tokens()), "token"), options_.context);
}

std::vector<Batch> read_lm_batches(LmCorpusOptions options, const Tokenizer& tokenizer) {
  options.shuffle = false;
  LmCorpus corpus(options, tokenizer);
  std::vector<Batch> batches;
  do batches.push_back(corpus.next());
  while (!batches.back().last_of_epoch);
  return batches;
}

}  // namespace tril
