#include "corpus/byte_vocabulary.h"

#include <spdlog/spdlog.h>

#include <functional>
#include <set>

#include "base/error.h"
#include "base/log.h"
#include "base/number_text.h"
#include "base/printable.h"
#include "base/progress.h"
#include "base/utf8.h"
#include "corpus/columns.h"
#include "corpus/input.h"
#include "tokenizer/files/pipeline_tokenizer.h"
#include "tokenizer/models/bpe_trainer.h"
#include "tokenizer/pipeline/pre_tokenizer.h"

namespace tril {
namespace {

constexpr const char* end_of_text = "<|endoftext|>";

// Calls use(line) with each line of a file, its end included.
void each_whole_line(Input& input, const std::function<void(std::string_view line)>& use) {
  std::string begun;  // a line whose end has not been read
  for (std::string_view bytes = input.read(); !bytes.empty(); bytes = input.read())
    while (!bytes.empty()) {
      const std::size_t newline = bytes.find('\n');
      begun += bytes.substr(0, newline == bytes.npos ? bytes.size() : newline + 1);
      bytes.remove_prefix(newline == bytes.npos ? bytes.size() : newline + 1);
      if (begun.back() != '\n') continue;
      use(begun);
      begun.clear();
    }
  if (!begun.empty()) use(begun);
}

// Counts the words of texts.
class WordCounter {
 public:
  explicit WordCounter(const std::vector<PreTokenizerStep>& steps)
      : cutter_(steps, /*letters=*/false, "vocabulary"), scratch_(cutter_.steps()) {}

  void add(std::string_view text) {
    cutter_.cut({text, true}, scratch_, [this](Word word) { words_.add(word.text); });
  }
  const WordCounts& words() const { return words_; }

 private:
  PreTokenizers cutter_;
  std::vector<PreTokenizerScratch> scratch_;
  WordCounts words_;
};

void count_words(const TextSource& source, const ByteVocabularyOptions& options, WordCounter& counter) {
  Input input(source.path);
  std::int64_t number = 0, invalid = 0;
  each_whole_line(input, [&](std::string_view line) {
    if (++number == 1 && line.starts_with("\xef\xbb\xbf")) line.remove_prefix(3);
    const std::string where = fmt::format("{}: line {}", input.name(), number);
    if (!is_utf8(line)) {
      if (!options.skip_invalid) fail(where, "is not valid UTF-8", "fix it, or pass `skip_invalid`");
      ++invalid;
      return;
    }
    if (source.column < 0) {
      if (!line.empty()) counter.add(line);
      return;
    }
    if (line.ends_with('\n')) line.remove_suffix(1);
    const std::optional<std::string_view> text = column(line, source.column);
    if (!text) fail(where, fmt::format("has no column {}", source.column + 1));
    counter.add(std::string(*text) + "\n");
  });
  if (invalid > 0)
    logger()->warn("{}: {} left out", input.name(),
                   counted(format_count(invalid), "line is not UTF-8 and is", "lines are not UTF-8 and are"));
}

std::vector<PreTokenizerStep> word_steps(const ByteVocabularyOptions& options) {
  std::vector<PreTokenizerStep> steps;
  if (options.split_digits) steps.emplace_back(SplitDigits{.individual = true});
  steps.emplace_back(ByteLevel{});
  return steps;
}

void check_symbols(const ByteVocabularyOptions& options) {
  std::set<std::string> seen{end_of_text};
  for (const std::string& symbol : options.symbols) {
    check(!symbol.empty() && is_utf8(symbol), "symbols", "expected texts of UTF-8, got '{}'", symbol);
    check(seen.insert(symbol).second, "symbols", "'{}' is already a piece; give each text once", printable(symbol));
  }
  const std::int64_t least = 257 + std::ssize(options.symbols);
  check(options.size >= least, "size", "{} is too small: the end of a text, {} and 256 bytes are {} pieces",
        options.size, counted(options.symbols.size(), "symbol"), least);
}

BpeParts model_of(const LearnedBpe& learned) {
  BpeParts model;
  for (std::size_t id = 0; id < learned.pieces.size(); ++id)
    model.vocab.emplace_back(learned.pieces[id], static_cast<std::int32_t>(id));
  const auto piece = [&](std::int32_t id) { return learned.pieces[static_cast<std::size_t>(id)]; };
  for (const auto& [left, right] : learned.merges) model.merges.emplace_back(piece(left), piece(right));
  return model;
}

}  // namespace

std::shared_ptr<const Tokenizer> train_byte_tokenizer(const std::vector<TextSource>& files,
                                                      const ByteVocabularyOptions& options) {
  check_symbols(options);
  TokenizerParts parts;
  parts.pre_tokenizers = word_steps(options);
  WordCounter counter(parts.pre_tokenizers);
  for (const TextSource& file : files) count_words(file, options, counter);
  if (counter.words().counts.empty()) fail("vocabulary", "the files have no text", "pass files of UTF-8 text");

  BpeTrainerOptions training{.size = options.size, .min_frequency = options.min_frequency, .special = {end_of_text}};
  training.special.insert(training.special.end(), options.symbols.begin(), options.symbols.end());
  const LearnedBpe learned = train_bpe(counter.words(), training);
  if (std::ssize(learned.pieces) < options.size)
    logger()->warn("vocabulary: {} pieces instead of {}: no other pair occurs {} times", learned.pieces.size(),
                   options.size, options.min_frequency);
  parts.model = model_of(learned);
  for (std::size_t i = 0; i < training.special.size(); ++i)
    parts.added.push_back({.content = training.special[i], .id = static_cast<std::int32_t>(i), .special = i == 0});
  parts.decoders = {DecodeByteLevel{}};

  TokenizerSettings settings;
  settings.where = "tokenizer.json";
  settings.special.bos = settings.special.eos = 0;
  settings.special_tokens = {{"bos_token", end_of_text}, {"eos_token", end_of_text}};
  settings.model_max_length = options.model_max_length;
  return make_pipeline_tokenizer(std::move(parts), std::move(settings));
}

}  // namespace tril
