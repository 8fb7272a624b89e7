// libFuzzer: any bytes as a .npz. An Error is fine; a crash, a hang or an access outside the file is not.
#include <cstddef>
#include <cstdint>
#include <string>

#include "base/error.h"
#include "format/npz_file.h"
#include "memory_file.h"
#include "must.h"
#include "support/raw_zip.h"

namespace {

void read(const std::string& bytes) {
  try {
    const auto file = tril::NpzFile::open(tril::fuzz::memory_file(bytes));
    for (const tril::WeightView& tensor : file.tensors()) {
      try {
        const bool floats = is_floating(tensor.dtype) || tensor.dtype == tril::StoredType::blocks;
        const std::size_t values = floats ? to_f32(tensor).size() : to_i32(tensor).size();
        tril::fuzz::must(values == static_cast<std::size_t>(tensor.elements()), "values and shape agree");
        tril::fuzz::must(values <= 64 * bytes.size(), "memory is bounded by the file");
      } catch (const tril::Error&) {  // a value that does not fit
      }
    }
  } catch (const tril::Error&) {
  }
}

}  // namespace

// The bytes as a file; and, so that mutations of headers are not lost to the archive around them, as an array in an archive.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string bytes(reinterpret_cast<const char*>(data), size);
  read(bytes);
  read(tril::testing::raw_zip({{"a.npy", bytes}}));
  return 0;
}
