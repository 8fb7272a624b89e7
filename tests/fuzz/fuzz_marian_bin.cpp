// libFuzzer: any bytes as a .bin of Marian's. An Error is fine; a crash, a hang or an access outside the file is not.
#include <cstddef>
#include <cstdint>
#include <string>

#include "base/error.h"
#include "format/marian_bin_file.h"
#include "memory_file.h"
#include "must.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    const std::string bytes(reinterpret_cast<const char*>(data), size);
    const auto file = tril::MarianBinFile::open(tril::fuzz::memory_file(bytes));
    for (const tril::WeightView& tensor : file.tensors()) {
      tril::fuzz::must(file.find(tensor.name) == &tensor, "a tensor is found by its name");
      const auto* const int8 = file.find_int8(tensor.name);
      if (int8)
        tril::fuzz::must(int8->values.size() == static_cast<std::size_t>(int8->rows * int8->columns), "all are there");
      try {
        const bool floats = is_floating(tensor.dtype) || tensor.dtype == tril::StoredType::blocks;
        const std::size_t values = floats ? to_f32(tensor).size() : to_i32(tensor).size();
        tril::fuzz::must(values == static_cast<std::size_t>(tensor.elements()), "values and shape agree");
        tril::fuzz::must(values <= size, "memory is bounded by the file");
      } catch (const tril::Error&) {  // a value that does not fit
      }
    }
  } catch (const tril::Error&) {
  }
  return 0;
}
