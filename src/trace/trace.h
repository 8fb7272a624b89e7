// Trace: the values that one pass computed, by the names of their points, in the order of computation.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "tensor/tensor.h"

namespace tril::trace {

struct Value {
  std::string name;
  std::vector<std::int64_t> shape;
  DType type = DType::f32;  ///< f32; i32 for ids; u8 for masks
  std::vector<std::byte> bytes;
  std::string source = {};  ///< the line that computes it: "src/nn/attention.cpp:221"; "": not known

  std::int64_t count() const;
  std::vector<float> floats() const;       ///< of every type
  std::vector<std::int32_t> ints() const;  ///< of ids and masks
};

class Trace {
 public:
  static constexpr std::int64_t default_bytes = std::int64_t{1} << 30;
  explicit Trace(std::int64_t most_bytes = default_bytes) : most_bytes_(most_bytes) {}
  /// A trace that keeps names, shapes and types, but no bytes.
  static Trace of_shapes() {
    Trace trace;
    trace.keeps_values_ = false;
    return trace;
  }

  /// Keeps a copy of x. A point that is passed again replaces its value.
  /// @param heads  the columns are those of so many heads: [N, heads * d] becomes [N, heads, d]; 0: of no heads
  /// @param source  Value::source
  /// @throws Error(usage) if the trace would grow beyond its bytes
  void add(const std::string& name, const Tensor& x, std::int64_t heads = 0, std::string source = {});
  void add(Value value);
  /// @throws Error(usage) if `bytes` more, which are computed for this value, would exceed the trace's bytes
  void ask(const std::string& name, std::int64_t bytes) const;

  const std::vector<Value>& values() const { return values_; }
  const Value* find(std::string_view name) const;
  /// @throws Error(usage) naming the nearest point if there is none
  const Value& at(std::string_view name) const;
  std::int64_t bytes() const { return bytes_; }

 private:
  std::int64_t most_bytes_, bytes_ = 0;
  bool keeps_values_ = true;
  std::vector<Value> values_;
  std::map<std::string, std::size_t, std::less<>> places_;
};

}  // namespace tril::trace
