// libFuzzer: any bytes as a tokenizer.json. An Error is fine; what is accepted must encode into ids of its vocabulary,
// decode, and be the same tokenizer after it is written and read again.
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "must.h"
#include "support/json_mutator.h"
#include "tokenizer/files/tokenizer_json.h"

using tril::fuzz::must;

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t most);

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  constexpr std::string_view sample = "Hello,  W\xc3\xb6rld! 123\n\xe4\xb8\x96\xe7\x95\x8c <s> \xf0\x9f\x98\x80\xff x";
  try {
    const auto parts = tril::read_tokenizer_json({reinterpret_cast<const char*>(data), size}, "fuzz");
    const auto tokenizer = tril::make_pipeline_tokenizer(parts, {});
    const std::vector<std::int32_t> ids = tokenizer->encode(sample);
    must(tokenizer->encode(sample) == ids, "words that were seen before are the same tokens");
    for (const std::int32_t id : ids)
      must(id >= 0 && id < tokenizer->size(tril::Side::target), "ids are of the vocabulary");
    const std::string text = tokenizer->decode(ids);
    const std::string written = tril::tokenizer_json(parts);
    const auto copy = tril::fuzz::must_read("its own tokenizer.json " + written, [&] {
      return tril::make_pipeline_tokenizer(tril::read_tokenizer_json(written, "again"), {});
    });
    must(copy->encode(sample) == ids && copy->decode(ids) == text, "tokenizer.json makes the same tokenizer");
  } catch (const tril::Error&) {
  }
  return 0;
}

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t most, unsigned seed) {
  static const std::vector<std::string> texts{
      "type",          "BPE",          "Unigram",        "WordPiece",     "ByteLevel",      "Metaspace",
      "Sequence",      "Split",        "Regex",          "String",        "Replace",        "NFKC",
      "Lowercase",     "Strip",        "Prepend",        "Precompiled",   "BertNormalizer", "BertPreTokenizer",
      "Whitespace",    "Digits",       "Punctuation",    "Isolated",      "Removed",        "MergedWithPrevious",
      "always",        "first",        "never",          "ByteFallback",  "Fuse",           "TemplateProcessing",
      "byte_fallback", "unk_token",    "unk_id",         "ignore_merges", "normalizer",     "pre_tokenizer",
      "decoder",       "behavior",     "post_processor", "dropout",       "fuse_unk",       "continuing_subword_prefix",
      "<0x41>",        "\xe2\x96\x81", "(a|b)*",         "(a+)+$",        "[^\\s]+|\\s",    "\\p{L}+"};
  return tril::test::JsonMutator(seed, texts, LLVMFuzzerMutate)(data, size, most);
}
