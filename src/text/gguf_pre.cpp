#include "text/gguf_pre.h"

#include <fmt/ranges.h>

#include <algorithm>

#include "base/error.h"
#include "base/printable.h"
#include "text/word_patterns.h"

namespace tril {
namespace {

using Steps = std::vector<PreTokenizerStep>;

// Each pattern cuts what the one before it left, matches and what lies between them alike.
Steps split_then_bytes(const std::vector<std::string_view>& patterns) {
  Steps steps;
  for (const std::string_view p : patterns)
    steps.push_back(SplitBy{.pattern = {.text = std::string(p), .regex = true}, .behavior = SplitBehavior::isolated});
  steps.push_back(ByteLevel{.use_regex = false});
  return steps;
}

// Words by case, as o200k has them: capitals, then small letters; Tekken's have no endings and single digits.
std::string words_by_case(std::string_view ending, std::string_view number) {
  const std::string upper = R"([\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}])", lower = R"([\p{Ll}\p{Lm}\p{Lo}\p{M}])",
                    before = R"([^\r\n\p{L}\p{N}]?)", end(ending);
  return before + upper + "*" + lower + "+" + end + "|" + before + upper + "+" + lower + "*" + end + "|" +
         std::string(number) + R"(| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+)";
}

std::vector<GgufPre> make_list() {
  constexpr std::string_view digit = R"(\p{N})";
  std::vector<GgufPre> v;
  v.push_back({{"gpt-2", "phi-2", "olmo", "mpt", "jais", "trillion", "mellum", "modern-bert", "gigachat", "a.x-4.0",
                "exaone4", "granite-docling", "jina-es", "jina-de", "jina-v2-es", "jina-v2-de"},
               {},
               {ByteLevel{}}});
  v.push_back(
      {{"llama-bpe", "llama3", "llama-v3", "falcon3", "falcon-h1", "pixtral", "midm-2.0", "lfm2", "jina-v5-nano"},
       {},
       split_then_bytes({llama3_pattern}),
       true,
       true});
  v.push_back({{"dbrx", "smaug-bpe", "glm4", "chatglm-bpe"}, {}, split_then_bytes({llama3_pattern})});
  v.push_back({{"qwen2", "deepseek-r1-qwen", "megrez", "kormo", "f2llmv2"},
               {UnicodeForm{UnicodeForm::nfc}},
               split_then_bytes({qwen2_pattern})});
  v.push_back({{"stablelm2", "hunyuan", "solar-open", "grok-2"}, {}, split_then_bytes({qwen2_pattern})});
  v.push_back({{"smollm", "starcoder", "refact", "command-r", "codeshell", "exaone", "minerva-7b", "mellum2"},
               {},
               {SplitDigits{.individual = true}, ByteLevel{}}});
  v.push_back({{"gpt-4o", "llama4", "kanana2", "talkie", "minimax-m2"},
               {},
               split_then_bytes({words_by_case("(?i:'s|'t|'re|'ve|'m|'ll|'d)?", R"(\p{N}{1,3})")})});
  v.push_back({{"tekken"}, {}, split_then_bytes({words_by_case("", digit)}), true, true});
  v.push_back({{"deepseek-coder"},
               {},
               split_then_bytes({R"([\r\n])", R"(\s?\p{L}+)", R"(\s?\p{P}+)",
                                 "[\u4e00-\u9fa5\u0800-\u4e00\uac00-\ud7ff]+", digit})});
  v.push_back({{"seed-coder"},
               {},
               split_then_bytes({R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1}|)"
                                 R"( ?[^\s\p{L}\p{N}\r\n]+|\s*[\r\n]+|\s+(?!\S)|\s+)"})});
  v.push_back(
      {{"default"}, {}, split_then_bytes({R"([\p{P}\$\+<=>\^~\|]+)", gpt2_pattern, R"(\p{N}+)", "[0-9][0-9][0-9]"})});
  return v;
}

const std::vector<GgufPre>& list() {
  static const std::vector<GgufPre> all = make_list();
  return all;
}

}  // namespace

const GgufPre& gguf_pre(std::string_view name, const std::string& where) {
  std::vector<std::string> known;
  for (const GgufPre& p : list()) {
    if (std::find(p.names.begin(), p.names.end(), name) != p.names.end()) return p;
    known.insert(known.end(), p.names.begin(), p.names.end());
  }
  fail(where, fmt::format("the pre-tokenizer \"{}\" is not supported", printable(name, 60)),
       fmt::format("there are {}", fmt::join(known, ", ")));
}

std::string gguf_pre_name(const std::vector<NormalizerStep>& normalizers, const Steps& steps, bool ignore_merges) {
  for (const GgufPre& p : list())
    if (p.normalizers == normalizers && p.steps == steps && p.ignore_merges == ignore_merges) return p.names[0];
  return "";
}

}  // namespace tril
