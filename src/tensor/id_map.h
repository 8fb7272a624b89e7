// A map from storage identities to small values that keeps its memory when it is cleared, so that a steady step
// allocates nothing.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

namespace tril {

template <class Value>
class IdMap {
 public:
  Value* find(std::uint64_t id) { return value_in(slots_, id); }
  const Value* find(std::uint64_t id) const { return value_in(slots_, id); }

  Value& operator[](std::uint64_t id) {
    if (Value* v = find(id)) return *v;
    if ((used_ + 1) * 2 > slots_.size()) grow();
    const std::size_t i = place(slots_, id);
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
  template <class F>
  void for_each(F&& f) const {
    for (const Slot& s : slots_)
      if (s.id) f(s.id, s.value);
  }

 private:
  struct Slot {
    std::uint64_t id = 0;  // 0: free
    Value value{};
  };
  // The index of the id, or of the free slot where it would go.
  static std::size_t place(const std::vector<Slot>& slots, std::uint64_t id) {
    std::size_t i = (id * 0x9e3779b97f4a7c15ull >> 20) & (slots.size() - 1);
    while (slots[i].id != id && slots[i].id != 0) i = (i + 1) & (slots.size() - 1);
    return i;
  }
  template <class Slots>
  static auto* value_in(Slots& slots, std::uint64_t id) {
    auto* const slot = slots.empty() ? nullptr : &slots[place(slots, id)];
    return slot && slot->id == id ? &slot->value : nullptr;
  }
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
