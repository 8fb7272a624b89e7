#include "corpus/corpus.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <condition_variable>
#include <deque>
#include <exception>
#include <filesystem>
#include <future>
#include <mutex>
#include <numeric>
#include <optional>
#include <thread>

#include "base/as_size.h"
#include "base/content_hash.h"
#include "base/error.h"
#include "base/file.h"
#include "base/rng.h"
#include "corpus/chunk.h"
#include "corpus/pair_reader.h"

namespace tril {

namespace {

void check_options(const CorpusOptions& o) {
  check(o.tsv.empty() || (o.source.empty() && o.target.empty()), "corpus",
        "expected either tab-separated files or pairs of files, got both");
  check(!o.tsv.empty() || !o.source.empty(), "corpus", "no files given");
  check(o.source.size() == o.target.size(), "corpus", "expected pairs, got {} source files and {} target files",
        o.source.size(), o.target.size());
  check(o.source_column >= 0 && o.target_column >= 0, "corpus", "expected columns from 0, got {} and {}",
        o.source_column, o.target_column);
  check(o.max_tokens >= 2 && o.max_tokens < (std::int64_t{1} << 31), "max_tokens",
        "expected 2 to 2,147,483,647, got {}", o.max_tokens);
  check(o.max_sentences >= 0, "corpus", "expected 0 (no limit) or more sentences in a batch, got {}", o.max_sentences);
  check(o.max_length >= 2, "max_length", "expected at least 2 (a token and the end of the sentence), got {}",
        o.max_length);
  check(o.memory_bytes >= 1024, "corpus", "expected at least 1,024 bytes of memory, got {}", o.memory_bytes);
  check(o.threads >= 1, "corpus", "expected at least 1 thread, got {}", o.threads);
  const std::size_t sets = o.tsv.empty() ? o.source.size() : o.tsv.size();
  check(o.weights.empty() || o.weights.size() == sets, "data_weighting", "{} files for {} corpora", o.weights.size(),
        sets);
  check(o.tags.empty() || o.tags.size() == sets, "language_tags", "{} tags for {} corpora", o.tags.size(), sets);
  check(o.alignments.empty() || o.alignments.size() == sets, "alignments", "{} files for {} corpora",
        o.alignments.size(), sets);
  check(o.shares.empty() || o.shares.size() == sets, "corpus_weights", "{} for {} corpora", o.shares.size(), sets);
  for (double share : o.shares)
    check(share > 0 && std::isfinite(share), "corpus_weights", "expected numbers above 0, got {}", share);
  check(std::isfinite(std::accumulate(o.shares.begin(), o.shares.end(), 0.0)), "corpus_weights",
        "their sum is too large");
  check(o.temperature >= 1 && std::isfinite(o.temperature), "corpus_temperature", "expected at least 1, got {}",
        o.temperature);
  check(o.pool_batches >= 0 && o.prefetch >= 0, "corpus",
        "expected 0 or more batches in the pool and ahead, got {} and {}", o.pool_batches, o.prefetch);
}

std::vector<std::string> all_files(const CorpusOptions& options) {
  std::vector<std::string> files = options.source;
  files.insert(files.end(), options.target.begin(), options.target.end());
  files.insert(files.end(), options.tsv.begin(), options.tsv.end());
  files.insert(files.end(), options.weights.begin(), options.weights.end());
  files.insert(files.end(), options.alignments.begin(), options.alignments.end());
  return files;
}

// FNV-1a over everything that determines the stream.
class Fingerprint {
 public:
  void add(std::string_view bytes) {
    for (char c : bytes) hash_ = (hash_ ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
    add(std::ssize(bytes));
  }
  void add(std::int64_t number) {
    for (int shift = 0; shift < 64; shift += 8)
      hash_ = (hash_ ^ (static_cast<std::uint64_t>(number) >> shift & 0xff)) * 0x100000001b3u;
  }
  std::uint64_t value() const { return hash_ == 0 ? 1 : hash_; }

 private:
  std::uint64_t hash_ = 0xcbf29ce484222325u;
};

std::uint64_t fingerprint_of(const CorpusOptions& o, const Tokenizer& tokenizer) {
  Fingerprint print;
  for (const std::string& path : all_files(o)) print.add(std::filesystem::file_size(path));
  for (std::int64_t number :
       {std::ssize(o.source), std::ssize(o.tsv), std::int64_t{o.source_column}, std::int64_t{o.target_column},
        o.max_tokens, o.max_sentences, std::int64_t{o.max_length}, static_cast<std::int64_t>(o.too_long),
        std::int64_t{o.shuffle}, static_cast<std::int64_t>(o.seed), o.memory_bytes, std::int64_t{o.pool_batches},
        std::int64_t{o.skip_invalid}})
    print.add(number);
  for (const TokenizerFile& file : tokenizer.files()) print.add(file.bytes);
  // Options added later count only if they are used, so that older states still match.
  for (const std::string& tag : o.tags) print.add(tag);
  if (!o.weights.empty()) print.add("weights");
  if (!o.alignments.empty())
    print.add(o.alignment_units == AlignmentUnits::words ? "word alignments" : "token alignments");
  if (o.mix) {
    print.add("mixture");
    for (double number : o.shares) print.add(std::bit_cast<std::int64_t>(number));
    print.add(std::bit_cast<std::int64_t>(o.temperature));
  }
  if (o.source_sampling.on() || o.target_sampling.on())
    for (const SubwordSampling& how : {o.source_sampling, o.target_sampling})
      for (double number : {how.bpe_dropout, how.unigram_alpha}) print.add(std::bit_cast<std::int64_t>(number));
  return print.value();
}

// Where the sampled stretches of a large file begin. States of old versions have other places.
enum class Stretches : std::uint8_t { even, of_old };

// A hash of a file, or of stretches of it.
std::uint64_t contents_of(const std::string& path, Stretches how) {
  constexpr std::size_t whole = 256 << 20, stretches = 64, stretch = whole / stretches;
  const MappedFile file = MappedFile::open(path);
  const std::span<const std::byte> bytes = file.bytes();
  if (bytes.size() <= whole) return content_hash(bytes);
  const std::size_t last = bytes.size() - stretch;
  Hash hash;
  for (std::size_t i = 0; i < stretches; ++i) {
    const std::size_t begin = how == Stretches::even ? last * i / (stretches - 1) : last / (stretches - 1) * i;
    hash.add(content_hash(bytes.subspan(begin, stretch)));
  }
  if (how == Stretches::of_old) hash.add(content_hash(bytes.last(stretch)));
  return hash.value();
}

std::uint64_t contents_of_all(const CorpusOptions& options, Stretches how) {
  Hash hash;
  for (const std::string& path : all_files(options)) hash.add(contents_of(path, how));
  return std::max<std::uint64_t>(hash.value(), 1);
}

void add_pass(CorpusStatistics& sum, const CorpusStatistics& part) {
  sum.lines += part.lines;
  sum.empty += part.empty;
  sum.too_long += part.too_long;
  sum.invalid += part.invalid;
  sum.weightless += part.weightless;
  if (sum.first_empty.empty()) sum.first_empty = part.first_empty;
  if (sum.first_too_long.empty()) sum.first_too_long = part.first_too_long;
  if (sum.first_invalid.empty()) sum.first_invalid = part.first_invalid;
  sum.used += part.used;
  sum.source_tokens += part.source_tokens;
  sum.target_tokens += part.target_tokens;
  sum.cropped = part.cropped;
}

// A hint if no pair can be used, by the most frequent reason for leaving pairs out.
std::string way_out(const CorpusStatistics& s) {
  const std::int64_t most = std::max({s.empty, s.too_long, s.invalid, s.weightless});
  if (most == 0) return "check the files";
  if (most == s.too_long) return "raise `max_length` and `max_tokens`, or pass `max_length_crop`";
  if (most == s.weightless) return "give pairs a weight above 0";
  if (most == s.invalid) return "convert the files to UTF-8";
  return "both sides of a pair need text";
}

struct Prepared {
  Batch batch;
  CorpusState after;
};

// The stream, one batch after another; called by one thread at a time.
class Stream {
 public:
  Stream(const CorpusOptions& options, std::shared_ptr<const Tokenizer> tokenizer, const CorpusState& state)
      : options_(options), how_(options, std::move(tokenizer)), state_(state) {}
  ~Stream() { stop(); }

