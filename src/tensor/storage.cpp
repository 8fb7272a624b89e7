#include "tensor/storage.h"

namespace tril {

// An identity, like an address that is never reused: holds no state of any model. A thread takes many at a time: workers
// that made each tensor with one counter would wait for its cache line.
std::uint64_t next_storage_id() {
  constexpr std::uint64_t block = 1 << 12;
  static std::atomic<std::uint64_t> blocks{0};
  thread_local std::uint64_t used = block, first = 0;
  if (used == block) first = 1 + block * blocks.fetch_add(1, std::memory_order_relaxed), used = 0;
  return first + used++;
}

Storage* foreign_storage(std::byte* data, std::size_t bytes, std::shared_ptr<const void> keep) {
  auto* s = new Storage;
  s->data = data;
  s->bytes = bytes;
  s->id = next_storage_id();
  s->owner = new std::shared_ptr<const void>(std::move(keep));
  s->release = [](Storage* self) {
    delete static_cast<std::shared_ptr<const void>*>(self->owner);
    delete self;
  };
  return s;
}

Storage* foreign_storage(const std::byte* data, std::size_t bytes, std::shared_ptr<const void> keep) {
  Storage* s = foreign_storage(const_cast<std::byte*>(data), bytes, std::move(keep));  // not written: see Tensor::data
  s->writable = false;
  return s;
}

}  // namespace tril
