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
#include "tokenizer/files/language_tag.h"

namespace tril {
namespace {

constexpr std::uint64_t order_stream = 0x6c6d626c6f636b73;  // distinct from every other use of the seed

std::uint64_t fingerprint_of(const LmCorpusOptions& o, std::span<const std::int32_t> ids) {
  const auto bytes = std::as_bytes(ids);
  Hash hash;
  hash.add(std::string_view(reinterpret_cast<const char*>(bytes.data()), bytes.size()));
  for (std::int64_t number : {o.context, o.max_tokens, std::int64_t{o.shuffle}, static_cast<std::int64_t>(o.seed)})
    hash.add(number);
  if (o.documents != Documents::whole) hash.add(static_cast<std::int64_t>(o.documents));
  return hash.value();
}

// Calls f(document) for each document, without its last line end.
template <class F>
void each_document(std::string_view text, Documents how, F&& f) {
  std::size_t begin = 0, end = 0;  // of the current document
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t newline = std::min(text.find('\n', at), text.size());
    std::size_t line_end = newline;
    if (line_end > at && text[line_end - 1] == '\r') --line_end;
    const bool blank = is_blank(text.substr(at, line_end - at));
    if (!blank && begin == end) begin = at;
    if (!blank) end = line_end;
    if (begin < end && (blank || how == Documents::lines)) f(text.substr(begin, end - begin)), begin = end = 0;
    at = newline + 1;
  }
  if (begin < end) f(text.substr(begin, end - begin));
}

}  // namespace

void LmCorpus::read_documents(std::string_view text, const Tokenizer& tokenizer) {
  const SpecialIds& special = tokenizer.special(Side::target);
  TextFrame frame = tokenizer.frame(Side::target);
  if (frame.suffix.empty() && special.eos >= 0) frame.suffix = {special.eos};
  if (frame.prefix.empty() && special.bos >= 0) frame.prefix = {special.bos};
  if (frame.prefix.empty()) frame.prefix = frame.suffix;
  if (frame.suffix.empty())
    fail_usage("documents", tokenizer.where() + " has no end token, with which documents end",
               "choose a vocabulary that has one, or pass one text without `documents`");
  each_document(text, options_.documents, [&](std::string_view document) {
    ids_.insert(ids_.end(), frame.prefix.begin(), frame.prefix.end());
    tokenizer.encode(document, Side::target, ids_);
    ids_.insert(ids_.end(), frame.suffix.begin(), frame.suffix.end());
    documents_.push_back(ids_.size());
  });
}

LmCorpus::LmCorpus(const LmCorpusOptions& options, const Tokenizer& tokenizer, const CorpusState& state)
    : options_(options), state_(state) {
  check(options.context >= 1, "language model", "expected a context of at least 1 token, got {}", options.context);
  check(options.max_tokens >= options.context, "language model", "a batch of {} tokens cannot hold a block of {}",
        options.max_tokens, options.context);
  const std::string text = read_document(options.file, options.memory_bytes);
  documents_ = {0};
  if (options.documents == Documents::whole) {
    tokenizer.encode(text, Side::target, ids_);
    documents_.push_back(ids_.size());
  } else {
    read_documents(text, tokenizer);
  }
  const auto bytes = static_cast<std::int64_t>(ids_.size() * sizeof(ids_[0]));
  check(bytes <= options.memory_bytes, options.file, "its {} tokens need {} bytes of memory, more than the {} allowed",
        ids_.size(), bytes, options.memory_bytes);
  if (documents() == 0) fail(options.file, "has no document: all of its lines are empty");
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
  const std::int64_t T = options_.context;
  RandomSequence random(options_.seed, mix64(order_stream + static_cast<std::uint64_t>(state_.epoch)));
  blocks_.clear();
  for (std::size_t d = 0; d + 1 < documents_.size(); ++d) {
    const auto begin = static_cast<std::int64_t>(documents_[d]);
    const std::int64_t end = static_cast<std::int64_t>(documents_[d + 1]) - 1;  // the last token predicts nothing
    const bool cut_anywhere = options_.shuffle && (options_.documents == Documents::whole || end - begin > T);
    const std::int64_t first =
        cut_anywhere ? static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(std::min(T, end - begin))))
                     : 0;
    if (first > 0) blocks_.push_back({begin, first});
    for (std::int64_t at = begin + first; at < end; at += T) blocks_.push_back({at, std::min(T, end - at)});
  }
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
  const std::string tokens_text = counted(format_count(tokens()), "token");
  if (options_.documents == Documents::whole) return fmt::format("{} in blocks of {}", tokens_text, options_.context);
  return fmt::format("{} in {}, in rows of at most {}", tokens_text, counted(format_count(documents()), "document"),
                     options_.context);
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
