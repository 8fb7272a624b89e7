#include "model_io/ctranslate2/ctranslate2_reader.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "base/as_size.h"
#include "base/error.h"
#include "base/printable.h"
#include "kern/kernels.h"
#include "model_io/contents/read_values.h"

namespace tril::model {
namespace {

constexpr float scale_of_old_int16 = 1000;
constexpr std::size_t longest_name = 4096;

// Values in a row.
std::int64_t width_of(const WeightView& view) {
  std::int64_t width = 1;
  for (std::size_t i = 1; i < view.shape.size(); ++i) width *= view.shape[i];
  return width;
}

template <class Integer>
void dequantise(std::span<const std::byte> bytes, std::span<const float> reciprocals, std::span<float> out) {
  const std::size_t width = out.size() / std::max<std::size_t>(reciprocals.size(), 1);
  for (std::size_t i = 0; i < out.size(); ++i) {
    Integer value;
    std::memcpy(&value, bytes.data() + i * sizeof value, sizeof value);
    out[i] = static_cast<float>(value) * reciprocals[i / width];
  }
}

}  // namespace

WeightView made_view(std::vector<std::int64_t> shape, std::string form, std::function<void(std::span<float>)> read) {
  return {.name = {},
          .dtype = StoredType::blocks,
          .shape = std::move(shape),
          .bytes = {},
          .form = std::move(form),
          .read = std::move(read)};
}

WeightView constant_view(std::vector<std::int64_t> shape, float value) {
  return made_view(std::move(shape), "made",
                   [value](std::span<float> out) { std::fill(out.begin(), out.end(), value); });
}

WeightView padded_view(const WeightView& view, std::int64_t before, std::int64_t rows, float rest) {
  std::vector<std::int64_t> shape = view.shape;
  shape[0] = rows;
  const std::int64_t skipped = before * width_of(view);
  WeightView padded = made_view(std::move(shape), fmt::format("{} extended", view.type_name()),
                                [view, skipped, rest](std::span<float> out) {
                                  std::fill(out.begin(), out.end(), rest);
                                  const auto begin = out.begin() + skipped;
                                  read_values(view, {begin, begin + view.elements()});
                                });
  padded.bytes = view.bytes;
  return padded;
}

WeightView turned_view(const WeightView& view) {
  const std::int64_t rows = view.shape.at(0), columns = view.shape.at(1);
  WeightView turned = made_view({columns, rows}, fmt::format("{} transposed", view.type_name()),
                                [view, rows, columns](std::span<float> out) {
                                  const std::vector<float> values = read_values(view);
                                  kern::best().transpose(values.data(), out.data(), as_size(rows), as_size(columns));
                                });
  turned.bytes = view.bytes;
  return turned;
}

std::string Ctranslate2Reader::place_of(const std::string& name) const {
  return fmt::format("{}: {}", printable(file_->path(), 400), printable(name, 200));
}

void Ctranslate2Reader::fail_at(const std::string& name, const std::string& text, const std::string& hint) const {
  fail(place_of(name), text, hint);
}

const WeightView& Ctranslate2Reader::at(const std::string& name) const {
  const WeightView* const found = file_->find(name);
  if (!found)
    fail(printable(file_->path(), 400), fmt::format("has no variable {}", printable(name, 200)),
         "the file is incomplete, or of another kind of model");
  return *found;
}

const WeightView& Ctranslate2Reader::use(const std::string& name) {
  const WeightView& found = at(name);
  used_.insert(found.name);
  return found;
}

std::optional<double> Ctranslate2Reader::number(const std::string& name) {
  if (!has(name)) return std::nullopt;
  const WeightView& v = use(name);
  if (v.elements() != 1) fail_at(name, fmt::format("has {} values, expected one", v.elements()));
  return is_floating(v.dtype) ? static_cast<double>(to_f32(v)[0]) : to_i32(v)[0];
}

std::int64_t Ctranslate2Reader::integer(const std::string& name, std::int64_t otherwise) {
  const std::optional<double> found = number(name);
  if (!found) return otherwise;
  if (!(std::abs(*found) < static_cast<double>(std::numeric_limits<std::int32_t>::max())) ||
      *found != std::floor(*found))
    fail_at(name, fmt::format("is {}, expected a whole number", *found));
  return static_cast<std::int64_t>(*found);
}

std::string Ctranslate2Reader::text(const std::string& name, const std::string& otherwise) {
  if (!has(name)) return otherwise;
  const WeightView& v = use(name);
  if (v.dtype != StoredType::i8 || v.bytes.size() > longest_name)
    fail_at(name, fmt::format("holds {} bytes as {}, expected a text", v.bytes.size(), v.type_name()));
  return {reinterpret_cast<const char*>(v.bytes.data()), v.bytes.size()};
}

void Ctranslate2Reader::only(const std::string& name, double supported) {
  if (const std::optional<double> found = number(name); found && *found != supported)
    fail_at(name, fmt::format("{} is not supported here", *found), fmt::format("only {} is", supported));
}

std::int64_t Ctranslate2Reader::count_scopes(const std::string& prefix) const {
  std::int64_t n = 0;
  const auto is_there = [&](const std::string& scope) {
    const auto& variables = file_->variables();
    const auto at = std::lower_bound(variables.begin(), variables.end(), scope,
                                     [](const WeightView& v, const std::string& wanted) { return v.name < wanted; });
    if (at != variables.end() && at->name.starts_with(scope)) return true;
    const auto alias = file_->aliases().lower_bound(scope);
    return alias != file_->aliases().end() && alias->first.starts_with(scope);
  };
  while (is_there(fmt::format("{}{}/", prefix, n))) ++n;
  return n;
}

const std::vector<std::int64_t>& Ctranslate2Reader::shape(const std::string& name, std::size_t dimensions) const {
  const WeightView& found = at(name);
  if (found.shape.size() != dimensions)
    fail_at(name, fmt::format("has {} dimensions, expected {}", found.shape.size(), dimensions));
  if (found.elements() == 0) fail_at(name, "has no values", "the file is damaged: get it again");
  return found.shape;
}

bool Ctranslate2Reader::same(const std::string& a, const std::string& b) const {
  const WeightView* const one = file_->find(a);
  return one && one == file_->find(b);
}

WeightView Ctranslate2Reader::values(const std::string& name, RowRange rows) {
  const WeightView& stored = use(name);
  if (stored.shape.empty()) fail_at(name, "is one number, expected a weight");
  const std::int64_t count = rows.count > 0 ? rows.count : stored.shape[0] - rows.begin;
  if (count <= 0 || rows.begin + count > stored.shape[0])
    fail_at(name,
            fmt::format("has {} rows, expected at least {}", stored.shape[0],
                        rows.begin + std::max<std::int64_t>(count, 1)),
            "the attributes and the weights belong to different models");
  WeightView view = stored;
  view.name.clear();
  view.shape[0] = count;
  const std::int64_t row = std::ssize(stored.bytes) / stored.shape[0];
  const auto begin = stored.bytes.begin() + rows.begin * row;
  view.bytes = {begin, begin + count * row};
  if (is_floating(stored.dtype)) return view;
  if (stored.dtype == StoredType::i32)
    fail_at(name, "holds 32-bit integers, in which AWQ packs 4-bit weights; these are not supported",
            "convert the original model without AWQ");

  // The scale has the variable's name, not the alias'.
  const std::string scale_name = stored.name + "_scale";
  std::vector<float> scales{scale_of_old_int16};
  if (has(scale_name)) {
    const WeightView& scale = use(scale_name);
    const bool fits = scale.shape.empty() || scale.shape == std::vector<std::int64_t>{stored.shape[0]};
    if (!is_floating(scale.dtype) || !fits)
      fail_at(scale_name, fmt::format("is {} [{}], expected a float for each of {} rows", scale.type_name(),
                                      fmt::join(scale.shape, ", "), stored.shape[0]));
    scales = to_f32(scale);
    if (!scale.shape.empty()) {
      const auto from = scales.begin() + rows.begin;
      scales = std::vector<float>(from, from + count);
    }
  } else if (stored.dtype == StoredType::i8) {
    fail_at(scale_name, "is missing, but the weight has 8 bits");
  }
  for (float& scale : scales) {
    if (!(scale > 0 && std::isfinite(scale)))
      fail_at(scale_name, fmt::format("holds {}, expected finite numbers above 0", scale), "the file is damaged");
    scale = 1 / scale;
  }
  view.form = std::string(name_of(stored.dtype));
  view.dtype = StoredType::blocks;
  const auto read = stored.dtype == StoredType::i8 ? dequantise<std::int8_t> : dequantise<std::int16_t>;
  view.read = [read, bytes = view.bytes, reciprocals = std::move(scales)](std::span<float> out) {
    read(bytes, reciprocals, out);
  };
  return view;
}

void Ctranslate2Reader::take(const std::string& name, const std::string& here, RowRange rows) {
  add(values(name, rows), here, name);
}

void Ctranslate2Reader::add(WeightView view, const std::string& here, const std::string& name) {
  view.name = here;
  own_names_.emplace(here, name);
  tensors_.push_back({std::move(view), file_->path()});
}

bool Ctranslate2Reader::is_int8() const {
  std::int64_t all = 0, small = 0;
  for (const WeightView& v : file_->variables()) {
    if (!v.name.ends_with("weight")) continue;
    all += v.elements();
    if (v.dtype == StoredType::i8) small += v.elements();
  }
  return 2 * small > all;
}

WeightFiles Ctranslate2Reader::finish() {
  for (const WeightView& v : file_->variables())
    if (!used_.contains(v.name))
      fail_at(v.name, fmt::format("is unknown in a {} of this kind", printable(file_->specification(), 80)),
              "ignoring it would change the results, so the model is refused");
  return WeightFiles({.where = file_->path(),
                      .tensors = std::move(tensors_),
                      .maps = file_,
                      .name_in_file = name_in_file_of(std::move(own_names_)),
                      .is_mapped = mapped_});
}

}  // namespace tril::model
