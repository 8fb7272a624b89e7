// libFuzzer: any bytes as a GGUF file with a vocabulary. An Error is fine; what is accepted must encode and decode,
// must be the same tokenizer after it is written and read again, and must have files for a model directory.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "gguf_mutator.h"
#include "memory_file.h"
#include "must.h"
#include "tokenizer/files/gguf_vocabulary.h"
#include "tokenizer/files/tokenizer_json.h"

namespace {

using tril::fuzz::memory_file, tril::fuzz::must, tril::fuzz::must_read;

template <class T>
void put(std::string& bytes, T value) {
  bytes.append(reinterpret_cast<const char*>(&value), sizeof value);
}

std::string gguf_of(const tril::GgufMetadata& metadata) {
  std::string bytes = "GGUF";
  put<std::uint32_t>(bytes, 3);
  put<std::uint64_t>(bytes, 0);
  put<std::uint64_t>(bytes, metadata.count());
  bytes += metadata.bytes();
  bytes.append((32 - bytes.size() % 32) % 32, '\0');
  return bytes;
}

std::shared_ptr<const tril::Tokenizer> tokenizer_of(const tril::TokenizerDescription& d) {
  return tril::make_pipeline_tokenizer(d.parts, d.settings);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  constexpr std::string_view sample = "Hello,  W\xc3\xb6rld! 123\n\xe4\xb8\x96\xe7\x95\x8c <s> \xf0\x9f\x98\x80\xff x";
  try {
    const auto file = tril::GgufFile::open(memory_file({reinterpret_cast<const char*>(data), size}));
    const tril::TokenizerDescription d = tril::read_gguf_vocabulary(file);
    const auto tokenizer = tokenizer_of(d);
    const std::vector<std::int32_t> ids = tokenizer->encode(sample);
    must(tokenizer->encode(sample) == ids, "words that were seen before are the same tokens");
    const std::int64_t tokens = tokenizer->size(tril::Side::target);
    for (const std::int32_t id : ids) must(id >= 0 && id < tokens, "ids are of the vocabulary");
    const std::string text = tokenizer->decode(ids);
    for (const tril::TokenizerFile& f : tokenizer->files())
      if (f.name == "tokenizer.json")
        must_read("its own tokenizer.json", [&] { return tril::read_tokenizer_json(f.bytes, f.name); });
    const tril::GgufVocabulary written = tril::gguf_vocabulary(d, tokens);  // an Error: not expressible
    const auto copy = must_read("its own GGUF file", [&] {
      return tokenizer_of(tril::read_gguf_vocabulary(tril::GgufFile::open(memory_file(gguf_of(written.metadata)))));
    });
    must(copy->encode(sample) == ids && copy->decode(ids) == text, "a GGUF file makes the same tokenizer");
  } catch (const tril::Error&) {
  }
  return 0;
}

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t most, unsigned seed) {
  static const std::vector<std::string> texts{"gpt2",
                                              "llama",
                                              "llama-bpe",
                                              "qwen2",
                                              "default",
                                              "bert",
                                              "<unk>",
                                              "<s>",
                                              "</s>",
                                              "<0x41>",
                                              "\xe2\x96\x81",
                                              "\xc4\xa0H",
                                              "H e",
                                              "",
                                              "general.alignment",
                                              "tokenizer.ggml.model",
                                              "tokenizer.ggml.pre",
                                              "tokenizer.ggml.scores",
                                              "tokenizer.ggml.merges",
                                              "tokenizer.ggml.token_type",
                                              "tokenizer.ggml.tokens"};
  try {
    const auto file = tril::GgufFile::open(memory_file({reinterpret_cast<const char*>(data), size}));
    return tril::fuzz::GgufMutator(seed, texts)(file, data, size, most);
  } catch (const tril::Error&) {
    return LLVMFuzzerMutate(data, size, most);
  }
}
