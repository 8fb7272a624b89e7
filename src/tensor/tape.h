// The tape: what a forward pass did, so that it can be walked backwards. An op records its inputs, its output and a
// closure that adds to the inputs' gradients; the closure captures exactly what the gradient needs (its capture list is
// the list of saved tensors), and everything else is free as soon as the forward pass lets go of it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <new>
#include <string_view>
#include <type_traits>
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

 private:
  friend class Tape;
  struct Slot {
    Tensor memory;
    bool written = false;
  };
  Slot* find(std::uint64_t id);

  IdMap<Slot> bound_;    // parameters: their memory stays
  IdMap<Slot> passing_;  // everything else: memory goes as the walk passes
};

class Tape {
 public:
  Tape() = default;
  ~Tape() { clear(); }
  Tape(const Tape&) = delete;
  Tape& operator=(const Tape&) = delete;

  /// Asks for the gradient of x, which no op made: a parameter or an input.
  void watch(const Tensor& x) { wanted_[x.id()] = true; }
  bool wants(const Tensor& x) const { return x && wanted_.find(x.id()) != nullptr; }

  /// Records one op. `backward(Context&, const Tensor& dy, Grads&)` is kept only if an input's gradient is wanted; when
  /// it runs, dy belongs to it alone and may be overwritten.
  template <class Backward>
  void record(std::string_view name, std::initializer_list<const Tensor*> inputs, const Tensor& y, Backward backward) {
    bool any = false;
    for (const Tensor* x : inputs) any |= wants(*x);
    if (any) record_always(name, y, std::move(backward));
  }

  /// The same for an op whose closure finds out for itself whose gradients are wanted.
  template <class Backward>
  void record_always(std::string_view name, const Tensor& y, Backward backward) {
    wanted_[y.id()] = true;
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
  /// Starts recording anew with the same watched tensors as `other`: for a part that is recomputed.
  void watch_as(const Tape& other) { wanted_ = other.wanted_; }

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
  void* space(std::size_t bytes);

  std::vector<Node> nodes_;
  IdMap<bool> wanted_;
  std::vector<std::unique_ptr<std::byte[]>> pages_;  // closures lie here; kept from step to step
  std::size_t page_ = 0, used_ = 0;
  std::size_t saved_bytes_ = 0;
};

}  // namespace tril
