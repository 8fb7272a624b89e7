// Model directories of quantised weights. Where config.json has
//   "quantization_config": {"quant_method": "tril", "bits": 8 or 4, "group_size": 32}
// a matrix X [out, in] is in the files as whole numbers with scales (kern/gemm_int8.h):
//   8 bits: X I8 [out, in], X_scale F32 [out]
//   4 bits: X U8 [out, ceil(in / 2)], two values a byte, the first in the lower half, each + 8;
//           X_multiplier U8 [out, ceil(in / 32)], X_scale F32 [out]
// whichever way files of the family have X otherwise. Everything else is as without. What `--precision` makes of the
// original directory as it is loaded are the same numbers.
#pragma once

#include <filesystem>

#include "format/json_file.h"
#include "model/spec/model.h"
#include "model_io/model_source.h"
#include "model_io/weight_files.h"

namespace tril::model {

/// Bits that config.json says, 0 where it says nothing. Throws Error for what others' methods have stored.
int quantized_bits(const JsonObject& config);

/// A weight as the files have it.
struct StoredWeight {
  const WeightView *values = nullptr, *scales = nullptr, *multipliers = nullptr;
  bool transposed = false;  ///< values are [in, out]
  float added = 0;          ///< see StoredAs
  std::vector<std::int32_t> row_order = {};

  /// Whether floats lie in the file as the model has them.
  bool as_in_model() const { return !transposed && added == 0 && row_order.empty(); }

  int bits() const { return !scales ? 0 : multipliers ? 4 : 8; }  ///< 0: floats
};

/// The weight `p` of m, or no values where files may leave it out. Error where it is missing or of another shape, or
/// where a scale is none.
StoredWeight find_weight(const Model& m, const nn::Parameter& p, const WeightFiles& files);
/// Its values in float32, as the model has them.
std::vector<float> floats_of(const nn::Parameter& p, const StoredWeight& stored);
/// Error naming the weight where one of its values is an infinity or no number: fewer bits would make one of it.
void check_finite(const WeightFiles& files, const StoredWeight& stored, std::span<const float> values);

/// What is to be written for the values of a weight: the inverse of what reading does to them.
std::vector<float> values_to_store(std::span<const float> values, const Shape& shape, const StoredAs& stored);

/// [rows, columns] -> [columns, rows]
std::vector<float> transposed_values(std::span<const float> values, std::int64_t rows, std::int64_t columns);

/// Writes `from`, a model of weights in floats, to the directory `to` with matrices of `bits`, and what goes with a model
/// beside.
void quantize(const ModelSource& from, const std::filesystem::path& to, int bits);

}  // namespace tril::model
