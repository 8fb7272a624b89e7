#include "tensor/lasting.h"

#include <sys/mman.h>

#include <algorithm>

#include "base/as_size.h"
#include "base/memory.h"

namespace tril {

std::shared_ptr<std::byte> lasting_memory(std::size_t bytes, std::size_t reserved) {
  const std::size_t mapped = bytes ? bytes : 1;
  const auto refuse = [&] {
    constexpr double gib = 1 << 30;
    fail("memory",
         fmt::format("the weights and their buffers need {:.1f} GiB, but this machine has {:.1f} GiB",
                     static_cast<double>(bytes) / gib, static_cast<double>(machine_bytes()) / gib),
         "choose a smaller model or fewer threads");
  };
  const auto refuse_share = [&] {
    fail("memory",
         fmt::format("the system does not grant the {:.1f} GiB of the weights and their buffers",
                     static_cast<double>(bytes) / (1 << 30)),
         "choose a smaller model or fewer threads, or raise ulimit -v");
  };
  // Some systems grant any amount of memory and kill the process when it uses it.
  if (bytes - reserved > machine_bytes()) refuse();
  const int flags = MAP_PRIVATE | MAP_ANONYMOUS | (reserved > 0 ? MAP_NORESERVE : 0);
  void* p = mmap(nullptr, mapped, PROT_READ | PROT_WRITE, flags, -1, 0);  // zeroed by the system
  if (p == MAP_FAILED) refuse_share();
  prefer_huge_pages(p, mapped);
  return {static_cast<std::byte*>(p), [mapped](std::byte* q) { munmap(q, mapped); }};
}

Tensor lasting_zeros(std::int64_t n, DType type) {
  const auto memory = lasting_memory(as_size(n) * size_of(type));
  return foreign_tensor(memory.get(), {n}, type, memory);
}

void give_back(std::span<std::byte> bytes) {
  const std::span<std::byte> pages = release_pages(bytes);
  const auto zero = [](std::byte* begin, std::byte* end) { std::fill(begin, end, std::byte{0}); };
  std::byte* const end = bytes.data() + bytes.size();
  if (pages.empty()) return zero(bytes.data(), end);
  zero(bytes.data(), pages.data());
  zero(pages.data() + pages.size(), end);
}

void use_small_pages(Tensor x) {
  void* const begin = x.dtype() == DType::u8 ? static_cast<void*>(x.data<std::uint8_t>()) : x.data<float>();
  prefer_small_pages(begin, x.bytes());
}

}  // namespace tril
