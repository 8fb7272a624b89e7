// libFuzzer: any bytes as a file of ranks, or as a tekken.json. An Error is fine; what is accepted must encode into ids of
// its vocabulary, and decode to the text.
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "format/base64.h"
#include "must.h"
#include "support/json_mutator.h"
#include "tokenizer/files/pipeline_tokenizer.h"
#include "tokenizer/files/rank_vocabulary.h"
#include "tokenizer/files/tekken_tokenizer.h"

using tril::fuzz::must;

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t most);

namespace {

void use(const tril::TokenizerParts& parts, bool is_split) {
  constexpr std::string_view sample = "Hello,  W\xc3\xb6rld! 123\n\xe4\xb8\x96\xe7\x95\x8c \xf0\x9f\x98\x80 x";
  const auto tokenizer = tril::make_pipeline_tokenizer(parts, {});
  const std::vector<std::int32_t> ids = tokenizer->encode(sample);
  for (const std::int32_t id : ids)
    must(id >= 0 && id < tokenizer->size(tril::Side::target), "ids are of the vocabulary");
  // A special token may have any text, and its text is left out.
  if (!is_split) must(tokenizer->decode(ids) == sample, "the text comes back");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  try {
    use(tril::parse_tekken(text, "fuzz"), true);
  } catch (const tril::Error&) {
  }
  try {  // behind the bytes, without which every file is refused
    std::vector<tril::RankedToken> tokens = tril::parse_rank_lines(text, "fuzz");
    for (int b = 0; b < 256; ++b) tokens.push_back({std::string(1, static_cast<char>(b)), 1'000'000 + b});
    tril::TokenizerParts parts;
    parts.model = tril::parts_of_ranks(tokens, 0, "fuzz");
    parts.pre_tokenizers = {tril::ByteLevel{}};
    parts.decoders = {tril::DecodeByteLevel{}};
    use(parts, false);
  } catch (const tril::Error&) {
  }
  return 0;
}

// Half of the inputs are changed as JSON, half as bytes.
extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t most, unsigned seed) {
  static const std::vector<std::string> texts{"config",
                                              "pattern",
                                              "vocab",
                                              "rank",
                                              "token_bytes",
                                              "special_tokens",
                                              "token_str",
                                              "default_vocab_size",
                                              "default_num_special_tokens",
                                              "version",
                                              "v3",
                                              "v11",
                                              "QQ==",
                                              "QUE=",
                                              "(a|b)*",
                                              "\\p{L}+"};
  if (size > 0 && data[0] != '{') return LLVMFuzzerMutate(data, size, most);
  return tril::test::JsonMutator(seed, texts, LLVMFuzzerMutate)(data, size, most);
}
