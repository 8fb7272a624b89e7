#include "support/allocations.h"

#include <malloc.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <new>

namespace {

std::atomic<std::size_t> live{0}, peak{0}, largest{0}, allocations{0};

void raise_to(std::atomic<std::size_t>& most, std::size_t value) {
  for (std::size_t seen = most; seen < value && !most.compare_exchange_weak(seen, value);) {
  }
}

}  // namespace

void* operator new(std::size_t size) {
  void* const memory = std::malloc(std::max<std::size_t>(size, 1));
  if (!memory) throw std::bad_alloc();
  ++allocations;
  raise_to(largest, size);
  const std::size_t usable = ::malloc_usable_size(memory);
  raise_to(peak, live.fetch_add(usable) + usable);
  return memory;
}

void* operator new[](std::size_t size) {
  return operator new(size);
}

// Sanitizers replace these unless they are defined here, and the memory that they return could not be freed below.
void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
  try {
    return operator new(size);
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
}

void* operator new[](std::size_t size, const std::nothrow_t& tag) noexcept {
  return operator new(size, tag);
}

void operator delete(void* memory) noexcept {
  if (memory) live -= ::malloc_usable_size(memory);
  std::free(memory);
}

void operator delete[](void* memory) noexcept {
  operator delete(memory);
}
void operator delete(void* memory, std::size_t) noexcept {
  operator delete(memory);
}
void operator delete[](void* memory, std::size_t) noexcept {
  operator delete(memory);
}
void operator delete(void* memory, const std::nothrow_t&) noexcept {
  operator delete(memory);
}
void operator delete[](void* memory, const std::nothrow_t&) noexcept {
  operator delete(memory);
}

namespace tril::testing {

AllocationMeter::AllocationMeter() : live_at_start_(live), count_at_start_(allocations) {
  peak = live_at_start_;
  largest = 0;
}

std::size_t AllocationMeter::peak_bytes() const {
  return peak - std::min<std::size_t>(peak, live_at_start_);
}
std::size_t AllocationMeter::largest_bytes() const {
  return largest;
}
std::size_t AllocationMeter::count() const {
  return allocations - count_at_start_;
}

}  // namespace tril::testing
