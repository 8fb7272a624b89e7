// The weights of a model by name. Modules declare what they need while they are constructed; the values come
// afterwards, from a seed or from a file, and lie in one flat block, so that an optimiser's step and a sum of gradients
// are one loop.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
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
  bool gathered = false;     ///< a table whose rows are read by number
  Tensor transposed, packed, packed_transposed;  ///< see ops::Weight
  ops::QuantizedMatrix quantized;
  std::shared_ptr<const Lora> lora;  ///< what is trained in its place
  bool is_adapter = false;           ///< half of such: no part of the model's files

  ops::Weight weight() const { return {value, transposed, packed, packed_transposed, quantized, shape}; }
};

/// What products compute with; sums and everything else are float32 in all. Only the first two train.
enum class Precision : std::uint8_t { fp32, bf16, int8, int4 };

/// Matrices over one input that serving keeps one below the other, so that one product takes the place of several.
struct Stack {
  std::vector<Parameter*> weights, biases;
  struct Part {
    ops::Weight weight;
    Tensor bias;
  };
  /// from[i]: matrix i and those below it. Empty in float32, and where the sizes do not fit.
  std::vector<Part> from;
};

/// A quantised matrix as files hold it (kern::PackQuantized says how).
struct QuantizedRows {
  int bits = 8;
  std::span<const std::uint8_t> rows, multipliers;
  std::span<const float> scales;
};

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
  /// Memory for serving alone, which is less: a matrix that products read exists only as they read it.
  void allocate_serving(Precision precision);
  /// What allocate_serving laid out, as one block that depends on nothing but the weights and the precision.
  std::span<const std::byte> serving_image() const { return image_; }
  /// Its bytes. Says, as those who call it go on to do, that the model serves in `precision`.
  std::size_t serving_bytes(Precision precision);
  /// Serves in `precision` out of such a block, which is only read: nothing is to be set, and no refresh() to follow.
  void adopt_serving_image(Precision precision, std::span<const std::byte> image, std::shared_ptr<const void> keep);
  /// Declares that matrices (and their biases, or none) are multiplied with one input.
  const Stack* stack(std::vector<Parameter*> weights, std::vector<Parameter*> biases);
  /// Gives a weight its values [shape], in whatever form there is memory for. refresh() is to follow.
  void set(const kern::Kernels& kernels, Parameter& p, std::span<const float> values);
  /// The same of a matrix that was quantised before, to be served at that precision.
  void set(const kern::Kernels& kernels, Parameter& p, const QuantizedRows& rows);
  /// Fills every weight as its Init says: a function of the seed and of each weight's name.
  /// @param each  called behind each weight; may be empty
  void initialise(std::uint64_t seed, const std::function<void(const Parameter&)>& each = {});
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
  /// Memory for the copies that products read, where it is missing; nothing of it is touched.
  /// @param small_pages  in any case anew, so that copies which are not needed at a time take no memory then (give_back())
  void make_copies(bool small_pages = false);
  /// Brings the copies of one weight up to date.
  void refresh(const kern::Kernels& kernels, const Parameter& p) const;
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
  static void pack(const kern::Kernels& kernels, Parameter& p, const kern::PackQuantized& rows,
                   std::span<const float> scales);
  void fill_stacked_biases(const kern::Kernels& kernels);
  // Bytes of the values, or of a serving model's matrices, which lie in `memory` if there is any.
  std::size_t place_values(const std::shared_ptr<std::byte>& memory);
  std::size_t place_matrices(const std::shared_ptr<std::byte>& memory);
  void place_image(const std::shared_ptr<std::byte>& memory, std::size_t bytes);
  bool keeps_value(const Parameter& p) const;
  std::vector<Stack*> usable_stacks();

  std::deque<Parameter> list_;
  std::deque<Stack> stacks_;
  bool serving_ = false;
  std::span<const std::byte> image_;
  Tensor flat_;
  Precision precision_ = Precision::fp32;
};

}  // namespace tril::nn
