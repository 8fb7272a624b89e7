#include "model_io/marian/marian_weights.h"

#include <algorithm>
#include <array>
#include <deque>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "base/as_size.h"
#include "base/error.h"
#include "base/printable.h"
#include "kern/kernels.h"
#include "model_io/contents/read_values.h"
#include "model_io/marian/marian_config.h"
#include "model_io/marian/marian_names.h"

namespace tril::model {
namespace {

constexpr float impossible = -1e9f;  // as a logit

// True for arrays that are not weights: texts, and intgemm8's measured scales of activations. tril computes a scale for each
// row of activations.
bool says_no_value(std::string_view name) {
  return name.starts_with("special:") || name.ends_with("_QuantMultA");
}

// A weight whose values are computed from the stored ones.
WeightView made(const WeightView& stored, std::vector<std::int64_t> shape, const char* how,
                std::function<void(std::span<float>)> read) {
  return {.name = {},
          .dtype = StoredType::blocks,
          .shape = std::move(shape),
          .bytes = stored.bytes,
          .form = fmt::format("{} {}", stored.type_name(), how),
          .read = std::move(read)};
}

void transpose(const WeightView& stored, std::span<float> out) {
  const std::vector<float> values = read_values(stored);
  kern::best().transpose(values.data(), out.data(), as_size(stored.shape[0]), as_size(stored.shape[1]));
}

WeightView transposed(const WeightView& stored) {
  return made(stored, {stored.shape[1], stored.shape[0]}, "transposed",
              [stored](std::span<float> out) { transpose(stored, out); });
}

// The stored values, followed by the value `rest` repeated.
WeightView extended(const WeightView& stored, std::vector<std::int64_t> shape, float rest) {
  return made(stored, std::move(shape), "extended", [stored, rest](std::span<float> out) {
    const auto end = out.begin() + stored.elements();
    read_values(stored, {out.begin(), end});
    std::fill(end, out.end(), rest);
  });
}

void check_room(std::int64_t words, std::int64_t rows, const std::string& where) {
  if (words > rows) fail(where, fmt::format("has {} words, and the vocabulary at most {}", words, rows - 1));
}

WeightView view_of(const WeightView& stored, const MarianTensor& tensor, std::int64_t rows, const std::string& where) {
  const bool is_floats = is_floating(stored.dtype) || stored.dtype == StoredType::blocks;
  if (stored.shape.size() != 2 || !is_floats)
    fail(where,
         fmt::format("holds {} in {} dimensions, expected floats in two", stored.type_name(), stored.shape.size()));
  switch (tensor.layout) {
    case MarianLayout::transposed:
      return transposed(stored);
    case MarianLayout::vector: {
      WeightView view = stored;
      if (view.shape[0] == 1) view.shape.erase(view.shape.begin());
      return view;
    }
    case MarianLayout::rows: {
      const WeightView by_word = tensor.marian.ends_with("_W") ? transposed(stored) : stored;
      check_room(by_word.shape[0], rows, where);
      return extended(by_word, {rows, by_word.shape[1]}, 0);
    }
    case MarianLayout::logits_bias:
      check_room(stored.shape[1], rows, where);
      if (stored.shape[0] != 1) fail(where, fmt::format("has {} rows, expected one", stored.shape[0]));
      return extended(stored, {1, rows}, impossible);
  }
  return stored;
}

// 8-bit matrices in the form of quantize.h: integers [out, in] and a scale for each row, here the same for all rows.
class Int8Matrices {
 public:
  explicit Int8Matrices(std::shared_ptr<const MarianTensors> file) : file_(std::move(file)) {}

  /// @param rows  the number of rows of the result, added ones being zero; 0: as stored
  std::array<WeightView, 2> views(const MarianBinFile::Int8& stored, const std::string& name, std::int64_t rows) {
    const std::int64_t out = rows == 0 ? stored.rows : rows;
    std::span<const std::byte> values = stored.values;
    if (out > stored.rows) {
      values_.emplace_back(values.begin(), values.end()).resize(static_cast<std::size_t>(out * stored.columns));
      values = values_.back();
    }
    scales_.emplace_back(static_cast<std::size_t>(out), 1 / stored.multiplier);
    return {
        WeightView{.name = name, .dtype = StoredType::i8, .shape = {out, stored.columns}, .bytes = values, .form = {}},
        WeightView{.name = name + "_scale",
                   .dtype = StoredType::f32,
                   .shape = {out},
                   .bytes = std::as_bytes(std::span(scales_.back())),
                   .form = {}}};
  }