  /// Ends a running read of the files soon; the stream is unusable afterwards.
  void stop() { stop_ = true; }

  Prepared next() {
    if (!chunk_) start();
    Prepared prepared{.batch = make_batch(), .after = {}};
    const Batch& batch = prepared.batch;
    ++state_.batch_in_chunk;
    ++state_.batch_in_epoch;
    ++state_.batches;
    state_.sentences += batch.sentences();
    state_.source_tokens += batch.source_tokens();
    state_.target_tokens += batch.target_tokens();
    if (!find_batch()) {
      prepared.batch.last_of_epoch = true;
      begin_epoch();
    }
    prepared.after = state_;
    return prepared;
  }

  CorpusStatistics statistics() const {
    const std::lock_guard lock(statistics_mutex_);
    return complete_ ? *complete_ : running_;
  }

 private:
  struct Loaded {
    Chunk chunk;
    std::unique_ptr<PairReader> reader;  ///< positioned after the chunk
  };

  std::int64_t chunk_bytes() const { return options_.memory_bytes / 2; }

  Loaded load(std::unique_ptr<PairReader> reader, std::int64_t epoch) const {
    Chunk chunk = read_chunk(*reader, how_, epoch, chunk_bytes(), stop_);
    return {std::move(chunk), std::move(reader)};
  }

