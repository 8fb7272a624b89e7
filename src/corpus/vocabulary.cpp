#include "corpus/vocabulary.h"

#include <sentencepiece_trainer.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <set>
#include <unordered_map>

#include "base/error.h"
#include "base/file.h"
#include "base/log.h"
#include "base/number_text.h"
#include "base/printable.h"
#include "base/progress.h"
#include "corpus/vocabulary_lines.h"
#include "tokenizer/files/marian_tokenizer.h"
#include "tokenizer/files/sentencepiece.h"
#include "unicode/trim.h"

namespace tril {

namespace {

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

std::string name_of(SubwordKind wanted) {
  for (const auto& [name, value] : subword_names())
    if (value == wanted) return name;
  return "";
}

std::string name_of(Normalization wanted) {
  for (const auto& [name, value] : normalization_names())
    if (value == wanted) return name;
  return "";
}

// Texts in the list format of the library: separated by commas, each in quotes.
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
      // Marian's order, so that ids in spm.model and vocab.json are equal.
      {"eos_id", "0"},
      {"unk_id", "1"},
      {"bos_id", "-1"},
      {"pad_id", "-1"},
      {"num_threads", "4"},  // fixed: the unigram model's sums depend on it
      // Longer lines would be skipped, so learnable_lines() splits them first.
      {"max_sentence_length", std::to_string(longest_learnable_line)},
      {"minloglevel", "2"},  // problems are in the status
  };
}

sentencepiece::util::Status run_trainer(const Arguments& arguments, const std::vector<std::string>& lines,
                                        std::string* model) {
  LinesIterator iterator(lines);
  return sentencepiece::SentencePieceTrainer::Train(arguments, &iterator, model);
}

// The integer after `words` in `message`.
std::optional<std::int64_t> number_behind(const std::string& message, std::string_view words) {
  const std::size_t at = message.find(words);
  if (at == std::string::npos) return std::nullopt;
  const char* first = message.data() + at + words.size();
  while (*first == ' ') ++first;
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(first, message.data() + message.size(), value);
  return error == std::errc() ? std::optional(value) : std::nullopt;
}

// The most pieces that the text supports, from an error that names the number.
std::optional<std::int64_t> most_pieces(const std::string& message) {
  return number_behind(message, "Please set it to a value <=");
}

// Pieces that exist for any text: "</s>", "<unk>", requested symbols, and bytes.
std::int64_t pieces_of_no_text(const VocabularyOptions& options) {
  return 2 + std::ssize(options.symbols) + (options.byte_fallback ? 256 : 0);
}

[[noreturn]] void fail_on_no_text() {
  fail("vocabulary", "the text has nothing to learn from: it has only white space and characters that are dropped",
       "give text with words in it");
}

// Explains the library's error in terms of our options.
[[noreturn]] void explain(const std::string& message, const VocabularyOptions& options) {
  const std::string where = "vocabulary";
  if (const auto most = most_pieces(message)) {
    if (*most <= pieces_of_no_text(options)) fail_on_no_text();
    fail(where, fmt::format("cannot learn {} pieces from this text: it yields at most {}", options.size, *most),
         fmt::format("ask for at most {}, or give more text", *most));
  }
  if (message.find("smaller than required_chars") != std::string::npos) {
    const auto least = number_behind(message, " vs ");
    fail(where,
         least ? fmt::format("{} pieces are too few: the text's characters alone need {}", options.size, *least)
               : fmt::format("{} pieces are too few for the text's characters", options.size),
         "ask for more pieces, or lower the character coverage (for example to 0.9995)");
  }
  if (message.find("sentences_.empty()") != std::string::npos) fail_on_no_text();
  if (message.find("corpus too large") != std::string::npos)
    fail(where, "the text is too large for SentencePiece to learn from at once", "learn from a part of it");
  fail(where, fmt::format("SentencePiece cannot learn {} pieces from this text: {}", options.size, message));
}

bool has_printable_ascii(const std::string& line) {
  return std::ranges::any_of(line, [](char c) { return c > ' ' && c < 0x7f; });
}

// Whether normalisation leaves any character of the text. Printable ASCII survives every rule; for other text, a
// character model tells. The unigram trainer aborts the process if no character is left.
bool leaves_characters(const std::vector<std::string>& lines, VocabularyOptions options) {
  if (std::ranges::any_of(lines, has_printable_ascii)) return true;
  options.model = SubwordKind::character;
  options.size = 1'000'000;
  options.character_coverage = 1;
  std::string model;
  return run_trainer(trainer_arguments(options), lines, &model).ok() &&
         parse_sentencepiece(model, "vocabulary")->GetPieceSize() > pieces_of_no_text(options);
}

