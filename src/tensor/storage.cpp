#include "tensor/storage.h"

namespace tril {

std::uint64_t next_storage_id() {
  static std::atomic<std::uint64_t> next{
      1};  // an identity, like an address that is never reused: holds no state of any model
  return next.fetch_add(1, std::memory_order_relaxed);
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
