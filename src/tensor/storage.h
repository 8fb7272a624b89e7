// Reference-counted memory that tensors share. A storage has a unique identity (`id`) that is never reused in a
// process, so that a gradient can be found by it after the values are gone.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

namespace tril {

struct Storage {
  std::byte* data = nullptr;
  std::size_t bytes = 0;
  std::uint64_t id = 0;
  bool writable = true;
  std::atomic<std::uint32_t> references{1};
  void (*release)(Storage*) = nullptr;  ///< called when the last reference is dropped; frees data and this
  void* owner = nullptr;                ///< for release: the arena, or the object that keeps foreign memory alive
};

/// The next identity.
std::uint64_t next_storage_id();

/// A storage over memory with another owner (a mapped file, a slice of the flat parameters), kept alive by `keep`.
Storage* foreign_storage(std::byte* data, std::size_t bytes, std::shared_ptr<const void> keep);
/// The same over read-only memory.
Storage* foreign_storage(const std::byte* data, std::size_t bytes, std::shared_ptr<const void> keep);

/// A counted reference to a Storage.
class StorageRef {
 public:
  StorageRef() = default;
  /// Takes over the initial reference of a new storage.
  explicit StorageRef(Storage* fresh) : s_(fresh) {}
  StorageRef(const StorageRef& o) : s_(o.s_) {
    if (s_) s_->references.fetch_add(1, std::memory_order_relaxed);
  }
  StorageRef(StorageRef&& o) noexcept : s_(std::exchange(o.s_, nullptr)) {}
  StorageRef& operator=(StorageRef o) noexcept {
    std::swap(s_, o.s_);
    return *this;
  }
  ~StorageRef() {
    if (s_ && s_->references.fetch_sub(1, std::memory_order_acq_rel) == 1) s_->release(s_);
  }
  const Storage* operator->() const { return s_; }
  explicit operator bool() const { return s_ != nullptr; }

 private:
  Storage* s_ = nullptr;
};

}  // namespace tril