// Warns about lines that SentencePiece would have skipped.
void tell(const LearnableLines& learnable) {
  if (learnable.cut > 0)
    logger()->info("vocabulary: {} of more than {} bytes {} split into parts; nothing is left out",
                   counted(format_count(learnable.cut), "line"), format_count(longest_learnable_line),
                   learnable.cut == 1 ? "is" : "are");
  if (learnable.reserved > 0)
    logger()->warn(
        "vocabulary: {} {} (U+2585), which SentencePiece reserves; it gets no piece, but the text around it is used",
        counted(format_count(learnable.reserved), "line holds", "lines hold"), reserved_character);
}

void check_options(const VocabularyOptions& options) {
  check(options.model != SubwordKind::byte_bpe, "vocabulary", "SentencePiece does not learn byte_bpe");
  check(options.size >= 4 && options.size <= 10'000'000, "vocabulary size", "expected 4 to 10,000,000 pieces, got {}",
        options.size);
  check(options.character_coverage >= 0.98 && options.character_coverage <= 1.0, "character coverage",
        "expected 0.98 to 1, got {}", options.character_coverage);
  std::set<std::string> seen{"</s>", "<unk>"};
  for (const std::string& symbol : options.symbols) {
    check(!symbol.empty() && is_utf8(symbol) && symbol.find_first_of("\" ") == std::string::npos, "symbols",
          "expected texts without spaces and quotation marks, got '{}'", symbol);
    check(seen.insert(symbol).second, "symbols", "'{}' is already a piece; give each text once", printable(symbol));
  }
  check(options.max_lines >= 1, "vocabulary", "expected a sample of at least 1 line, got {}", options.max_lines);
}

std::string train(const std::vector<std::string>& lines, const VocabularyOptions& options);

// Trains again with as many pieces as the text supports, fewer than requested.
std::string smaller(const std::vector<std::string>& lines, VocabularyOptions options, std::int64_t most) {
  logger()->warn("vocabulary: this text yields at most {} pieces, not {}; the vocabulary has {}", most, options.size,
                 most);
  options.size = static_cast<std::int32_t>(most);
  options.may_be_smaller = false;
  return train(lines, options);
}

std::string train(const std::vector<std::string>& lines, const VocabularyOptions& options) {
  if (options.model == SubwordKind::unigram && !leaves_characters(lines, options)) fail_on_no_text();
  std::string model;
  const auto status = run_trainer(trainer_arguments(options), lines, &model);
  if (const auto most = most_pieces(status.ToString());
      most && options.may_be_smaller && *most > pieces_of_no_text(options))
    return smaller(lines, options, *most);
  if (!status.ok()) explain(status.ToString(), options);
  const auto learned = parse_sentencepiece(model, "vocabulary");
  if (learned->GetPieceSize() <= pieces_of_no_text(options)) fail_on_no_text();
  const bool characters = options.model == SubwordKind::character;
  if (characters && learned->GetPieceSize() > options.size)
    explain(fmt::format("smaller than required_chars vs {}", learned->GetPieceSize()), options);
  if (!characters && learned->GetPieceSize() != options.size && options.may_be_smaller)
    return smaller(lines, options, learned->GetPieceSize());
  if (!characters && learned->GetPieceSize() != options.size)
    explain(fmt::format("Please set it to a value <= {}", learned->GetPieceSize()), options);
  return model;
}

std::string train_on(std::vector<std::string> text, const VocabularyOptions& options) {
  if (text.empty())
    fail("vocabulary", "the text has no line with a word in it", "pass files with one sentence per line");
  const LearnableLines learnable = learnable_lines(std::move(text));
  tell(learnable);
  return train(learnable.lines, options);
}

}  // namespace

std::string train_sentencepiece(const std::vector<TextSource>& files, const VocabularyOptions& options) {
  check_options(options);
  return train_on(sample_lines(files, options), options);
}

std::string train_sentencepiece(const std::vector<std::string>& lines, const VocabularyOptions& options) {
  check_options(options);
  return train_on(sample_lines(lines, options), options);
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

const std::vector<std::pair<std::string, SubwordKind>>& subword_names() {
  static const std::vector<std::pair<std::string, SubwordKind>> names = {{"bpe", SubwordKind::bpe},
                                                                         {"unigram", SubwordKind::unigram},
                                                                         {"char", SubwordKind::character},
                                                                         {"byte_bpe", SubwordKind::byte_bpe}};
  return names;
}

const std::vector<std::pair<std::string, Normalization>>& normalization_names() {
  static const std::vector<std::pair<std::string, Normalization>> names = {{"nmt_nfkc", Normalization::nmt_nfkc},
                                                                           {"nfkc", Normalization::nfkc},
                                                                           {"nmt_nfkc_cf", Normalization::nmt_nfkc_cf},
                                                                           {"nfkc_cf", Normalization::nfkc_cf},
                                                                           {"identity", Normalization::identity}};
  return names;
}

}  // namespace tril
