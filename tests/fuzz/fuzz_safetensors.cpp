// libFuzzer: any bytes as a safetensors file. An Error is fine; a crash, a hang or an access outside the file is not.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>

#include "base/error.h"
#include "format/safetensors.h"
#include "memory_file.h"
#include "support/json_mutator.h"

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t most);

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    const auto file = tril::SafetensorsFile::open(tril::fuzz::memory_file({reinterpret_cast<const char*>(data), size}));
    std::size_t bytes = 0;
    for (const tril::WeightView& tensor : file.tensors()) {
      bytes += tensor.bytes.size();
      if (file.find(tensor.name) != &tensor) std::abort();
      try {
        const std::size_t values = tril::is_floating(tensor.dtype) ? to_f32(tensor).size() : to_i32(tensor).size();
        if (values != static_cast<std::size_t>(tensor.elements())) std::abort();
      } catch (const tril::Error&) {  // a value that does not fit
      }
    }
    if (bytes > size) std::abort();
  } catch (const tril::Error&) {
  }
  return 0;
}

// Every second mutation changes the header as JSON, and corrects its length.
extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t most, unsigned seed) {
  static const std::vector<std::string> texts{"dtype", "shape", "data_offsets", "__metadata__", "format",        "pt",
                                              "F64",   "F32",   "F16",          "BF16",         "I64",           "I32",
                                              "I8",    "U8",    "BOOL",         "F8_E4M3",      "w.weight_scale"};
  std::uint64_t length = 0;
  if (size < sizeof length || seed % 2 == 0) return LLVMFuzzerMutate(data, size, most);
  std::memcpy(&length, data, sizeof length);
  if (length > size - sizeof length) return LLVMFuzzerMutate(data, size, most);
  const std::size_t rest = size - sizeof length - length;
  std::vector<std::uint8_t> header(most - sizeof length - rest);
  if (header.size() < length) return LLVMFuzzerMutate(data, size, most);
  std::copy_n(data + sizeof length, length, header.begin());
  const std::vector<std::uint8_t> values(data + sizeof length + length, data + size);
  length = tril::test::JsonMutator(seed / 2, texts, LLVMFuzzerMutate)(header.data(), length, header.size());
  std::memcpy(data, &length, sizeof length);
  std::copy_n(header.begin(), length, data + sizeof length);
  std::copy(values.begin(), values.end(), data + sizeof length + length);
  return sizeof length + length + rest;
}
