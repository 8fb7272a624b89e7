// The tape: a record of the forward pass that is walked backwards. An op records its inputs, its output and a
// closure that adds to the inputs' gradients. The closure captures exactly what the gradient needs (its capture list
// is the list of saved tensors); everything else is free as soon as the forward pass releases it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <new>
#include <span>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "tensor/id_map.h"
#include "tensor/tensor.h"

namespace tril {

class Context;

/// Gradients during a backward pass, found by the storage of the value that they belong to: the gradient of a view
/// is the same view of its storage's gradient.
class Grads {
 public:
  /// The destination of the gradient of x; empty if it is not wanted. With `accumulate` the destination holds a
  /// value to be added to; otherwise it is uninitialised and must be stored to.
  struct Target {
    Tensor grad;
    bool accumulate = false;
    explicit operator bool() const { return static_cast<bool>(grad); }
  };
  /// Call it once for each contribution: the next call for the same storage returns `accumulate`.
  Target into(Context& c, const Tensor& x);
  /// Uses dy's memory, which the caller gives up, as the gradient of x if there is none yet and the sizes agree.
  /// Otherwise returns false, and dy must still be added.
  bool hand_over(Context& c, const Tensor& x, const Tensor& dy);
  /// The gradient of x, or no tensor if there is none yet.
  Tensor get(const Tensor& x) const;

  /// Puts the gradient of `parameter` into `memory` (same size), from now on and for any number of backward passes.
  void bind(const Tensor& parameter, const Tensor& memory);
  /// Begins a new sum: the next contribution to each bound gradient is stored, not added; other gradients are
  /// discarded.
  void restart();
  /// Zeroes every bound gradient without a contribution since restart().
  void finish(Context& c);

  /// During the next backward pass only, calls `complete(parameter's id)` as soon as a gradient is complete (zeroed if
  /// nothing contributed), the last ones when the pass ends. It is used to send gradients while others are computed.
  void announce(std::function<void(std::uint64_t id)> complete) { complete_ = std::move(complete); }

 private:
  friend class Tape;
  struct Slot {
    Tensor memory;
    bool written = false, complete = false;
  };
  Slot* find(std::uint64_t id);
  const Slot* find(std::uint64_t id) const;
  void complete(Context& c, std::uint64_t id);

  IdMap<Slot> bound_;    // parameters: their memory stays
  IdMap<Slot> passing_;  // all others: memory is freed during the pass
  std::function<void(std::uint64_t)> complete_;
};

class Tape {
 public:
  Tape() = default;
  ~Tape() { clear(); }
  Tape(const Tape&) = delete;
  Tape& operator=(const Tape&) = delete;

  /// Requests the gradient of x, which is no op's result: a parameter or an input.
  void watch(const Tensor& x) { wanted_[x.id()] = not_used; }
  /// True if the gradient of x is wanted: x is watched, or depends on a watched tensor.
  bool wants(const Tensor& x) const { return x && wanted_.find(x.id()); }

  /// Records one op. `backward(Context&, const Tensor& dy, Grads&)` is kept only if an input's gradient is wanted; it
  /// owns dy and may overwrite it. It must contribute gradients only to `inputs`: the first op that uses a watched
  /// tensor is then the last in the backward pass to contribute, and after it the gradient is complete.
  template <class Backward>
  void record(std::string_view name, std::span<const Tensor* const> inputs, const Tensor& y, Backward backward) {
    bool any = false;
    for (const Tensor* x : inputs) any |= uses(*x);
    if (any) record_always(name, y, std::move(backward));
  }
  template <class Backward>
  void record(std::string_view name, std::initializer_list<const Tensor*> inputs, const Tensor& y, Backward backward) {
    record(name, std::span(inputs.begin(), inputs.size()), y, std::move(backward));
  }

  /// Records an op regardless of its inputs. It contributes no gradient to watched tensors, unless the tape
  /// leaves ops out.
  template <class Backward>
  void record_always(std::string_view name, const Tensor& y, Backward backward) {
    wanted_[y.id()] = made_here;
    static_assert(alignof(Backward) <= alignof(std::max_align_t));
    void* place = space(sizeof(Backward));
    new (place) Backward(std::move(backward));
    nodes_.push_back({name, y.id(), y.shape(), place,
                      [](void* p, Context& c, const Tensor& dy, Grads& d) { (*static_cast<Backward*>(p))(c, dy, d); },
                      [](void* p) { static_cast<Backward*>(p)->~Backward(); }});
    saved_bytes_ += sizeof(Backward);
  }

  /// Runs the backward pass from y, whose gradient is dy, releasing each node's tensors on the way; the tape is
  /// then empty.
  void backward(Context& c, const Tensor& y, const Tensor& dy, Grads& grads);

  /// Discards all records and the watched tensors.
  void clear();
  /// Starts recording with the same watched tensors as `other`: for a part that is recomputed within its backward pass.
  void watch_as(const Tape& other) { wanted_ = other.wanted_, inner_ = true; }
  /// Declares that some ops are recorded only when they are recomputed: gradients are then complete only at the
  /// end of the pass.
  void leave_out() { left_out_ = true; }

  std::size_t size() const { return nodes_.size(); }
  /// Bytes of recorded closures (the arena counts the tensors that they hold).
  std::size_t closure_bytes() const { return saved_bytes_; }

 private:
  struct Node {
    std::string_view name;
    std::uint64_t output;
    Shape shape;
    void* closure;
    void (*run)(void*, Context&, const Tensor&, Grads&);
    void (*destroy)(void*);
  };
  // True if a gradient of x is wanted; then the next recorded op counts as a use of x.
  bool uses(const Tensor& x) {
    std::int32_t* first = x ? wanted_.find(x.id()) : nullptr;
    if (first && *first == not_used) *first = static_cast<std::int32_t>(nodes_.size());
    return first != nullptr;
  }
  void* space(std::size_t bytes);
  std::vector<std::pair<std::int32_t, std::uint64_t>> watched_by_first_use() const;

  static constexpr std::int32_t not_used = -1, made_here = -2;

  std::vector<Node> nodes_;
  IdMap<std::int32_t> wanted_;  // for a watched tensor: the number of the node that first uses it
  bool inner_ = false, left_out_ = false;
  std::vector<std::unique_ptr<std::byte[]>> pages_;  // memory of closures; kept from step to step
  std::size_t page_ = 0, used_ = 0;
  std::size_t saved_bytes_ = 0;
};

}  // namespace tril
