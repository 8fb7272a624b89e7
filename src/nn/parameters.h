// The weights of a model by name. Modules declare what they need while they are constructed; the values come
// afterwards, from a seed or from a file, and lie in one flat block, so that an optimiser's step and a sum of gradients
// are one loop.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "nn/parameter.h"
#include "nn/serving.h"

namespace tril::nn {

class Parameters {
 public:
  Parameters() = default;
  Parameters(const Parameters&) = delete;
  Parameters& operator=(const Parameters&) = delete;

  /// Declares a weight; its address stays valid. The name must be new.
  Parameter& add(std::string name, Shape shape, Init init);
  Parameter* find(std::string_view name);
  const Parameter* find(std::string_view name) const;
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
  /// The bytes of such a block.
  std::size_t serving_bytes(Precision precision) const;
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
  Tensor& flat() { return flat_; }
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
  void refresh(const kern::Kernels& kernels, Parameter& p);
  /// Brings the copies for products up to date with the values: after loading, and after every step of an optimiser.
  void refresh(const kern::Kernels& kernels);
  /// The same for the weights whose turn it is when `part` of `parts` workers share the labour, after one of the whole.
  void refresh(const kern::Kernels& kernels, std::int64_t part, std::int64_t parts);

  /// Makes every trainable weight's gradient live in `gradients` ([trained_window().count], laid out as that part of
  /// flat()).
  void bind_gradients(Grads& grads, Tensor gradients) const;
  /// Asks the tape for every trainable weight's gradient.
  void watch(Tape& tape) const;

 private:
  // Of all values, or of those that a model which serves keeps in floats.
  std::size_t value_bytes(std::optional<Precision> serving) const;
  // Puts the values at the beginning of a block.
  void place_values(const TensorAt& at);
  // Begins to serve out of a block: values first, matrices behind them.
  void place_image(Precision precision, const TensorAt& at);

  std::deque<Parameter> list_;
  std::deque<Stack> stacks_;
  std::optional<Precision> serving_;  // of a model that only serves
  std::span<const std::byte> image_;
  Tensor flat_;
  Precision precision_ = Precision::fp32;
};

}  // namespace tril::nn
