// Reads attributes and weights of a CTranslate2 model. Nothing in it goes unnoticed: each variable is used, or refused by name.
//
// A matrix of integers has its scale beside it, under its name with "_scale": X = integers / scale, one scale for each row of 8 bits,
// and one for all of 16 bits (1000 where there is none). Source: CTranslate2's src/models/model.cc and src/ops/dequantize_cpu.cc.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "format/ctranslate2_file.h"
#include "model_io/weight_files.h"

namespace tril::model {

/// Rows [begin, begin + count) of a matrix, or values of a vector; count 0: all from `begin` on.
struct RowRange {
  std::int64_t begin = 0, count = 0;
};

class Ctranslate2Reader {
 public:
  /// @param mapped  whether its bytes lie in a file, not in memory
  explicit Ctranslate2Reader(std::shared_ptr<const Ctranslate2File> file, bool mapped = true)
      : file_(std::move(file)), mapped_(mapped) {}

  const Ctranslate2File& file() const { return *file_; }
  bool has(const std::string& name) const { return file_->find(name) != nullptr; }
  std::string place_of(const std::string& name) const;
  [[noreturn]] void fail_at(const std::string& name, const std::string& text, const std::string& hint = {}) const;

  /// The one number of an attribute; nothing where it is absent.
  std::optional<double> number(const std::string& name);
  std::int64_t integer(const std::string& name, std::int64_t otherwise);
  bool flag(const std::string& name, bool otherwise) { return integer(name, otherwise ? 1 : 0) != 0; }
  std::string text(const std::string& name, const std::string& otherwise);
  /// @throws Error naming the attribute if it is there with another value
  void only(const std::string& name, double supported);
  /// The number of scopes "PREFIX0", "PREFIX1", ...: "encoder/layer_".
  std::int64_t count_scopes(const std::string& prefix) const;

  /// The shape of a weight that must be there. @throws Error if it has another number of dimensions, or no values
  const std::vector<std::int64_t>& shape(const std::string& name, std::size_t dimensions) const;
  /// Whether both names are one variable.
  bool same(const std::string& a, const std::string& b) const;

  /// A weight's values as floats, integers times 1 / scale. It outlives the reader, not the file.
  WeightView values(const std::string& name, RowRange rows = {});
  /// Adds values(name) to tensors() as `here`.
  void take(const std::string& name, const std::string& here, RowRange rows = {});
  void add(WeightView view, const std::string& here, const std::string& name);

  /// Whether most of the values of matrices have 8 bits.
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

/// A view of values that are made when they are read. @param form  what it is called in messages
WeightView made_view(std::vector<std::int64_t> shape, std::string form, std::function<void(std::span<float>)> read);
/// `count` times the same value.
WeightView constant_view(std::vector<std::int64_t> shape, float value);
/// The values of `view` [rows, width] or [rows], in the middle of others: `before` rows and what is missing to `rows` are `rest`.
WeightView padded_view(const WeightView& view, std::int64_t before, std::int64_t rows, float rest);
/// [rows, columns] as [columns, rows].
WeightView turned_view(const WeightView& view);

}  // namespace tril::model
