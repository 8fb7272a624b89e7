// A map from storage identities to small values that keeps its memory when it is cleared: a steady step allocates
// nothing.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

namespace tril {

template <class Value>
class IdMap {
 public:
  Value* find(std::uint64_t id) {
    if (slots_.empty()) return nullptr;
    for (std::size_t i = home(id);; i = (i + 1) & (slots_.size() - 1)) {
      if (slots_[i].id == id) return &slots_[i].value;
      if (slots_[i].id == 0) return nullptr;
    }
  }
  const Value* find(std::uint64_t id) const { return const_cast<IdMap*>(this)->find(id); }

  Value& operator[](std::uint64_t id) {
    if (Value* v = find(id)) return *v;
    if ((used_ + 1) * 2 > slots_.size()) grow();
    std::size_t i = home(id);
    while (slots_[i].id != 0) i = (i + 1) & (slots_.size() - 1);
    ++used_;
    slots_[i].id = id;
    return slots_[i].value;
  }

  void clear() {
    for (Slot& s : slots_) s = Slot{};
    used_ = 0;
  }

  template <class F>
  void for_each(F&& f) {
    for (Slot& s : slots_)
      if (s.id) f(s.id, s.value);
  }

 private:
  struct Slot {
    std::uint64_t id = 0;  // 0: free
    Value value{};
  };
  std::size_t home(std::uint64_t id) const { return (id * 0x9e3779b97f4a7c15ull >> 20) & (slots_.size() - 1); }
  void grow() {
    std::vector<Slot> old(slots_.empty() ? 64 : 2 * slots_.size());
    old.swap(slots_);
    used_ = 0;
    for (Slot& s : old)
      if (s.id) (*this)[s.id] = std::move(s.value);
  }
  std::vector<Slot> slots_;
  std::size_t used_ = 0;
};

}  // namespace tril
