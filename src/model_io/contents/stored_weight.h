// A weight of a model as its files store it: under which name, in which layout, in floats or in tril's own 8 or 4 bits
// (quantize.h).
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "model/spec/model.h"
#include "model_io/contents/weight_files.h"

namespace tril::model {

/// A weight as stored in the files.
struct StoredWeight {
  const WeightView *values = nullptr, *scales = nullptr, *multipliers = nullptr;
  bool transposed = false;  ///< values are [in, out]
  float added = 0;          ///< as in StoredAs
  std::vector<std::int32_t> row_order = {};
  std::shared_ptr<const WeightView> part = {};  ///< owns the view `values` of a part of a tensor

  /// True if floats are stored exactly as in the model.
  bool as_in_model() const { return !transposed && added == 0 && row_order.empty(); }

  int bits() const { return !scales ? 0 : multipliers ? 4 : 8; }  ///< 0: floats
};

/// Finds the weight `p` of m; the result has no values if an optional weight is missing. @throws Error if a required weight is
/// missing, the shape differs or a scale is invalid
StoredWeight find_weight(const Model& m, const nn::Parameter& p, const WeightFiles& files);
/// Writes its values in float32, in the model's layout, to out [as many as the weight has].
void read_floats(const nn::Parameter& p, const StoredWeight& stored, std::span<float> out);
/// The same as a list.
std::vector<float> floats_of(const nn::Parameter& p, const StoredWeight& stored);
/// @throws Error naming the weight if a value is infinite or NaN, which quantisation would hide
void check_finite(const WeightFiles& files, const StoredWeight& stored, std::span<const float> values);
/// `rows` rows of a stored matrix of numbers, from row `first` on, under its name.
WeightView rows_of(const WeightView& matrix, std::int64_t first, std::int64_t rows);

/// The values to store for a weight: the inverse of the transformation on reading.
std::vector<float> values_to_store(std::span<const float> values, const Shape& shape, const StoredAs& stored);

/// The dimensions of a shape, the outermost first.
std::vector<std::int64_t> sizes_of(const Shape& shape);

/// The multipliers of a row of `in` values in 4 bits: one for every 32 values.
std::int64_t groups_of(std::int64_t in);
/// [rows, columns] -> [columns, rows]
std::vector<float> transposed_values(std::span<const float> values, std::int64_t rows, std::int64_t columns);

}  // namespace tril::model
