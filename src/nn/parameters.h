// The weights of a model by name. Modules declare their weights while they are constructed. The values come later,
// from a seed or a file, and form one flat block, so that an optimizer's step and a sum of gradients are one loop.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "nn/parameter.h"
#include "nn/serving.h"

namespace tril::nn {

class Parameters {
 public:
  Parameters() = default;
  Parameters(const Parameters&) = delete;
  Parameters& operator=(const Parameters&) = delete;

  /// Declares a weight; its address stays valid. The name must be new, and must not change.
  Parameter& add(std::string name, Shape shape, Init init);
  /// Null if there is no weight of this name.
  Parameter* find(std::string_view name);
  const Parameter* find(std::string_view name) const;
  std::deque<Parameter>& all() { return list_; }
  const std::deque<Parameter>& all() const { return list_; }
  std::int64_t count() const;  ///< number of values of all weights
  std::vector<std::string> names() const;

  /// Allocates every weight in one flat block of zeros; each begins at a multiple of 16 values.
  void allocate();
  /// Allocates memory for serving only, which is less: a matrix that products read exists only in their form.
  void allocate_serving(ServingForm form);
  /// The memory of allocate_serving() as one block, which depends only on the weights and the form.
  std::span<const std::byte> serving_image() const { return image_; }
  /// The size of such a block in bytes.
  std::size_t serving_bytes(ServingForm form) const;
  /// The memory that is really used, in bytes: without what compact matrices reserve for whole tiles, almost none of which is touched.
  std::size_t serving_memory(ServingForm form) const;
  /// Serves from such a read-only block: no weight may be set, and refresh() is not needed.
  void adopt_serving_image(ServingForm form, std::span<const std::byte> image, std::shared_ptr<const void> keep);
  /// Declares that matrices (and their biases, or none) are multiplied by the same input.
  const Stack* stack(std::vector<Parameter*> weights, std::vector<Parameter*> biases);
  /// Sets the values [shape] of a weight, in the form for which memory exists. Call refresh() afterwards.
  void set(const kern::Kernels& kernels, Parameter& p, std::span<const float> values);
  /// The same for a matrix that is already quantised and served at that precision.
  void set(const kern::Kernels& kernels, Parameter& p, const QuantizedRows& rows);
  /// The same for a matrix that is served in the blocks of its file. @throws Error if a scale is not finite
  void set(const kern::Kernels& kernels, Parameter& p, const BlockRows& rows);
  /// Sets some rows of a matrix for which is_set_in_parts(): from a multiple of 32, as many as a multiple of 32 or all that follow.
  void set_rows(const kern::Kernels& kernels, Parameter& p, std::int64_t row, std::span<const float> values);
  /// True if a weight is a matrix that is served only in panels of rows, of bf16 or of integers.
  bool is_set_in_parts(const Parameter& p) const;
  /// Initialises every weight by its Init, as a function of the seed and the weight's name.
  /// @param each  called after each weight; may be empty
  void initialise(std::uint64_t seed, const std::function<void(const Parameter&)>& each = {});
  /// The flat block [total], including padding between weights, which stays zero; none before allocate().
  const Tensor& flat() const { return flat_; }
  Tensor& flat() { return flat_; }
  /// The offset of a weight in the flat block.
  std::int64_t offset_of(const Parameter& p) const;

  /// The range of the flat block from the first trained weight to the last.
  struct Window {
    std::int64_t begin = 0, count = 0;
  };
  Window trained_window() const;

  /// Chooses the copies that refresh() makes; those of another precision are removed.
  void set_precision(Precision precision);
  Precision precision() const { return precision_; }
  /// The form in which the weights are stored for serving; that of the precision before allocate_serving().
  ServingForm serving_form() const { return serving_.value_or(ServingForm(precision_)); }
  /// Allocates missing memory for the copies that products read, without touching it.
  /// @param small_pages  always allocates anew, so that copies can be released while they are not needed
  /// (give_back())
  void make_copies(bool small_pages = false);
  /// Brings the copies of one weight up to date.
  void refresh(const kern::Kernels& kernels, Parameter& p);
  /// Updates the copies for products from the values: after loading, and after every step of an optimizer.
  void refresh(const kern::Kernels& kernels);
  /// The same for the share of worker `part` of `parts`; call it after a full refresh().
  void refresh(const kern::Kernels& kernels, std::int64_t part, std::int64_t parts);
  /// The same for some of the weights. Large matrices of bf16 are divided.
  void refresh(const kern::Kernels& kernels, std::span<Parameter* const> weights, std::int64_t part,
               std::int64_t parts);

  /// Puts every trainable weight's gradient into `gradients` ([trained_window().count], in the layout of that
  /// part of flat()).
  void bind_gradients(Grads& grads, Tensor gradients) const;
  /// Requests every trainable weight's gradient from the tape.
  void watch(Tape& tape) const;

 private:
  // The places of weights' floats in a block, in bytes: of all weights, or of those that a serving model keeps in floats.
  struct ValueLayout {
    std::vector<std::pair<std::size_t, std::size_t>> begins;  // index in list_, and where its floats begin
    std::size_t end = 0;
  };
  ValueLayout lay_out_values(std::optional<Precision> serving) const;
  void place_values(const ValueLayout& layout, const TensorAt& at);
  // The block of a serving model: values first, matrices after them.
  struct ImageLayout {
    ValueLayout values;
    ServingLayout matrices;
  };
  ImageLayout lay_out_image(ServingForm form) const;
  // Starts serving from such a block.
  void place_image(ServingForm form, const ImageLayout& layout, const TensorAt& at);

  std::deque<Parameter> list_;
  std::unordered_map<std::string_view, Parameter*> by_name_;  // keys are the names in list_
  std::deque<Stack> stacks_;
  std::optional<ServingForm> serving_;  // of a model that only serves
  std::span<const std::byte> image_;
  Tensor flat_;
  Precision precision_ = Precision::fp32;
};

}  // namespace tril::nn
