// libFuzzer: any bytes as a file of torch.save(). An Error is fine; a crash, a hang or an access outside the file is not.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "base/error.h"
#include "format/pytorch_file.h"
#include "memory_file.h"
#include "support/raw_zip.h"

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t most);

namespace {

void read(const std::string& bytes) {
  try {
    const auto file = tril::PytorchFile::open(tril::fuzz::memory_file(bytes));
    for (const tril::WeightView& tensor : file.tensors()) {
      try {
        const std::size_t values = tril::is_floating(tensor.dtype) ? to_f32(tensor).size() : to_i32(tensor).size();
        if (values != static_cast<std::size_t>(tensor.elements()) || values > bytes.size()) std::abort();
      } catch (const tril::Error&) {  // a value that does not fit
      }
    }
  } catch (const tril::Error&) {
  }
}

}  // namespace

// The bytes as a file; and, so that mutations of pickles are not lost to the archive around them, as a pickle beside storages.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string bytes(reinterpret_cast<const char*>(data), size);
  read(bytes);
  const std::string values(256, '\1');
  read(tril::testing::raw_zip(
      {{"x/data.pkl", bytes}, {"x/data/0", values}, {"x/data/1", values}, {"x/data/2", values}}));
  return 0;
}
