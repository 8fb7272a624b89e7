#include "text/vocabulary.h"

#include <sentencepiece_trainer.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <set>
#include <unordered_map>

#include "base/error.h"
#include "base/file.h"
#include "base/rng.h"
#include "text/columns.h"
#include "text/marian_tokenizer.h"
#include "text/reader.h"
#include "text/sentencepiece.h"
#include "text/utf8.h"

namespace tril {

namespace {

constexpr std::uint64_t sampling_stream = 0x766f636162;  // apart from every other use of the seed

// An even sample of at most `limit` lines, whatever their number [reservoir sampling: Vitter 1985, algorithm R]. Lines
// that are kept stay in the order of the files.
class Sample {
 public:
  Sample(std::int64_t limit, std::uint64_t seed) : limit_(limit), random_(seed, sampling_stream) {}

  void add(std::string_view line) {
    if (trim(line).empty()) return;
    const std::int64_t index = seen_++;
    if (index < limit_) {
      kept_.emplace_back(index, line);
      return;
    }
    const auto slot = random_.below(static_cast<std::uint64_t>(index) + 1);
    if (slot < static_cast<std::uint64_t>(limit_)) kept_[slot] = {index, std::string(line)};
  }

  std::vector<std::string> take() {
    std::sort(kept_.begin(), kept_.end());
    std::vector<std::string> lines;
    lines.reserve(kept_.size());
    for (auto& [index, line] : kept_) lines.push_back(std::move(line));
    return lines;
  }

 private:
  std::int64_t limit_, seen_ = 0;
  RandomSequence random_;
  std::vector<std::pair<std::int64_t, std::string>> kept_;
};

class LinesIterator : public sentencepiece::SentenceIterator {
 public:
  explicit LinesIterator(const std::vector<std::string>& lines) : lines_(lines) {}
  bool done() const override { return next_ == lines_.size(); }
  void Next() override { ++next_; }
  const std::string& value() const override { return lines_[next_]; }
  sentencepiece::util::Status status() const override { return {}; }

 private:
  const std::vector<std::string>& lines_;
  std::size_t next_ = 0;
};

using Arguments = std::unordered_map<std::string, std::string>;

const char* name_of(SubwordKind model) {
  switch (model) {
    case SubwordKind::bpe:
      return "bpe";
    case SubwordKind::unigram:
      return "unigram";
    case SubwordKind::character:
      return "char";
  }
  return "";
}

std::string name_of(Normalization wanted) {
  for (const auto& [name, value] : normalization_names())
    if (value == wanted) return name;
  return "";
}

// Texts as the library reads a list of them: between commas, each in quotes.
std::string joined(const std::vector<std::string>& texts) {
  return texts.empty() ? "" : fmt::format("\"{}\"", fmt::join(texts, "\",\""));
}

Arguments trainer_arguments(const VocabularyOptions& options) {
  const auto word = [](bool value) { return value ? "true" : "false"; };
  return {
      {"vocab_size", std::to_string(options.size)},
      {"model_type", name_of(options.model)},
      {"use_all_vocab", word(options.model == SubwordKind::character)},
      {"character_coverage", fmt::format("{}", options.character_coverage)},
      {"normalization_rule_name", name_of(options.normalization)},
      {"remove_extra_whitespaces", word(!options.keep_spaces)},
      {"add_dummy_prefix", word(!options.keep_spaces)},
      {"user_defined_symbols", joined(options.symbols)},
      {"byte_fallback", word(options.byte_fallback)},
      {"split_digits", word(options.split_digits)},
      // Marian's order, so that a piece has one id in spm.model and in vocab.json.
      {"eos_id", "0"},
      {"unk_id", "1"},
      {"bos_id", "-1"},
      {"pad_id", "-1"},
      {"num_threads", "4"},              // fixed: the unigram model's sums depend on it
      {"max_sentence_length", "65536"},  // bytes; longer lines are passed over
      {"minloglevel", "2"},              // what matters is in the status
  };
}

sentencepiece::util::Status run_trainer(const Arguments& arguments, const std::vector<std::string>& lines,
                                        std::string* model) {
  LinesIterator iterator(lines);
  return sentencepiece::SentencePieceTrainer::Train(arguments, &iterator, model);
}

// The whole number behind `words` in `message`.
std::optional<std::int64_t> number_behind(const std::string& message, std::string_view words) {
  const std::size_t at = message.find(words);
  if (at == std::string::npos) return std::nullopt;
  const char* first = message.data() + at + words.size();
  while (*first == ' ') ++first;
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(first, message.data() + message.size(), value);
  return error == std::errc() ? std::optional(value) : std::nullopt;
}

// The library's refusal in terms of our options.
[[noreturn]] void explain(const std::string& message, const VocabularyOptions& options) {
  const std::string where = "vocabulary";
  if (const auto most = number_behind(message, "Please set it to a value <="))
    fail(where, fmt::format("{} pieces cannot be learned from this text: it gives {} at most", options.size, *most),
         fmt::format("ask for {} or fewer, or give more text", *most));
  if (message.find("smaller than required_chars") != std::string::npos) {
    const auto least = number_behind(message, " vs ");
    fail(where,
         least ? fmt::format("{} pieces are too few: the text's characters alone need {}", options.size, *least)
               : fmt::format("{} pieces are too few for the text's characters", options.size),
         "ask for more pieces, or lower the character coverage (0.9995, say)");
  }
  fail(where, fmt::format("SentencePiece cannot learn {} pieces from this text: {}", options.size, message),
       "ask for fewer pieces, or give more text");
}

void check_options(const VocabularyOptions& options) {
  check(options.size >= 4 && options.size <= 10'000'000, "vocabulary size", "{} pieces, expected 4 to 10,000,000",
        options.size);
  check(options.character_coverage >= 0.98 && options.character_coverage <= 1.0, "character coverage",
        "{}, expected 0.98 to 1", options.character_coverage);
  for (const std::string& symbol : options.symbols)
    check(!symbol.empty() && is_utf8(symbol) && symbol.find_first_of("\" ") == std::string::npos, "--symbols",
          "expected texts without spaces and quotation marks, got '{}'", symbol);
  check(options.max_lines >= 1, "vocabulary", "a sample of {} lines, at least 1 is expected", options.max_lines);
}

std::string train(const std::vector<std::string>& lines, const VocabularyOptions& options) {
  if (lines.empty())
    fail("vocabulary", "the text has no line with a word in it", "give files with one sentence a line");
  std::string model;
  const auto status = run_trainer(trainer_arguments(options), lines, &model);
  if (!status.ok()) explain(status.ToString(), options);
  const auto learned = parse_sentencepiece(model, "vocabulary");
  const bool characters = options.model == SubwordKind::character;
  if (characters && learned->GetPieceSize() > options.size)
    explain(fmt::format("smaller than required_chars vs {}", learned->GetPieceSize()), options);
  if (!characters && learned->GetPieceSize() != options.size)
    explain(fmt::format("Please set it to a value <= {}", learned->GetPieceSize()), options);
  return model;
}

}  // namespace

std::vector<std::string> sample_lines(const std::vector<TextSource>& files, const VocabularyOptions& options) {
  check(!files.empty(), "vocabulary", "no files to learn from");
  Sample sample(options.max_lines, options.seed);
  std::string line;
  for (const TextSource& file : files) {
    LineReader reader(file.path, {.skip_invalid = options.skip_invalid, .refuse_empty = true});
    for (Line kind = reader.next(line); kind != Line::end; kind = reader.next(line)) {
      if (kind == Line::invalid) continue;
      if (file.column < 0) {
        sample.add(line);
        continue;
      }
      const auto field = column(line, file.column);
      if (!field)
        fail(fmt::format("{}: line {}", reader.name(), reader.line_number()),
             fmt::format("has {} tab-separated columns, column {} is wanted", count_columns(line), file.column + 1));
      sample.add(*field);
    }
  }
  return sample.take();
}

std::string train_sentencepiece(const std::vector<TextSource>& files, const VocabularyOptions& options) {
  check_options(options);
  return train(sample_lines(files, options), options);
}

std::string train_sentencepiece(const std::vector<std::string>& lines, const VocabularyOptions& options) {
  check_options(options);
  Sample sample(options.max_lines, options.seed);
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (const auto fault = find_utf8_fault(lines[i])) {
      if (options.skip_invalid) continue;
      fail(fmt::format("line {}", i + 1),
           fmt::format("is not valid UTF-8 (byte 0x{:02X} at column {})", fault->byte, fault->column));
    }
    sample.add(lines[i]);
  }
  return train(sample.take(), options);
}

