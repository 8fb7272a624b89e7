#include "corpus/vocabulary.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "base/rng.h"
#include "corpus/vocabulary_lines.h"
#include "support/paths.h"
#include "support/temporary.h"
#include "tokenizer/files/marian_tokenizer.h"
#include "tokenizer/files/sentencepiece.h"
#include "unicode/trim.h"

namespace tril {
namespace {

std::vector<std::string> sentences(int count, const std::vector<std::string>& words) {
  RandomSequence random(3, 1);
  std::vector<std::string> lines;
  for (int i = 0; i < count; ++i) {
    std::string line = words[random.below(words.size())];
    for (std::uint64_t n = 2 + random.below(6); n > 0; --n) line += " " + words[random.below(words.size())];
    lines.push_back(line);
  }
  return lines;
}

const std::vector<std::string> english = {"the",  "quick", "brown", "fox",     "jumps",
                                          "over", "lazy",  "dogs",  "running", "jumping"};
const std::vector<std::string> german = {"der",       "schnelle", "braune", "Fuchs",  "springt",
                                         "\u00fcber", "faule",    "Hunde",  "laufend"};

std::string text_of(const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines) text += line + "\n";
  return text;
}

class EveryModel : public testing::TestWithParam<SubwordKind> {};
INSTANTIATE_TEST_SUITE_P(Vocabulary, EveryModel, testing::Values(SubwordKind::bpe, SubwordKind::unigram));

TEST_P(EveryModel, LearnsWhatWasAskedFor) {
  const auto lines = sentences(300, english);
  VocabularyOptions options;
  options.model = GetParam();
  options.size = 36;
  const std::string spm = train_sentencepiece(lines, options);
  EXPECT_EQ(spm, train_sentencepiece(lines, options));  // bit for bit
  const auto tokenizer = make_marian_tokenizer({.source_spm = spm, .target_spm = spm});
  EXPECT_EQ(tokenizer->size(Side::source), 37);  // and <pad>
  const auto model = parse_sentencepiece(spm, "learned");
  for (int id = 0; id < 36; ++id) EXPECT_EQ(tokenizer->piece(id, Side::source), model->IdToPiece(id));
  for (const std::string& line : lines) EXPECT_EQ(tokenizer->decode(tokenizer->encode(line)), line);
}

TEST_P(EveryModel, SaysTheLargestAndTheSmallestSize) {
  const auto lines = sentences(50, german);
  VocabularyOptions options;
  options.model = GetParam();
  options.size = 50'000;
  const std::string too_many = error_of([&] { train_sentencepiece(lines, options); });
  ASSERT_TRUE(contains(too_many, "it yields at most "));
  options.size = std::stoi(too_many.substr(too_many.find("at most ") + 8));
  EXPECT_EQ(parse_sentencepiece(train_sentencepiece(lines, options), "largest")->GetPieceSize(), options.size);

  options.size = 8;
  const std::string too_few = error_of([&] { train_sentencepiece(lines, options); });
  EXPECT_TRUE(contains(too_few, "the text's characters alone need "));
}

TEST_P(EveryModel, SamplesBySeed) {
  auto words = english;
  for (int i = 0; i < 200; ++i) words.push_back(fmt::format("w{}x", i * 37));
  const auto lines = sentences(2'000, words);
  VocabularyOptions options;
  options.model = GetParam();
  options.size = 80;
  options.max_lines = 150;
  const std::string first = train_sentencepiece(lines, options);
  EXPECT_EQ(first, train_sentencepiece(lines, options));
  options.seed = 2;
  EXPECT_NE(first, train_sentencepiece(lines, options));
}

TEST(Vocabulary, FallsBackToBytes) {
  VocabularyOptions options;
  options.size = 320;
  options.byte_fallback = true;
  const std::string spm = train_sentencepiece(sentences(300, english), options);
  const auto tokenizer = make_marian_tokenizer({.source_spm = spm, .target_spm = spm});
  EXPECT_EQ(tokenizer->decode(tokenizer->encode("fox \U0001f98a \u6f22")), "fox \U0001f98a \u6f22");
}

TEST(Vocabulary, SplitsDigitsWhereAsked) {
  std::vector<std::string> lines;
  for (int i = 0; i < 300; ++i) lines.push_back("the year 2026 or 20" + std::to_string(10 + i % 90));
  VocabularyOptions options;
  options.size = 30;
  const auto longest_number = [&] {
    const std::string spm = train_sentencepiece(lines, options);
    const auto tokenizer = make_marian_tokenizer({.source_spm = spm, .target_spm = spm});
    std::size_t longest = 0;
    for (std::int32_t id = 0; id < tokenizer->size(Side::source); ++id) {
      const std::string& piece = tokenizer->piece(id, Side::source);
      longest = std::max(longest, static_cast<std::size_t>(std::count_if(
                                      piece.begin(), piece.end(), [](char ch) { return ch >= '0' && ch <= '9'; })));
    }
    return longest;
  };
  EXPECT_GT(longest_number(), 1u);
  options.split_digits = true;
  EXPECT_EQ(longest_number(), 1u);
}

TEST(Vocabulary, NormalisesUnlessToldNotTo) {
  VocabularyOptions options;
  options.size = 60;
  const auto decoded = [&](const std::string& text) {
    auto words = english;
    words.push_back("\ufb01ne");  // with the ligature fi
    const std::string spm = train_sentencepiece(sentences(300, words), options);
    const auto tokenizer = make_marian_tokenizer({.source_spm = spm, .target_spm = spm});
    return tokenizer->decode(tokenizer->encode(text));
  };
  EXPECT_EQ(decoded("\ufb01ne"), "fine");
  options.normalization = Normalization::identity;
  EXPECT_EQ(decoded("\ufb01ne"), "\ufb01ne");
}

TEST(Vocabulary, ReadsFilesJointAndSeparate) {
  const TemporaryDirectory at;
  VocabularyRequest request;
  request.source = {{at.write("en.gz", gzip(text_of(sentences(300, english))))}};
  request.target = {{at.write("de", text_of(sentences(300, german)))}};
  request.source_lang = "en";
  request.target_lang = "de";
  VocabularyOptions options;
  options.size = 60;
  for (const bool joint : {true, false}) {
    request.joint = joint;
    const auto tokenizer = train_marian_tokenizer(request, options);
    EXPECT_EQ(tokenizer->shared_vocabulary(), joint);
    EXPECT_EQ(tokenizer->find("\u00fc", Side::source).has_value(), joint);
    EXPECT_TRUE(tokenizer->find("\u00fc", Side::target));
    save_tokenizer(*tokenizer, at.path(joint ? "joint" : "separate"));
    const auto loaded = load_tokenizer(at.path(joint ? "joint" : "separate"));
    EXPECT_EQ(loaded->encode("der schnelle fox", Side::target), tokenizer->encode("der schnelle fox", Side::target));
  }
  request.joint = true;
  std::string table;
  for (const std::string& line : sentences(300, english)) table += "x\t" + line + "\n";
  request.source = request.target = {{at.write("tsv", table), 1}};
  EXPECT_FALSE(train_marian_tokenizer(request, options)->find("\t", Side::source));
  request.source = {{at.path("tsv"), 2}};
  EXPECT_TRUE(
      contains(error_of([&] { train_marian_tokenizer(request, options); }), "line 1: ", "2 tab-separated columns"));
}

TEST(Vocabulary, ImportsAnyLayoutOfSpecialSymbols) {
  // The golden model has <unk>, and control symbols where SentencePiece's own defaults put them.
  const std::string spm = read_sentencepiece(test::test_dir() + "/golden/hf/tokenizers/spm_bpe/spm.model");
  const auto model = parse_sentencepiece(spm, "golden");
  const auto tokenizer = make_marian_tokenizer({.source_spm = spm, .target_spm = spm});
  std::int32_t next = 2;
  for (int id = 0; id < model->GetPieceSize(); ++id) {
    if (model->IsUnknown(id) || id == model->eos_id() || id == model->pad_id()) continue;
    EXPECT_EQ(tokenizer->find(model->IdToPiece(id), Side::source), next++);
  }
  EXPECT_EQ(tokenizer->size(Side::source), next + 1);
}

TEST(Vocabulary, NamesBadInput) {
  const TemporaryDirectory at;
  VocabularyOptions options;
  const auto error_with = [&](const std::string& path) {
    return error_of([&] { train_sentencepiece(std::vector<TextSource>{{path}}, options); });
  };
  EXPECT_TRUE(contains(error_with(at.path("no")), "No such file"));
  EXPECT_TRUE(contains(error_with(at.write("e", "")), "is empty"));
  EXPECT_TRUE(contains(error_with(at.write("blank", "\n \n")), "no line with a word"));
  EXPECT_TRUE(contains(error_with(at.write("bad", "a\n\xff\n")), "line 2"));
  EXPECT_TRUE(
      contains(error_of([&] { read_sentencepiece(at.write("spm", "no model")); }), "not a SentencePiece model"));
  EXPECT_TRUE(contains(error_of([&] { read_sentencepiece(at.path("none")); }), "none"));
  options.size = 0;
  EXPECT_TRUE(contains(error_with(at.write("a", "a\n")), "vocabulary size"));
}

using Lines = std::vector<std::string>;

// Lines that SentencePiece's trainer would skip silently.
TEST_P(EveryModel, LearnsFromLinesOfAnyLength) {
  const std::vector<std::string> russian = {"\u043f\u0440\u0438\u0432\u0435\u0442",
                                            "\u0441\u043e\u0431\u0430\u043a\u0430", "\u0431\u0435\u0436\u0438\u0442",
                                            "\u0434\u043e\u043c"};
  std::vector<std::string> as_lines = sentences(300, english), as_one = as_lines;
  const std::vector<std::string> more = sentences(4'000, russian);
  as_lines.insert(as_lines.end(), more.begin(), more.end());
  as_one.push_back(fmt::format("{}", fmt::join(more, " ")));
  ASSERT_GT(as_one.back().size(), 100'000u);
  VocabularyOptions options;
  options.model = GetParam();
  options.size = 60;
  const std::string spm = train_sentencepiece(as_one, options);
  EXPECT_EQ(spm, train_sentencepiece(as_lines, options)) << "words are the same wherever a line is cut";
  const auto tokenizer = make_marian_tokenizer({.source_spm = spm, .target_spm = spm});
  EXPECT_EQ(tokenizer->decode(tokenizer->encode(russian[1])), russian[1]);
}

TEST_P(EveryModel, LearnsFromALineWithoutBlanks) {
  std::string line;
  for (int i = 0; i < 40'000; ++i) line += i % 3 == 0 ? "\u6f22" : i % 7 == 0 ? "\u5b57" : "\u3316";  // six characters
  VocabularyOptions options;
  options.model = GetParam();
  options.size = 16;
  const std::string spm = train_sentencepiece(Lines{line, "a b"}, options);
  const auto model = parse_sentencepiece(spm, "learned");
  for (const char* character : {"\u6f22", "\u5b57", "\u30ad", "a", "b"})
    EXPECT_FALSE(model->IsUnknown(model->PieceToId(character))) << character;
}

TEST(Vocabulary, IsSmallerWhereTheTextGivesLessAndThatIsAllowed) {
  const std::vector<std::string> text{"a cat sat", "a cat ran", "a dog sat"};
  for (const SubwordKind model : {SubwordKind::bpe, SubwordKind::unigram}) {
    VocabularyOptions options{.size = 8000, .model = model};
    EXPECT_THROW(train_sentencepiece(text, options), Error);
    options.may_be_smaller = true;
    const auto learned = parse_sentencepiece(train_sentencepiece(text, options), "test");
    EXPECT_GT(learned->GetPieceSize(), 8);
    EXPECT_LT(learned->GetPieceSize(), 100);
  }
}

TEST(Vocabulary, LearnsFromWhatStandsAroundAReservedCharacter) {
  VocabularyOptions options;
  options.model = SubwordKind::character;
  const auto model = parse_sentencepiece(train_sentencepiece(Lines{"ab", "xy \u2585 z\u2585"}, options), "learned");
  EXPECT_EQ(model->GetPieceSize(), 2 + 6);  // a b x y z and the space
}

TEST(Vocabulary, LearnableLinesHaveEveryByte) {
  const std::string far_blank = "a " + std::string(3 * longest_learnable_line, 'b');
  std::string words, umlauts = "x";
  while (words.size() < 5 * longest_learnable_line) words += "  word";
  while (umlauts.size() < 3 * longest_learnable_line) umlauts += "\u00fc";
  for (const std::string& line : {far_blank, words, umlauts, std::string(2 * longest_learnable_line + 1, ' '),
                                  std::string(longest_learnable_line, 'c')}) {
    const LearnableLines learnable = learnable_lines({line, "short"});
    EXPECT_EQ(learnable.cut, line.size() > longest_learnable_line);
    EXPECT_EQ(learnable.reserved, 0);
    EXPECT_EQ(fmt::format("{}", fmt::join(learnable.lines, "")), line + "short");
    for (const std::string& part : learnable.lines) {
      EXPECT_LE(part.size(), longest_learnable_line);
      EXPECT_TRUE(is_utf8(part));
      EXPECT_FALSE(part.empty());
    }
  }
  for (const std::string& part : learnable_lines({words}).lines) EXPECT_EQ(part.substr(0, 4), "  wo");
  const LearnableLines reserved = learnable_lines({"\u2585a\u2585\u2585 b", "\u2585"});
  EXPECT_EQ(reserved.lines, (std::vector<std::string>{"a", " b"}));
  EXPECT_EQ(reserved.reserved, 2);
}

TEST(Vocabulary, LeavesOutLinesThatAreNoTextWhereAsked) {
  VocabularyOptions options;
  const std::vector<std::string> lines{"a", "b\xff", std::string("c\0d", 3), "e"};
  EXPECT_TRUE(contains(error_of([&] { sample_lines(lines, options); }), "line 2: is not valid UTF-8"));
  EXPECT_TRUE(contains(error_of([&] { sample_lines(Lines{lines[2]}, options); }), "line 1: contains a NUL byte"));
  options.skip_invalid = true;
  EXPECT_EQ(sample_lines(lines, options), (std::vector<std::string>{"a", "e"}));
}

TEST(Vocabulary, SaysWhatIsWrongWithTextAndSymbols) {
  VocabularyOptions options;
  options.size = 20;
  for (const SubwordKind kind : {SubwordKind::bpe, SubwordKind::unigram, SubwordKind::character})
    for (const Lines& text : {Lines{"\u200b", "\x01\x02"}, Lines{"\u2585"}}) {
      options.model = kind;
      const std::string nothing = error_of([&] { train_sentencepiece(text, options); });
      EXPECT_TRUE(contains(nothing, "has nothing to learn from") && !contains(nothing, "ask for")) << nothing;
    }
  for (const std::vector<std::string>& twice : {std::vector<std::string>{"<x>", "<x>"}, {"</s>"}}) {
    options.symbols = twice;
    EXPECT_TRUE(contains(error_of([&] { train_sentencepiece(Lines{"a b c"}, options); }), "is already a piece"));
  }
}

TEST(Vocabulary, OfCharactersHasEveryCharacterOnce) {
  VocabularyOptions options;
  options.model = SubwordKind::character;
  const std::vector<std::string> lines = {"abcab  cb", "\u00fcxa"};
  const std::string spm = train_sentencepiece(lines, options);
  const auto model = parse_sentencepiece(spm, "learned");
  EXPECT_EQ(model->GetPieceSize(), 2 + 6);  // a b c x \u00fc and the space
  const auto tokenizer = make_marian_tokenizer({.source_spm = spm, .target_spm = spm});
  EXPECT_EQ(tokenizer->encode("ab c").size(), 5u);  // and the space in front
  options.size = 7;
  const std::string error = error_of([&] { train_sentencepiece(lines, options); });
  EXPECT_TRUE(contains(error, "7 pieces are too few", "alone need 8"));
}

TEST(Vocabulary, KeepsSpacesAndSymbolsWhereAsked) {
  for (const SubwordKind kind : {SubwordKind::character, SubwordKind::bpe}) {
    VocabularyOptions options;
    options.model = kind;
    options.normalization = Normalization::identity;
    options.keep_spaces = true;
    options.symbols = {"\n", "<a,b>"};
    options.size = 18;
    const std::string spm = train_sentencepiece(sentences(200, {"ab", "cd ", " Ef", "ab  cd"}), options);
    const auto model = parse_sentencepiece(spm, "learned");
    for (const std::string text : {" ab  cd\nEf ", "cd<a,b>cd", "\n\n  \n", "A\u00bd"}) {
      std::vector<std::string> pieces;
      ASSERT_TRUE(model->Encode(text, &pieces).ok());
      std::string back;
      ASSERT_TRUE(model->Decode(pieces, &back).ok());
      EXPECT_EQ(back, text);
      std::size_t count = 0;
      for (const std::string& piece : pieces) count += piece == "\n" || piece == "<a,b>";
      EXPECT_EQ(count, static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n')) + contains(text, "<a"));
    }
  }
}

TEST(Vocabulary, NormalisesAsItsNameSays) {
  const auto pieces = [](Normalization rule, const std::string& text) {
    VocabularyOptions options;
    options.size = 30;
    options.normalization = rule;
    options.byte_fallback = false;
    const auto model = parse_sentencepiece(train_sentencepiece(sentences(200, english), options), "learned");
    std::vector<std::string> list;
    EXPECT_TRUE(model->Encode(text, &list).ok());
    std::string all;
    for (const std::string& piece : list) all += piece;
    return all;
  };
  const std::string text = "The\u3000\ufb01x";  // an ideographic space, a ligature
  EXPECT_EQ(pieces(Normalization::identity, text), "\u2581The\u3000\ufb01x");
  EXPECT_EQ(pieces(Normalization::nmt_nfkc, text), "\u2581The\u2581fix");
  EXPECT_EQ(pieces(Normalization::nfkc, text), "\u2581The\u2581fix");
  EXPECT_EQ(pieces(Normalization::nmt_nfkc_cf, text), "\u2581the\u2581fix");
  EXPECT_EQ(pieces(Normalization::nfkc_cf, text), "\u2581the\u2581fix");
}

}  // namespace
}  // namespace tril
