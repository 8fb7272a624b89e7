// The weights of a model by name. Modules declare what they need while they are constructed; the values come
// afterwards, from a seed or from a file, and lie in one flat block, so that an optimiser's step and a sum of gradients
// are one loop.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "ops/ops.h"

namespace tril::nn {

/// How a weight starts out.
struct Init {
  enum class Kind : std::uint8_t { constant, normal, uniform } kind = Kind::constant;
  double value = 0;  ///< the constant, the standard deviation, or the bound of [-value, value]

  static Init zeros() { return {Kind::constant, 0}; }
  static Init ones() { return {Kind::constant, 1}; }
  static Init normal(double deviation) { return {Kind::normal, deviation}; }
  /// Uniform with variance 2 / (in + out) [Glorot & Bengio 2010, eq. 16].
  static Init xavier(std::int64_t in, std::int64_t out);
};

struct Lora;  // lora.h

struct Parameter {
  std::string name;
  Shape shape;
  Init init;
  std::int32_t zero_row = -1;  ///< a row that is zero and stays so (padding); -1: none
  bool trainable = true;
  bool hidden_matrix = false;  ///< of a linear layer between hidden states: what Muon steps
  Tensor value;
  bool in_products = false;  ///< a matrix [out, in] of linear maps: gets the copies that products read
  Tensor transposed, packed, packed_transposed;  ///< see ops::Weight
  std::shared_ptr<const Lora> lora;              ///< what is trained in its place
  bool is_adapter = false;                       ///< half of such: no part of the model's files

  ops::Weight weight() const { return {value, transposed, packed, packed_transposed}; }
};

/// What products compute with; weights, sums and everything else are float32 in both.
enum class Precision : std::uint8_t { fp32, bf16 };

class Parameters {
 public:
  Parameters() = default;
  Parameters(const Parameters&) = delete;
  Parameters& operator=(const Parameters&) = delete;

  /// Declares a weight; its address stays valid. The name must be new.
  Parameter& add(std::string name, Shape shape, Init init);
  Parameter* find(std::string_view name);
  std::deque<Parameter>& all() { return list_; }
  const std::deque<Parameter>& all() const { return list_; }
  std::int64_t count() const;  ///< how many values, all weights together
  std::vector<std::string> names() const;

  /// Memory for every weight, in one flat block, zeroed; each begins at a multiple of 16 values.
  void allocate();
  /// Fills every weight as its Init says: a function of the seed and of each weight's name.
  void initialise(std::uint64_t seed);
  /// The flat block [total], padding between weights included (it stays zero); none before allocate().
  const Tensor& flat() const { return flat_; }
  /// Where a weight begins in the flat block.
  std::int64_t offset_of(const Parameter& p) const;

  /// The stretch of the flat block from the first trained weight to the last.
  struct Window {
    std::int64_t begin = 0, count = 0;
  };
  Window trained_window() const;

  /// Decides which copies refresh() makes; those of another precision go.
  void set_precision(Precision precision);
  Precision precision() const { return precision_; }
  /// Brings the copies for products up to date with the values: after loading, and after every step of an optimiser.
  void refresh(const kern::Kernels& kernels);
  /// The same for the weights whose turn it is when `part` of `parts` workers share the labour, after one of the whole.
  void refresh(const kern::Kernels& kernels, std::int64_t part, std::int64_t parts);

  /// Makes every trainable weight's gradient live in `gradients` ([trained_window().count], laid out as that part of
  /// flat()).
  void bind_gradients(Grads& grads, const Tensor& gradients) const;
  /// Asks the tape for every trainable weight's gradient.
  void watch(Tape& tape) const;

 private:
  void make_copies();  // memory for them, where it is missing

  std::deque<Parameter> list_;
  Tensor flat_;
  Precision precision_ = Precision::fp32;
};

}  // namespace tril::nn
