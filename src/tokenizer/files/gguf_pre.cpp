// The table of names. Each way of splitting is a list of expressions; each splits what the one before it left, both its
// matches and the text between them. Where llama.cpp quotes a publisher's expression but computes an approximation, the
// publisher's is used here.
#include "tokenizer/files/gguf_pre.h"

#include <fmt/ranges.h>

#include <algorithm>

#include "base/error.h"
#include "base/printable.h"
#include "format/sentencepiece_file.h"
#include "tokenizer/pipeline/digit_groups.h"
#include "tokenizer/pipeline/word_patterns.h"

namespace tril {
namespace {

using Steps = std::vector<PreTokenizerStep>;

constexpr std::string_view digit = R"(\p{N})", three_digits = R"(\p{N}{1,3})", numbers = R"(\p{N}+)";
constexpr std::string_view english_endings = "(?i:'s|'t|'re|'ve|'m|'ll|'d)";
constexpr std::string_view space_pattern = R"(\s+(?!\S)|\s+)", lines_and_space = R"(\s*[\r\n]+|\s+(?!\S)|\s+)";

SplitBy cut_at(std::string_view pattern) {
  return {.pattern = {.text = std::string(pattern), .regex = true}, .behavior = SplitBehavior::isolated};
}

Steps split_then_bytes(const std::vector<std::string_view>& patterns) {
  Steps steps;
  for (const std::string_view p : patterns) steps.push_back(cut_at(p));
  steps.push_back(ByteLevel{.use_regex = false});
  return steps;
}

std::string joined(std::initializer_list<std::string_view> parts) {
  return fmt::format("{}", fmt::join(parts, "|"));
}

// Llama 3's words, as one expression.
std::string words(std::string_view endings, std::string_view number) {
  return joined({endings, R"([^\r\n\p{L}\p{N}]?\p{L}+)", number, R"( ?[^\s\p{L}\p{N}]+[\r\n]*)", lines_and_space});
}

// Words by case, as in o200k: capitals, then small letters. `but` excludes characters from both.
std::string words_by_case(const std::string& ending, std::string_view number,
                          std::string_view behind_signs = "[\\r\\n/]*", const std::string& but = "") {
  const std::string upper = R"([\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M})" + but + "]",
                    lower = R"([\p{Ll}\p{Lm}\p{Lo}\p{M})" + but + "]", before = R"([^\r\n\p{L}\p{N}]?)";
  return joined({before + upper + "*" + lower + "+" + ending, before + upper + "+" + lower + "*" + ending, number,
                 R"( ?[^\s\p{L}\p{N}]+)" + std::string(behind_signs), lines_and_space});
}

// DeepSeek-V3's: a sign before letters; words with their marks; signs.
std::string words_and_signs(std::string_view behind_signs, std::string_view rest) {
  return joined({R"([!"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+)", R"([^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+)",
                 R"( ?[\p{P}\p{S}]+)" + std::string(behind_signs), rest});
}

// The letters in DeepSeek's first expression: those with a case in the Unicode version of the time.
constexpr std::string_view cased_letters =
    "A-Za-z\u00b5\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u01ba\u01bc-\u01bf\u01c4-\u0293\u0295-\u02af\u0370-"
    "\u0373\u0376\u0377"
    "\u037b-\u037d\u037f\u0386\u0388-\u038a\u038c\u038e-\u03a1\u03a3-\u03f5\u03f7-\u0481\u048a-\u052f\u0531-\u0556"
    "\u10a0-\u10c5\u13a0-\u13f5\u13f8-\u13fd\u1c90-\u1cba\u1cbd-\u1cbf\u1d00-\u1d2b\u1d6b-\u1d77\u1d79-\u1d9a"
    "\u1e00-\u1f15\u1f18-\u1f1d\u1f20-\u1f45\u1f48-\u1f4d\u1f50-\u1f57\u1f59\u1f5b\u1f5d\u1f5f-\u1f7d\u1f80-\u1fb4"
    "\u1fb6-\u1fbc\u1fbe\u1fc2-\u1fc4\u1fc6-\u1fcc\u1fd0-\u1fd3\u1fd6-\u1fdb\u1fe0-\u1fec\u1ff2-\u1ff4\u1ff6-\u1ffc"
    "\u2102\u2107\u210a-\u2113\u2115\u2119-\u211d\u2124\u2126\u2128\u212a-\u212d\u212f-\u2134\u2139\u213c-\u213f"
    "\u2145-\u2149\u214e\u2183\u2184\u2c00-\u2c7b\u2c7e-\u2ce4\u2ceb-\u2cee\u2cf2\u2cf3\ua640-\ua66d\ua680-\ua69b"
    "\ua722-\ua76f\ua771-\ua787\ua78b-\ua78e\uab70-\uabbf\ufb00-\ufb06\ufb13-\ufb17\uff21-\uff3a\uff41-\uff5a"
    "\U00010400-\U0001044f\U000104b0-\U000104d3\U000104d8-\U000104fb\U00010c80-\U00010cb2\U00010cc0-\U00010cf2"
    "\U000118a0-\U000118df\U0001e900-\U0001e943";
constexpr std::string_view deepseek_scripts = "[\u4e00-\u9fa5\u0800-\u4e00\uac00-\ud7ff]+";
constexpr std::string_view han_and_kana = "[\u4e00-\u9fa5\u3040-\u309f\u30a0-\u30ff]+";

// Vocabularies of bytes.
std::vector<GgufPre> byte_level() {
  const std::string upto_three = words(english_endings, three_digits), one = words(english_endings, digit),
                    ending = std::string(english_endings) + "?";
  const std::string sign_words = words_and_signs(R"([\r\n]*)", lines_and_space);
  const std::string bloom = " ?[^(\\s|.,!?\u2026\u3002\uff0c\u3001\u0964\u06d4\u060c)]+";
  std::vector<GgufPre> v;
  v.push_back({.names = {"gpt-2", "phi-2", "olmo", "mpt", "jais", "trillion", "mellum", "modern-bert", "gigachat",
                         "a.x-4.0", "exaone4", "granite-docling", "jina-es", "jina-de", "jina-v2-es", "jina-v2-de",
                         "jina-v1-en", "jina-v2-code", "roberta-bpe"},
               .steps = {ByteLevel{}}});
  v.push_back({.names = {"llama-bpe", "llama3", "llama-v3", "falcon3", "falcon-h1", "pixtral", "midm-2.0", "lfm2",
                         "jina-v5-nano"},
               .steps = split_then_bytes({upto_three}),
               .ignore_merges = true,
               .adds_bos = true});
  v.push_back({.names = {"dbrx", "smaug-bpe", "chatglm-bpe"}, .steps = split_then_bytes({upto_three})});
  v.push_back({.names = {"glm4", "glm5"}, .steps = split_then_bytes({upto_three}), .ignore_merges = true});
  v.push_back({.names = {"qwen2", "deepseek-r1-qwen", "megrez", "kormo", "f2llmv2"},
               .normalizers = {UnicodeForm{UnicodeForm::nfc}},
               .steps = split_then_bytes({one})});
  v.push_back({.names = {"stablelm2", "hunyuan", "solar-open", "grok-2"}, .steps = split_then_bytes({one})});
  v.push_back({.names = {"qwen35"},
               .normalizers = {UnicodeForm{UnicodeForm::nfc}},
               .steps = split_then_bytes({joined({english_endings, R"([^\r\n\p{L}\p{N}]?[\p{L}\p{M}]+)", digit,
                                                  R"( ?[^\s\p{L}\p{M}\p{N}]+[\r\n]*)", lines_and_space})})});
  v.push_back({.names = {"smollm", "starcoder", "refact", "command-r", "codeshell", "exaone", "minerva-7b", "mellum2"},
               .steps = {SplitDigits{.individual = true}, ByteLevel{}}});
  v.push_back({.names = {"gpt-4o", "llama4", "kanana2", "talkie", "minimax-m2"},
               .steps = split_then_bytes({words_by_case(ending, three_digits)})});
  v.push_back({.names = {"granite-embed-multi-97m"},
               .steps = split_then_bytes({words_by_case(ending, three_digits)}),
               .ignore_merges = true});
  v.push_back({.names = {"tekken"},
               .steps = split_then_bytes({words_by_case("", digit)}),
               .ignore_merges = true,
               .adds_bos = true});
  v.push_back({.names = {"tiny_aya", "cohere2moe"},
               .steps = split_then_bytes({bounded_groups_pattern, words_by_case(ending, three_digits)})});
  v.push_back({.names = {"kimi-k2"},
               .steps = split_then_bytes(
                   {R"([\p{Han}]+|)" + words_by_case(ending, three_digits, "[\\r\\n]*", R"(&&[^\p{Han}])")})});
  v.push_back(
      {.names = {"youtu"},
       .steps = split_then_bytes({"[\uac00-\ud7a3\u3131-\u318e]+|[\uff01\u2026\u201c\u201d\u2018\u2019\u2014\uff1a"
                                  "\uff1b\uff0c\u3001-\u303f\ufe30-\ufe4f]+|[\u3105-\u312f]+|"
                                  "[\u4e00-\u9fa5\u3040-\u309f\u30a0-\u30ff]+",
                                  words_by_case(ending, digit)}),
       .ignore_merges = true});
  v.push_back({.names = {"deepseek-llm"},
               .steps = split_then_bytes({R"([\r\n])", fmt::format(R"(\s?[{}]+)", cased_letters),
                                          "\\s?[!-/:-~\uff01-\uff0f\uff1a-\uff5e\u2018-\u201f\u3000-\u3002]+",
                                          R"(\s+$)", deepseek_scripts, numbers})});
  v.push_back({.names = {"deepseek-coder"},
               .steps = split_then_bytes({R"([\r\n])", R"(\s?\p{L}+)", R"(\s?\p{P}+)", deepseek_scripts, digit})});
  v.push_back({.names = {"deepseek-v3", "hunyuan-dense", "joyai-llm", "hy_v4"},
               .steps = split_then_bytes({three_digits, han_and_kana, sign_words})});
  v.push_back({.names = {"spark2_5"},
               .steps = split_then_bytes(
                   {three_digits, han_and_kana, words_and_signs("", joined({R"([\r\n])", space_pattern})), digit})});
  // llama.cpp has U+8C48 here instead of U+F900, which looks alike and which normal form C turns into it: the range
  // should probably be that of the compatibility ideographs, U+F900 to U+FAFF. It is kept, since files of this name are
  // made for it and tested with it; only scripts that are neither Han nor listed (Yi, Vai, Meetei Mayek, private use)
  // are split differently.
  v.push_back({.names = {"afmoe"},
               .steps = split_then_bytes(
                   {number_groups_pattern,
                    "[\u4e00-\u9fff\u3400-\u4dbf\u8c48-\ufaff\u3040-\u309f\u30a0-\u30ff\uff65-\uff9f\u2f00-\u2fdf"
                    "\u0e40-\u0e7f\u0e80-\u0eff\u1780-\u17ff\u1000-\u109f\uaa60-\uaa7f\ua9e0-\ua9ff\uac00-\ud7af"
                    "\u1100-\u11ff]+",
                    sign_words})});
  v.push_back({.names = {"seed-coder"},
               .steps = split_then_bytes({joined({english_endings, R"([^\r\n\p{L}\p{N}]?\p{L}+)", R"(\p{N}{1})",
                                                  R"( ?[^\s\p{L}\p{N}\r\n]+)", lines_and_space})})});
  v.push_back({.names = {"bailingmoe", "bailingmoe2", "llada-moe"},
               .steps = split_then_bytes({joined({"'(?i:[sdmt]|ll|ve|re)", R"([^\r\n\p{L}\p{N}]?\p{L}+)", digit,
                                                  R"( ?[^\s\p{L}\p{N}]+[\r\n]*)", R"(\s*[\r\n])", space_pattern})})});
  v.push_back(
      {.names = {"exaone-moe"},
       .steps = split_then_bytes({joined({english_endings, R"([^\r\n\p{L}\p{N}]?(?:\p{L}\p{M}*(?: \p{L}\p{M}*)*)+)",
                                          digit, R"( ?[^\s\p{L}\p{N}]+[\r\n/]?)", R"(\s*[\r\n])", space_pattern})})});
  v.push_back({.names = {"minicpm5"},
               .steps = split_then_bytes({three_digits, words(english_endings, numbers)}),
               .ignore_merges = true});
  v.push_back({.names = {"laguna"}, .steps = split_then_bytes({R"(\n+)", one})});
  v.push_back({.names = {"ufakzeka"},
               .steps = split_then_bytes(
                   {joined({R"([^\r\n\p{L}\p{N}]?\p{L}+)", digit, R"( ?[^\s\p{L}\p{N}]+[\r\n]*)", lines_and_space})})});
  v.push_back({.names = {"jais-2"},
               .steps = split_then_bytes({joined(
                   {english_endings, R"([^\r\n\p{L}\p{N}]?\p{L}+)", three_digits, R"( ?[^\s\p{L}\p{N}]+[\r\n]*)",
                    R"(\s*[\r\n]+)", R"(\s{512}(?!\S)|\s{256}(?!\S)|\s{128}(?!\S)|\s{64}(?!\S)|\s{32}(?!\S))",
                    R"(\s{16}(?!\S)|\s{8}(?!\S)|\s{4}(?!\S)|\s{1,2}(?!\S)|\s{1})"})})});
  v.push_back({.names = {"superbpe"}, .steps = split_then_bytes({numbers, before_groups_pattern})});
  v.push_back({.names = {"poro-chat", "bloom", "gpt3-finnish"}, .steps = split_then_bytes({bloom})});
  v.push_back({.names = {"viking"}, .steps = split_then_bytes({bloom, digit})});
  v.push_back(
      {.names = {"falcon"}, .steps = split_then_bytes({R"([\p{P}\$\+<=>\^~\|`]+)", gpt2_pattern, "[0-9][0-9][0-9]"})});
  v.push_back({.names = {"chameleon"},
               .steps = split_then_bytes({"<sentinel:[0-9]+>", "(IMGIMG)((A|B|C|D|E|F|G|H|I){1,4})Z",
                                          "([\\t\\n]|    |  )", digit, R"([\p{P}!-/:-@\[-`{-~])", gpt2_pattern}),
               .adds_bos = true});
  v.push_back({.names = {"default"},
               .steps = split_then_bytes({R"([\p{P}\$\+<=>\^~\|]+)", gpt2_pattern, numbers, "[0-9][0-9][0-9]"})});
  return v;
}

// Vocabularies of characters, over whole lines, with spaces as U+2581.
std::vector<GgufPre> by_character() {
  ReplaceText space_to_mark;
  space_to_mark.pattern.text = " ";
  space_to_mark.content = space_mark;
  const std::vector<NormalizerStep> marks_spaces{space_to_mark};
  std::vector<GgufPre> v;
  v.push_back({.names = {"gemma4", "granite-embed-multi-311m"},
               .normalizers = marks_spaces,
               .steps = {cut_at(R"(\n+)")},
               .by_character = true,
               .adds_bos = true});
  v.push_back(
      {.names = {"sarvam-moe"}, .normalizers = marks_spaces, .steps = {cut_at(R"(\n+)")}, .by_character = true});
  return v;
}

const std::vector<GgufPre>& list() {
  static const std::vector<GgufPre> all = [] {
    std::vector<GgufPre> v = byte_level();
    for (GgufPre& p : by_character()) v.push_back(std::move(p));
    return v;
  }();
  return all;
}

}  // namespace

const GgufPre& gguf_pre(std::string_view name, const std::string& where) {
  for (const GgufPre& p : list())
    if (std::find(p.names.begin(), p.names.end(), name) != p.names.end()) return p;
  if (name == "whitespace")
    fail(where, "the pre-tokenizer \"whitespace\" is not supported: it drops all white space",
         "it is for embedding models; use a language model");
  const std::vector<std::string> known = gguf_pre_names();
  const std::string near = did_you_mean(name, known);
  fail(where, fmt::format("the pre-tokenizer \"{}\" is not supported", printable(name, 60)),
       fmt::format("{}use the model's directory: its tokenizer.json defines how text is split; known names are {}",
                   near.empty() ? "" : near + " or ", fmt::join(known, ", ")));
}

std::vector<std::string> gguf_pre_names() {
  std::vector<std::string> names;
  for (const GgufPre& p : list()) names.insert(names.end(), p.names.begin(), p.names.end());
  return names;
}

std::string gguf_pre_name(const std::vector<NormalizerStep>& normalizers, const Steps& steps, bool ignore_merges) {
  for (const GgufPre& p : list())
    if (p.normalizers == normalizers && p.steps == steps && p.ignore_merges == ignore_merges) return p.names[0];
  return "";
}

}  // namespace tril
