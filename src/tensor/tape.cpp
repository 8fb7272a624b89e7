#include "tensor/tape.h"

#include <algorithm>

#include "base/as_size.h"
#include "tensor/context.h"

namespace tril {

Grads::Slot* Grads::find(std::uint64_t id) {
  Slot* slot = bound_.find(id);
  return slot ? slot : passing_.find(id);
}

const Grads::Slot* Grads::find(std::uint64_t id) const {
  const Slot* slot = bound_.find(id);
  return slot ? slot : passing_.find(id);
}

Grads::Target Grads::into(Context& c, const Tensor& x) {
  if (!c.tape() || !c.tape()->wants(x)) return {};
  Slot* found = find(x.id());
  Slot& slot = found ? *found : passing_[x.id()];
  check(!slot.complete, "backward", "a gradient arrived after it was declared complete");
  if (!slot.memory) slot.memory = c.empty_vector(x.storage_bytes() / size_of(DType::f32));
  if (!slot.written && !x.covers_storage()) {
    c.kernels().fill(0.0f, slot.memory.data<float>(), as_size(slot.memory.count()));
    slot.written = true;
  }
  return {x.over(slot.memory), std::exchange(slot.written, true)};
}

bool Grads::hand_over(Context& c, const Tensor& x, const Tensor& dy) {
  if (!c.tape() || !c.tape()->wants(x)) return true;  // not wanted
  const Slot* slot = find(x.id());
  const bool free = !slot || !slot->memory;
  if (!free || !x.covers_storage() || !dy.covers_storage() || dy.storage_bytes() != x.storage_bytes()) return false;
  passing_[x.id()] = {dy.reshape({dy.count()}), true};
  return true;
}

Tensor Grads::get(const Tensor& x) const {
  const Slot* slot = find(x.id());
  return slot && slot->memory && slot->written ? x.over(slot->memory) : Tensor();
}

void Grads::bind(const Tensor& parameter, const Tensor& memory) {
  check(parameter.covers_storage() && memory.storage_bytes() == parameter.storage_bytes(), "Grads::bind",
        "a gradient of {} bytes for a parameter of {}", memory.storage_bytes(), parameter.storage_bytes());
  bound_[parameter.id()] = {memory, false};
}

void Grads::restart() {
  bound_.for_each([](std::uint64_t, Slot& s) { s.written = s.complete = false; });
  passing_.clear();
}

void Grads::finish(Context& c) {
  bound_.for_each([&](std::uint64_t, Slot& s) {
    if (std::exchange(s.written, true)) return;
    c.kernels().fill(0.0f, s.memory.data<float>(), as_size(s.memory.count()));
  });
}

void Grads::complete(Context& c, std::uint64_t id) {
  Slot* slot = bound_.find(id);
  if (!slot) return;  // of an input; the caller reads its gradient
  if (!slot->written) c.kernels().fill(0.0f, slot->memory.data<float>(), as_size(slot->memory.count()));
  slot->written = slot->complete = true;
  complete_(id);
}

// The watched tensors, the first used last. At the very end come those that no op uses or, if ops are left out, all of
// them.
std::vector<std::pair<std::int32_t, std::uint64_t>> Tape::watched_by_first_use() const {
  std::vector<std::pair<std::int32_t, std::uint64_t>> list;
  wanted_.for_each([&](std::uint64_t id, std::int32_t first) {
    if (first != made_here) list.emplace_back(left_out_ ? not_used : first, id);
  });
  std::sort(list.rbegin(), list.rend());
  return list;
}

void Tape::backward(Context& c, const Tensor& y, const Tensor& dy, Grads& grads) {
  check_shape(dy, y.shape(), "backward");
  check(c.tape() == this, "backward", "the context records on another tape");
  check_dense(y, DType::f32, "backward"), check_dense(dy, DType::f32, "backward: dy");
  check(wants(y), "backward", "the result depends on nothing whose gradient is wanted");
  Grads::Target start = grads.into(c, y);
  c.kernels().fill(0.0f, start.grad.data<float>(), as_size(start.accumulate ? 0 : y.count()));
  c.kernels().axpy(1.0f, dy.data<float>(), start.grad.data<float>(), as_size(y.count()));

  const bool announces = grads.complete_ && !inner_;
  const auto watched = announces ? watched_by_first_use() : decltype(watched_by_first_use())();
  auto next = watched.begin();
  for (std::size_t i = nodes_.size(); i-- > 0;) {
    Node& node = nodes_[i];
    if (Grads::Slot* slot = grads.find(node.output); slot && slot->memory && slot->written) {
      const Tensor grad = std::exchange(slot->memory, Tensor()).reshape(node.shape);
      slot->written = false;
      const auto at = c.scope(node.name);
      const auto time = c.timed(node.name, "backward", [] { return Work(); });
      node.run(node.closure, c, grad, grads);
    }
    node.destroy(node.closure);
    nodes_.pop_back();
    for (; next != watched.end() && next->first >= static_cast<std::int32_t>(i); ++next)
      grads.complete(c, next->second);
  }
  for (; next != watched.end(); ++next) grads.complete(c, next->second);
  if (announces) grads.complete_ = nullptr;
  clear();
  // Remaining gradients that are not bound belong to watched inputs: the caller reads them with get().
}

void Tape::clear() {
  for (std::size_t i = nodes_.size(); i-- > 0;) nodes_[i].destroy(nodes_[i].closure);
  nodes_.clear();
  wanted_.clear();
  page_ = used_ = saved_bytes_ = 0;
  inner_ = left_out_ = false;
}

void* Tape::space(std::size_t bytes) {
  constexpr std::size_t page_bytes = std::size_t{64} << 10;
  bytes = (bytes + alignof(std::max_align_t) - 1) / alignof(std::max_align_t) * alignof(std::max_align_t);
  check(bytes <= page_bytes, "Tape", "a closure of {} bytes; capture tensors, not values", bytes);
  if (used_ + bytes > page_bytes) ++page_, used_ = 0;
  if (page_ == pages_.size()) pages_.push_back(std::make_unique<std::byte[]>(page_bytes));
  void* p = pages_[page_].get() + used_;
  used_ += bytes;
  return p;
}

}  // namespace tril