 private:
  std::shared_ptr<const MarianTensors> file_;  // views point into it, and into the lists below
  std::deque<std::vector<std::byte>> values_;
  std::deque<std::vector<float>> scales_;
};

// The bias of logits in a file without one: zero, and for padding the value that makes it impossible.
WeightView bias_of_padding(std::int64_t words, std::int64_t rows) {
  return {.name = "final_logits_bias",
          .dtype = StoredType::blocks,
          .shape = {1, rows},
          .bytes = {},
          .form = "made",
          .read = [words](std::span<float> out) {
            std::fill(out.begin(), out.end(), 0.0f);
            std::fill(out.begin() + words, out.end(), impossible);
          }};
}

}  // namespace

void check_words_of_embeddings(const MarianTensors& file, const JsonObject& yml) {
  constexpr std::array<const char*, 2> sides{"encoder_Wemb", "decoder_Wemb"};
  for (std::size_t side = 0; side < sides.size(); ++side) {
    const WeightView* const own = file.find(sides[side]);
    const WeightView* const words = own ? own : file.find("Wemb");
    if (!words)
      fail(printable(file.path(), 400), fmt::format("has no {} and no Wemb", sides[side]),
           "the file is incomplete, or of another kind of model");
    const std::int64_t expected = marian_vocabulary(yml, side);
    if (words->shape.empty() || words->shape[0] != expected)
      yml.fail_at("dim-vocabs", fmt::format("says {} words, and {} has {}", expected, words->name,
                                            words->shape.empty() ? 0 : words->shape[0]));
  }
}

WeightFiles marian_weights(const std::shared_ptr<const MarianTensors>& file, const nlohmann::json& config) {
  const std::string path = file->path();
  const std::int64_t rows = config.at("vocab_size");
  const auto int8 = std::make_shared<Int8Matrices>(file);
  WeightFiles::Contents contents{
      .where = path, .tensors = {}, .maps = int8, .is_mapped = file->is_mapped() && !file->is_int8()};
  std::map<std::string, std::string, std::less<>> own_names;
  std::set<std::string_view> used;
  const std::vector<MarianTensor> tensors = marian_tensors(config, file->find("decoder_ff_logit_out_W") != nullptr);
  for (const MarianTensor& tensor : tensors) {
    own_names.emplace(tensor.here, tensor.marian);
    const WeightView* const stored = file->find(tensor.marian);
    if (!stored) continue;
    used.insert(stored->name);
    const std::string where = fmt::format("{}: {}", printable(path, 400), tensor.marian);
    const MarianBinFile::Int8* const quantized = file->find_int8(tensor.marian);
    if (quantized && !tensor.marian.ends_with("_Wt")) {  // that matrix is stored as [in, out], and is read as floats
      own_names.emplace(tensor.here + "_scale", tensor.marian);
      if (tensor.layout == MarianLayout::rows) check_room(quantized->rows, rows, where);
      for (WeightView& part : int8->views(*quantized, tensor.here, tensor.layout == MarianLayout::rows ? rows : 0))
        contents.tensors.push_back({std::move(part), path});
      continue;
    }
    WeightView view = view_of(*stored, tensor, rows, where);
    view.name = tensor.here;
    contents.tensors.push_back({std::move(view), path});
  }
  if (!file->find("decoder_ff_logit_out_b")) {  // output-omit-bias
    const WeightView* const words = file->find(tensors[0].marian == "Wemb" ? "Wemb" : "decoder_Wemb");
    if (words && words->shape.size() == 2 && words->shape[0] < rows)
      contents.tensors.push_back({bias_of_padding(words->shape[0], rows), path});
  }
  for (const WeightView& stored : file->tensors())
    if (!used.contains(stored.name) && !says_no_value(stored.name)) contents.tensors.push_back({stored, path});
  contents.name_in_file = name_in_file_of(std::move(own_names));
  return WeightFiles(std::move(contents));
}

}  // namespace tril::model
