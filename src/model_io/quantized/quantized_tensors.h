// The tensors of a directory that another program quantised. The reader of a method replaces the parts of each matrix
// (numbers, scales, zero points, the order of groups) by one tensor of floats.
#pragma once

#include <algorithm>
#include <cassert>
#include <cstdint>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/as_size.h"
#include "model_io/contents/weight_files.h"

namespace tril::model {

class QuantizedTensors {
 public:
  explicit QuantizedTensors(std::shared_ptr<const WeightFiles> stored);

  /// The names that end in `ending`, without it, in order: "model.layers.0.mlp.up_proj" for ".qweight".
  std::vector<std::string> names_before(std::string_view ending) const;
  /// A part of a matrix. @throws Error if it is missing
  const WeightView& part(const std::string& name);
  const WeightView* find_part(const std::string& name);  ///< null if there is none
  /// The same with a required type and shape. @throws Error with the expected ones
  const WeightView& part(const std::string& name, StoredType type, const std::vector<std::int64_t>& shape);
  /// Drops an optional tensor that does not affect weights: scales of activations and of the cache.
  void drop(const std::string& name);

  /// Adds the matrix `name` of `shape`, whose values `read` computes from the parts: `main`, the largest, and those asked for
  /// since the matrix before.
  void add(std::string name, std::vector<std::int64_t> shape, const WeightView& main,
           std::function<void(std::span<float>)> read);

  bool has_made(std::string_view name) const { return in_file_.find(name) != in_file_.end(); }

  [[noreturn]] void fail_at(const std::string& name, const std::string& text) const;
  /// @throws Error unless a part has two dimensions
  void check_matrix(const WeightView& part) const;

  /// The matrices, and the tensors that are not parts of a matrix. @param form  the method's name
  /// @throws Error for an 8-bit float without a scale
  WeightFiles finish(const std::string& form) &&;

 private:
  std::shared_ptr<const WeightFiles> stored_;
  std::set<std::string> used_;
  std::set<const WeightView*> asked_;  // parts of the matrix that is added next
  std::vector<StoredTensor> made_;
  std::map<std::string, std::string, std::less<>> in_file_;
};

/// A number of a tensor's bytes, at any alignment.
template <class T>
T number_at(const WeightView& view, std::int64_t index) {
  T value;
  std::memcpy(&value, view.bytes.data() + index * std::int64_t{sizeof value}, sizeof value);
  return value;
}

/// Rounds products to F16 or BF16; does not change them for other types.
void round_to(StoredType type, std::span<float> products);

/// The scales of a matrix [rows, columns]: [rows / height, columns / width], rounded up.
struct ScaleGrid {
  std::int64_t height = 1, width = 1, across = 1;  ///< across: scales in a row
  std::int64_t index(std::int64_t row, std::int64_t column) const { return row / height * across + column / width; }
};

/// The grid of scales of a matrix: one for all, one for each row, for groups of a row's values, or for blocks.
/// @param block  height and width of the blocks, from the configuration; {0, 0}: they divide the matrix evenly
/// @throws Error naming the scales if their shape fits none of these
ScaleGrid grid_of(const QuantizedTensors& tensors, const WeightView& scales, std::int64_t rows, std::int64_t columns,
                  std::pair<std::int64_t, std::int64_t> block = {0, 0});

/// What stands at `run` of a matrix's row: the columns [begin, end) share the scale at index `at`.
struct ScaleRun {
  std::int64_t begin, end, at;
};
/// Calls visit(ScaleRun) for the runs of a row, in order.
template <class Visit>
void for_runs(const ScaleGrid& grid, std::int64_t row, std::int64_t columns, const Visit& visit) {
  for (std::int64_t begin = 0; begin < columns; begin += grid.width)
    visit(ScaleRun{begin, std::min(begin + grid.width, columns), grid.index(row, begin)});
}

/// Number `i` of a stream of numbers with `bits` bits, packed into 32-bit words word(0), word(1), ...; a number may span two
/// words.
template <class Word>
std::uint32_t packed_number(const Word& word, std::int64_t i, int bits) {
  const std::int64_t at = i * bits;
  const int from = static_cast<int>(at % 32);
  std::uint32_t value = word(at / 32) >> from;
  if (from + bits > 32) value |= word(at / 32 + 1) << (32 - from);
  return value & ((1u << bits) - 1u);
}

/// The first numbers of a stream of numbers with `bits` bits, at most 32: they are at most `bits` words.
template <class Word>
void unpack(const Word& word, int bits, std::span<std::int32_t> numbers) {
  assert(numbers.size() <= 32);
  const auto of = [&]<int b>() {
    for (std::int64_t i = 0; i < std::ssize(numbers); ++i)
      numbers[as_size(i)] = static_cast<std::int32_t>(packed_number(word, i, b));
  };
  switch (bits) {  // constant shifts are several times faster
    case 2:
      return of.template operator()<2>();
    case 4:
      return of.template operator()<4>();
    case 8:
      return of.template operator()<8>();
    default:
      for (std::int64_t i = 0; i < std::ssize(numbers); ++i)
        numbers[as_size(i)] = static_cast<std::int32_t>(packed_number(word, i, bits));
  }
}

}  // namespace tril::model