  // Reads the chunk after the current one in another thread, unless prefetching is off.
  void load_ahead(std::unique_ptr<PairReader> reader, std::int64_t epoch) {
    const auto when = options_.prefetch > 0 ? std::launch::async : std::launch::deferred;
    ahead_ = std::async(when,
                        [this, epoch, reader = std::move(reader)]() mutable { return load(std::move(reader), epoch); });
  }

  bool whole() const { return chunk_->first_line == 0 && chunk_->at_end; }
  bool kept() const { return whole() && !how_.varies(); }  // for every epoch

  // Makes `loaded` the current chunk.
  void use(Loaded loaded) {
    chunk_ = std::move(loaded.chunk);
    {
      const std::lock_guard lock(statistics_mutex_);
      if (chunk_->first_line == 0) running_ = {};
      from_start_ = from_start_ || chunk_->first_line == 0;
      add_pass(running_, chunk_->statistics);
      running_.in_memory = whole();
      running_.complete = chunk_->at_end && from_start_;
      if (running_.complete) complete_ = running_;
      if (chunk_->at_end) from_start_ = false;
    }
    plan_ = plan_batches(*chunk_, options_, state_.epoch, state_.chunk);
    if (kept()) return;
    if (chunk_->at_end)
      load_ahead(std::make_unique<PairReader>(how_.reader()), state_.epoch + 1);
    else
      load_ahead(std::move(loaded.reader), state_.epoch);
  }

  // Goes to the chunk and batch of the state.
  void start() {
    auto reader = std::make_unique<PairReader>(how_.reader());
    reader->skip(state_.chunk_line);
    use(load(std::move(reader), state_.epoch));
    if (!find_batch()) {
      if (state_.batch_in_epoch == 0)
        fail("corpus", fmt::format("no usable pair: {}", statistics().report()), way_out(statistics()));
      begin_epoch();
    }
  }

  // Moves on to the next chunk if the current one is exhausted; false at the end of the epoch.
  bool find_batch() {
    while (state_.batch_in_chunk >= std::ssize(plan_.batches)) {
      if (chunk_->at_end) return false;
      if (stop_) fail("corpus", "was stopped");  // chunks are empty after a stop
      ++state_.chunk;
      state_.chunk_line = chunk_->next_line;
      state_.batch_in_chunk = 0;
      chunk_.reset();  // freed before the next is taken, so that at most two exist
      use(ahead_.get());
    }
    return true;
  }

  void begin_epoch() {
    ++state_.epoch;
    state_.batch_in_epoch = state_.chunk = state_.chunk_line = state_.batch_in_chunk = 0;
    if (kept())
      plan_ = plan_batches(*chunk_, options_, state_.epoch, state_.chunk);
    else
      use(ahead_.get());
    if (!find_batch()) fail("corpus", "no usable pair", "check the files");
  }

  Batch make_batch() const {
    Batch batch;
    batch.epoch = state_.epoch;
    const auto [begin, end] = plan_.batches[as_size(state_.batch_in_chunk)];
    for (std::uint32_t i = begin; i < end; ++i) {
      const std::uint32_t pair = plan_.order[i];
      batch.append(chunk_->source(pair), chunk_->target(pair), chunk_->line(pair));
      if (!chunk_->weights().empty()) batch.weights.push_back(chunk_->weights()[pair]);
      if (chunk_->has_alignments()) {
        const auto points = chunk_->alignment(pair);
        batch.alignments.emplace_back(points.begin(), points.end());
      }
    }
    return batch;
  }

  const CorpusOptions& options_;
  Preparation how_;
  CorpusState state_;  ///< for the batch that next() makes
  std::optional<Chunk> chunk_;
  BatchPlan plan_;

  mutable std::mutex statistics_mutex_;
  CorpusStatistics running_;
  std::optional<CorpusStatistics> complete_;
  bool from_start_ = false;

