// libFuzzer: any bytes as a safetensors file. An Error is fine; a crash, a hang or an access outside the file is not.
#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "base/error.h"
#include "model/safetensors.h"

namespace {

// A file in memory, the same one for all runs.
int memory_file() {
  static const int descriptor = ::memfd_create("fuzz", 0);
  return descriptor;
}

bool put(const std::uint8_t* data, std::size_t size) {
  if (::ftruncate(memory_file(), 0) != 0) return false;
  return ::pwrite(memory_file(), data, size, 0) == static_cast<ssize_t>(size);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (!put(data, size)) return 0;
  try {
    const auto file = tril::SafetensorsFile::open("/proc/self/fd/" + std::to_string(memory_file()));
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
