// The tape: what a forward pass did, so that it can be walked backwards. An op records its inputs, its output and a
// closure that adds to the inputs' gradients; the closure captures exactly what the gradient needs (its capture list is
// the list of saved tensors), and everything else is free as soon as the forward pass lets go of it.
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

/// Gradients during a backward walk, found by the storage of the value that they belong to: a view's gradient is the
/// same view of its storage's gradient.
class Grads {
 public:
  /// Where to put the gradient of x: nothing where nobody wants it. `accumulate` says that something stands there
  /// already and is to be added to; otherwise the memory is uninitialised and is to be stored to.
  struct Target {
    Tensor grad;
    bool accumulate = false;
    explicit operator bool() const { return static_cast<bool>(grad); }
  };
  /// To be called once for each contribution: the next call for the same storage says `accumulate`.
  Target into(Context& c, const Tensor& x);
  /// Makes dy's memory, which its owner lets go of, the gradient of x, if nothing stands there yet and sizes agree;
  /// otherwise false, and dy is still to be added.
  bool hand_over(Context& c, const Tensor& x, const Tensor& dy);
  /// The gradient that stands for x, or no tensor where none has come.
  Tensor get(const Tensor& x) const;

  /// The gradient of `parameter` shall live in `memory` (same size), from now on and through any number of backward
  /// walks.
  void bind(const Tensor& parameter, const Tensor& memory);
  /// Begins a new sum: the next contribution to each bound gradient is stored, not added; other gradients are
  /// forgotten.
  void restart();
  /// Zeroes every bound gradient that got no contribution since restart().
  void finish(Context& c);

  /// During the next backward walk, and no other: `complete(parameter's id)` as soon as its gradient is all there, zeroed
  /// where nothing came; the last ones when the walk ends. For those who send gradients on while others are computed.
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
  IdMap<Slot> passing_;  // everything else: memory goes as the walk passes
  std::function<void(std::uint64_t)> complete_;
};

class Tape {
 public:
  Tape() = default;
  ~Tape() { clear(); }
  Tape(const Tape&) = delete;
  Tape& operator=(const Tape&) = delete;

  /// Asks for the gradient of x, which no op made: a parameter or an input.
  void watch(const Tensor& x) { wanted_[x.id()] = not_used; }
  /// Whether the gradient of x is wanted: x is watched, or comes of what is.
  bool wants(const Tensor& x) const { return x && wanted_.find(x.id()); }

  /// Records one op. `backward(Context&, const Tensor& dy, Grads&)` is kept only if an input's gradient is wanted; when
  /// it runs, dy belongs to it alone and may be overwritten. It gives gradients to `inputs` alone: the first op that uses a
  /// watched tensor is the last in the walk back, behind which its gradient is complete.
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

  /// Records an op regardless of its inputs. It gives no gradient to watched tensors, unless the tape leaves ops out.
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

  /// Walks back from y, whose gradient is dy, letting go of each node's tensors as it passes; the tape is then empty.
  void backward(Context& c, const Tensor& y, const Tensor& dy, Grads& grads);

  /// Forgets everything recorded, and what was watched.
  void clear();
  /// Starts recording anew with the same watched tensors as `other`: for a part that is recomputed, within its walk.
  void watch_as(const Tape& other) { wanted_ = other.wanted_, inner_ = true; }
  /// Says that ops are left out and recorded only when they are recomputed: gradients are complete at the walk's end.
  void leave_out() { left_out_ = true; }

  std::size_t size() const { return nodes_.size(); }
  /// Bytes of closures recorded (the tensors that they hold are in the arena's own count).
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
  // The op that is recorded next gives x a gradient if it is wanted, which is the answer.
  bool uses(const Tensor& x) {
    std::int32_t* first = x ? wanted_.find(x.id()) : nullptr;
    if (first && *first == not_used) *first = static_cast<std::int32_t>(nodes_.size());
    return first != nullptr;
  }
  void* space(std::size_t bytes);
  std::vector<std::pair<std::int32_t, std::uint64_t>> watched_by_first_use() const;

  static constexpr std::int32_t not_used = -1, made_here = -2;

  std::vector<Node> nodes_;
  IdMap<std::int32_t> wanted_;  // the number of the node that first uses it, if it is watched
  bool inner_ = false, left_out_ = false;
  std::vector<std::unique_ptr<std::byte[]>> pages_;  // closures lie here; kept from step to step
  std::size_t page_ = 0, used_ = 0;
  std::size_t saved_bytes_ = 0;
};

}  // namespace tril
