#include "tensor/lasting.h"

#include <sys/mman.h>

namespace tril {

std::shared_ptr<std::byte> lasting_memory(std::size_t bytes) {
  const std::size_t mapped = bytes ? bytes : 1;
  void* p = mmap(nullptr, mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);  // zeroed by the system
  if (p == MAP_FAILED)
    fail("memory", fmt::format("there are no {} bytes for weights and what belongs to them", bytes),
         "choose a smaller model or fewer threads");
  madvise(p, mapped, MADV_HUGEPAGE);  // advice only
  return {static_cast<std::byte*>(p), [mapped](std::byte* q) { munmap(q, mapped); }};
}

Tensor lasting_zeros(std::int64_t n) {
  const auto memory = lasting_memory(static_cast<std::size_t>(n) * sizeof(float));
  return foreign_tensor(memory.get(), {n}, DType::f32, memory);
}

}  // namespace tril