  std::atomic<bool> stop_ = false;
  std::future<Loaded> ahead_;  ///< last: its destructor waits for the thread that uses the other members
};

}  // namespace

void check_files(const CorpusOptions& options) {
  for (const std::string& path : all_files(options)) {
    std::error_code ignored;
    if (path == "-" || (std::filesystem::exists(path, ignored) && !std::filesystem::is_directory(path, ignored) &&
                        !std::filesystem::is_regular_file(path, ignored)))
      fail(path, "is not a regular file: a corpus is read again each epoch", "write it to a file first");
    LineReader(path, {.refuse_empty = true});
  }
}

std::uint64_t corpus_contents(const CorpusOptions& options) {
  return contents_of_all(options, Stretches::even);
}

void check_corpus(const CorpusOptions& options, const Tokenizer& tokenizer) {
  check_options(options);
  check_files(options);
  check_tokenizer(options, tokenizer);
}

class Corpus::Impl {
 public:
  Impl(CorpusOptions given, std::shared_ptr<const Tokenizer> tokenizer, const CorpusState& from)
      : options(std::move(given)), state(from) {
    check_options(options);
    check_files(options);
    const std::uint64_t fingerprint = fingerprint_of(options, *tokenizer);
    if (state.fingerprint != 0 && state.fingerprint != fingerprint)
      fail_usage("corpus", "its files, its options or the tokenizer differ from those of the saved position",
                 "use the same ones, or pass `overwrite` to start over");
    state.fingerprint = fingerprint;
    const std::uint64_t contents = corpus_contents(options);
    if (state.contents != 0 && state.contents != contents &&
        state.contents != contents_of_all(options, Stretches::of_old))
      fail_usage("corpus", "its files have the same sizes as at the saved position, but their text differs",
                 "use the same ones, or pass `overwrite` to start over");
    state.contents = contents;
    stream.emplace(options, std::move(tokenizer), state);
    if (options.prefetch > 0) thread = std::thread([this] { prepare(); });
  }

  ~Impl() {
    {
      const std::lock_guard lock(mutex);
      stopping = true;
    }
    stream->stop();
    changed.notify_all();
    if (thread.joinable()) thread.join();
  }

  Batch next() {
    Prepared prepared = options.prefetch > 0 ? take() : stream->next();
    state = prepared.after;
    return std::move(prepared.batch);
  }

  CorpusOptions options;
  CorpusState state;
  std::optional<Stream> stream;

 private:
  void prepare() {
    try {
      while (true) {
        Prepared prepared = stream->next();
        std::unique_lock lock(mutex);
        changed.wait(lock, [&] { return stopping || ready.size() < as_size(options.prefetch); });
        if (stopping) return;
        ready.push_back(std::move(prepared));
        lock.unlock();
        changed.notify_all();
      }
    } catch (...) {
      const std::lock_guard lock(mutex);
      error = std::current_exception();
    }
    changed.notify_all();
  }

  Prepared take() {
    std::unique_lock lock(mutex);
    changed.wait(lock, [&] { return !ready.empty() || error; });
    if (ready.empty()) std::rethrow_exception(error);
    Prepared prepared = std::move(ready.front());
    ready.pop_front();
    lock.unlock();
    changed.notify_all();
    return prepared;
  }

  std::mutex mutex;
  std::condition_variable changed;
  std::deque<Prepared> ready;
  std::exception_ptr error;
  bool stopping = false;
  std::thread thread;
};

Corpus::Corpus(CorpusOptions options, std::shared_ptr<const Tokenizer> tokenizer, const CorpusState& state)
    : impl_(std::make_unique<Impl>(std::move(options), std::move(tokenizer), state)) {}
Corpus::~Corpus() = default;

Batch Corpus::next() {
  return impl_->next();
}
const CorpusState& Corpus::state() const {
  return impl_->state;
}
CorpusStatistics Corpus::statistics() const {
  return impl_->stream->statistics();
}
std::string Corpus::report() const {
  const CorpusStatistics passed = statistics();
  return passed.complete ? passed.report() : "";
}
const CorpusOptions& Corpus::options() const {
  return impl_->options;
}

std::vector<Batch> read_batches(const CorpusOptions& options, std::shared_ptr<const Tokenizer> tokenizer,
                                CorpusStatistics* statistics) {
  Corpus corpus(options, std::move(tokenizer));
  std::vector<Batch> batches;
  do batches.push_back(corpus.next());
  while (!batches.back().last_of_epoch);
  if (statistics) *statistics = corpus.statistics();
  return batches;
}

}  // namespace tril
