// libFuzzer: any bytes as a GGUF file. An Error is fine; a crash, a hang or an access outside the file is not.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

#include "base/error.h"
#include "format/gguf_parts.h"
#include "gguf_mutator.h"
#include "kern/gguf_blocks.h"
#include "memory_file.h"

namespace {

// Reads a key as every possible type.
void read_key(const tril::GgufFile& file, const std::string& key) {
  const auto attempt = [&]<class T>(T*) {
    try {
      if (!file.get<T>(key)) std::abort();
    } catch (const tril::Error&) {  // of another kind
    }
  };
  attempt(static_cast<bool*>(nullptr));
  attempt(static_cast<std::int64_t*>(nullptr));
  attempt(static_cast<double*>(nullptr));
  attempt(static_cast<std::string_view*>(nullptr));
  attempt(static_cast<std::vector<std::int64_t>*>(nullptr));
  attempt(static_cast<std::vector<double>*>(nullptr));
  attempt(static_cast<std::vector<std::string_view>*>(nullptr));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    const auto file = tril::open_gguf_parts(tril::fuzz::memory_file({reinterpret_cast<const char*>(data), size}));
    for (const tril::GgufEntry& entry : file.metadata()) read_key(file, entry.key);
    std::size_t bytes = 0;
    for (const tril::GgufTensor& tensor : file.tensors()) {
      bytes += tensor.bytes.size();
      if (file.find_tensor(tensor.name) != &tensor) std::abort();
      std::vector<float> values(static_cast<std::size_t>(tensor.elements()));
      tril::kern::dequantize_blocks(tensor.type, tensor.bytes.data(), values.size(), values.data());
    }
    if (bytes > size) std::abort();
  } catch (const tril::Error&) {
  }
  return 0;
}

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t most, unsigned seed) {
  static const std::vector<std::string> texts{"general.alignment", "general.architecture", "llama", "", "split.no",
                                              "split.count",       "split.tensors.count"};
  try {
    const auto file = tril::GgufFile::open(tril::fuzz::memory_file({reinterpret_cast<const char*>(data), size}));
    return tril::fuzz::GgufMutator(seed, texts)(file, data, size, most);
  } catch (const tril::Error&) {
    return LLVMFuzzerMutate(data, size, most);
  }
}