std::string read_sentencepiece(const std::string& path) {
  std::string bytes = read_text(path, 256 << 20);
  parse_sentencepiece(bytes, path);
  return bytes;
}

std::shared_ptr<const Tokenizer> train_marian_tokenizer(const VocabularyRequest& request,
                                                        const VocabularyOptions& options) {
  MarianParts parts;
  parts.separate_vocabularies = !request.joint;
  parts.tags = request.tags;
  parts.source_lang = request.source_lang;
  parts.target_lang = request.target_lang;
  parts.model_max_length = request.model_max_length;
  if (request.joint) {
    std::vector<TextSource> all = request.source;
    all.insert(all.end(), request.target.begin(), request.target.end());
    parts.source_spm = parts.target_spm = train_sentencepiece(all, options);
  } else {
    parts.source_spm = train_sentencepiece(request.source, options);
    parts.target_spm = train_sentencepiece(request.target, options);
  }
  return make_marian_tokenizer(std::move(parts));
}

SubwordKind subword_kind(const std::string& name) {
  for (const SubwordKind model : {SubwordKind::bpe, SubwordKind::unigram, SubwordKind::character})
    if (name == name_of(model)) return model;
  fail_usage("vocabulary type", fmt::format("\"{}\", expected bpe, unigram or char", name),
             did_you_mean(name, {"bpe", "unigram", "char"}));
}

const std::vector<std::pair<std::string, Normalization>>& normalization_names() {
  static const std::vector<std::pair<std::string, Normalization>> names = {{"nmt_nfkc", Normalization::nmt_nfkc},
                                                                           {"nfkc", Normalization::nfkc},
                                                                           {"nmt_nfkc_cf", Normalization::nmt_nfkc_cf},
                                                                           {"nfkc_cf", Normalization::nfkc_cf},
                                                                           {"identity", Normalization::identity}};
  return names;
}

Normalization normalization_named(const std::string& name) {
  std::vector<std::string> known;
  for (const auto& [text, value] : normalization_names()) {
    if (name == text) return value;
    known.push_back(text);
  }
  fail_usage("normalization", fmt::format("\"{}\", expected one of {}", name, fmt::join(known, ", ")),
             did_you_mean(name, known));
}

}  // namespace tril
