// Reads attributes and weights of a CTranslate2 model. Each variable is used, or refused by name.
//
// An integer matrix X has a variable X_scale: values are integers / scale. With 8 bits there is a scale for each row; with 16
// bits one for the matrix, or 1000 if it is missing. Source: CTranslate2's src/models/model.cc and src/ops/dequantize_cpu.cc.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "format/ctranslate2_file.h"
#include "model_io/contents/weight_files.h"

namespace tril::model {

/// Rows [begin, begin + count) of a matrix, or values of a vector; count 0: all from `begin` on.
struct RowRange {
  std::int64_t begin = 0, count = 0;
};

class Ctranslate2Reader {
 public:
  /// @param mapped  true if the file is mapped, false if it was read into memory
  explicit Ctranslate2Reader(std::shared_ptr<const Ctranslate2File> file, bool mapped = true)
      : file_(std::move(file)), mapped_(mapped) {}

  const Ctranslate2File& file() const { return *file_; }
  bool has(const std::string& name) const { return file_->find(name) != nullptr; }
  std::string place_of(const std::string& name) const;
  [[noreturn]] void fail_at(const std::string& name, const std::string& text, const std::string& hint = {}) const;

  /// The number of an attribute; nothing if it is absent.
  std::optional<double> number(const std::string& name);
  std::int64_t integer(const std::string& name, std::int64_t otherwise);
  bool flag(const std::string& name, bool otherwise) { return integer(name, otherwise ? 1 : 0) != 0; }
  std::string text(const std::string& name, const std::string& otherwise);
  /// @throws Error naming the attribute if it is present with another value
  void only(const std::string& name, double supported);
  /// The number of scopes "PREFIX0", "PREFIX1", ...: "encoder/layer_".
  std::int64_t count_scopes(const std::string& prefix) const;

  /// The shape of a required weight. @throws Error if it has another number of dimensions, or no values
  const std::vector<std::int64_t>& shape(const std::string& name, std::size_t dimensions) const;
  /// True if both names are aliases of one variable.
  bool same(const std::string& a, const std::string& b) const;

  /// A weight's values as floats, integers times 1 / scale. The view may outlive the reader, but not the file.
  WeightView values(const std::string& name, RowRange rows = {});
  /// Adds values(name) to the model's weights as `here`.
  void take(const std::string& name, const std::string& here, RowRange rows = {});
  void add(WeightView view, const std::string& here, const std::string& name);

  /// True if most matrix values have 8 bits.
  bool is_int8() const;
  /// The model's weights, and the file's names for them. @throws Error naming a variable that was not read
  WeightFiles finish();

 private:
  const WeightView& at(const std::string& name) const;
  const WeightView& use(const std::string& name);

  std::shared_ptr<const Ctranslate2File> file_;
  bool mapped_;
  std::set<std::string> used_;  // the names of variables, not of aliases
  std::vector<StoredTensor> tensors_;
  std::map<std::string, std::string, std::less<>> own_names_;
};

/// A view of values that are computed when they are read. @param form  its type in messages
WeightView made_view(std::vector<std::int64_t> shape, std::string form, std::function<void(std::span<float>)> read);
/// A view of one value, repeated.
WeightView constant_view(std::vector<std::int64_t> shape, float value);
/// The values of `view` [n, width] or [n], extended to `rows` rows: `before` rows come before them, the others after them; all
/// added values are `rest`.
WeightView padded_view(const WeightView& view, std::int64_t before, std::int64_t rows, float rest);
/// [rows, columns] as [columns, rows].
WeightView turned_view(const WeightView& view);

}  // namespace tril::model
