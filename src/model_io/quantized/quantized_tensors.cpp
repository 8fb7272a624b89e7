#include "model_io/quantized/quantized_tensors.h"

#include <algorithm>

#include "base/error.h"
#include "base/half.h"
#include "base/half_rounding.h"
#include "base/printable.h"

namespace tril::model {

QuantizedTensors::QuantizedTensors(std::shared_ptr<const WeightFiles> stored) : stored_(std::move(stored)) {}

std::vector<std::string> QuantizedTensors::names_before(std::string_view ending) const {
  std::vector<std::string> found;
  for (const std::string& name : stored_->names())
    if (name.ends_with(ending)) found.push_back(name.substr(0, name.size() - ending.size()));
  return found;
}

const WeightView& QuantizedTensors::part(const std::string& name) {
  const WeightView& view = stored_->at(name);
  used_.insert(name);
  asked_.insert(&view);
  return view;
}

const WeightView* QuantizedTensors::find_part(const std::string& name) {
  const WeightView* const view = stored_->find(name);
  if (view) used_.insert(name), asked_.insert(view);
  return view;
}

const WeightView& QuantizedTensors::part(const std::string& name, StoredType type,
                                         const std::vector<std::int64_t>& shape) {
  const WeightView& view = part(name);
  if (view.dtype != type || view.shape != shape)
    fail_at(name, fmt::format("is {} [{}], expected {} [{}]", view.type_name(), fmt::join(view.shape, ", "),
                              name_of(type), fmt::join(shape, ", ")));
  return view;
}

void QuantizedTensors::drop(const std::string& name) {
  if (stored_->find(name)) used_.insert(name);
}

void QuantizedTensors::add(std::string name, std::vector<std::int64_t> shape, const WeightView& main,
                           std::function<void(std::span<float>)> read) {
  if (stored_->find(name) && name != main.name) fail_at(name, "exists both quantised and unquantised");
  if (const auto [at, is_new] = in_file_.emplace(name, main.name); !is_new)
    fail_at(main.name, fmt::format("and {} both give the matrix {}", printable(at->second), printable(name)));
  WeightView view{.name = std::move(name),
                  .dtype = StoredType::blocks,
                  .shape = std::move(shape),
                  .bytes = main.bytes,
                  .form = {},
                  .read = std::move(read)};
  StoredTensor& made = made_.emplace_back(StoredTensor{std::move(view), stored_->file_of(main.name)});
  for (const WeightView* part : asked_)
    if (part->name != main.name) made.further.push_back(part->bytes);
  asked_.clear();
}

void QuantizedTensors::fail_at(const std::string& name, const std::string& text) const {
  fail(stored_->find(name) ? stored_->place_of(name) : printable(name), text,
       "the weights and quantization_config belong to different models, or the file is damaged");
}

void QuantizedTensors::check_matrix(const WeightView& part) const {
  if (part.shape.size() != 2 || part.elements() == 0)
    fail_at(part.name, fmt::format("has the shape [{}], expected a matrix", fmt::join(part.shape, ", ")));
}

WeightFiles QuantizedTensors::finish(const std::string& form) && {
  for (StoredTensor& t : made_) t.view.form = form;
  for (const std::string& name : stored_->names()) {
    if (used_.contains(name)) continue;
    const WeightView& view = stored_->at(name);
    if (view.dtype == StoredType::f8_e4m3 || view.dtype == StoredType::f8_e8m0)
      fail_at(name, fmt::format("is {} and has no scales", view.type_name()));
    made_.push_back(stored_->tensor(name));
  }
  return WeightFiles({.where = made_.empty() ? std::string() : made_.front().file,
                      .tensors = std::move(made_),
                      .maps = stored_,
                      .name_in_file = name_in_file_of(std::move(in_file_))});
}

void round_to(StoredType type, std::span<float> products) {
  if (type == StoredType::f16)
    for (float& p : products) p = rounded_to_f16(p);
  else if (type == StoredType::bf16)
    for (float& p : products) p = bf16_to_f32(f32_to_bf16(p));
}

ScaleGrid grid_of(const QuantizedTensors& tensors, const WeightView& scales, std::int64_t rows, std::int64_t columns,
                  std::pair<std::int64_t, std::int64_t> block) {
  if (scales.elements() == 1) return {rows, columns, 1};
  const auto up = [](std::int64_t n, std::int64_t d) { return n / d + (n % d != 0); };
  if (scales.shape == std::vector<std::int64_t>{rows}) return {1, columns, 1};
  if (scales.shape.size() == 2) {
    const std::int64_t down = scales.shape[0], across = scales.shape[1];
    const auto [height, width] = block;
    if (height > 0 && width > 0 && down == up(rows, height) && across == up(columns, width))
      return {height, width, across};
    if (down > 0 && across > 0 && rows % down == 0 && columns % across == 0)
      return {rows / down, columns / across, across};
  }
  tensors.fail_at(scales.name, fmt::format("has the shape [{}], which does not fit a matrix [{}, {}]",
                                           fmt::join(scales.shape, ", "), rows, columns));
}

}  // namespace tril::model
