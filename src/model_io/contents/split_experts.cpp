#include "model_io/contents/split_experts.h"

#include <algorithm>
#include <string_view>

#include "base/as_size.h"
#include "base/error.h"
#include "base/printable.h"
#include "model_io/contents/read_values.h"

namespace tril::model {
namespace {

constexpr std::string_view gate_up_end = ".experts.gate_up_proj", down_end = ".experts.down_proj";
constexpr std::int64_t most_experts = 1 << 12;

// The two tensors of a layer.
struct LayerExperts {
  const StoredTensor *gate_up = nullptr, *down = nullptr;
};

struct ExpertSizes {
  std::int64_t experts = 0, d_ff = 0, d_model = 0;
  bool transposed = false;  ///< each expert's part is [in, out]
};

[[noreturn]] void fail_form(const StoredTensor& tensor, const std::string& name, const std::string& what) {
  fail(tensor.file + ": " + printable(name, 400), what,
       "all experts of a layer are expected as [experts, out, in] or [experts, in, out]");
}

ExpertSizes sizes_of_layer(const LayerExperts& layer, const std::string& name) {
  const auto &a = layer.gate_up->view.shape, &b = layer.down->view.shape;
  for (const StoredTensor* tensor : {layer.gate_up, layer.down}) {
    const WeightView& view = tensor->view;
    if (view.dtype == StoredType::blocks) fail_form(*tensor, name, "is quantised, which is not supported");
    const bool sound = view.shape.size() == 3 && view.shape[0] <= most_experts &&
                       std::ranges::all_of(view.shape, [](std::int64_t n) { return n > 0; });
    if (!sound) fail_form(*tensor, name, fmt::format("has the shape [{}]", fmt::join(view.shape, ", ")));
  }
  if (a[0] == b[0] && a[2] == b[1] && a[1] == 2 * b[2])
    return {.experts = a[0], .d_ff = b[2], .d_model = a[2], .transposed = false};
  if (a[0] == b[0] && a[1] == b[2] && a[2] == 2 * b[1])
    return {.experts = a[0], .d_ff = b[1], .d_model = a[1], .transposed = true};
  fail_form(
      *layer.gate_up, name,
      fmt::format("has the shape [{}], and the down projections have [{}]", fmt::join(a, ", "), fmt::join(b, ", ")));
}

// `rows` rows from row `first` of the part of expert e, a matrix [out, in].
WeightView rows_of_expert(const WeightView& all, std::int64_t e, std::int64_t first, std::int64_t rows) {
  const std::int64_t out = all.shape[1], in = all.shape[2];
  const std::size_t row_bytes = all.bytes.size() / as_size(all.shape[0] * out);
  return {.name = {},
          .dtype = all.dtype,
          .shape = {rows, in},
          .bytes = all.bytes.subspan(as_size(e * out + first) * row_bytes, as_size(rows) * row_bytes)};
}

// The same of the part [in, out] of an expert: the matrix [rows, in] of its columns from `first`.
WeightView columns_of_expert(const WeightView& all, std::int64_t e, std::int64_t first, std::int64_t rows) {
  const std::int64_t in = all.shape[1], out = all.shape[2];
  const WeightView part = rows_of_expert(all, e, 0, in);
  const std::size_t number = size_of(all.dtype), left_out = as_size(out - first - rows) * number;
  const std::span<const std::byte> from_first = part.bytes.subspan(as_size(first) * number);
  return {.name = {},
          .dtype = StoredType::blocks,
          .shape = {rows, in},
          .bytes = from_first.first(from_first.size() - left_out),
          .form = std::string(name_of(all.dtype)),
          .read = [part, first, rows, in, out](std::span<float> to) {
            const std::vector<float> values = read_values(part);
            for (std::int64_t r = 0; r < rows; ++r)
              for (std::int64_t i = 0; i < in; ++i) to[as_size(r * in + i)] = values[as_size(i * out + first + r)];
          }};
}

}  // namespace

std::vector<StoredTensor> split_experts(const std::vector<StoredTensor>& tensors,
                                        std::map<std::string, std::string, std::less<>>& in_file) {
  std::map<std::string, LayerExperts> layers;  // by the name before ".experts"
  std::vector<StoredTensor> result;
  for (const StoredTensor& tensor : tensors) {
    const std::string& name = tensor.view.name;
    if (name.ends_with(gate_up_end))
      layers[name.substr(0, name.size() - gate_up_end.size())].gate_up = &tensor;
    else if (name.ends_with(down_end))
      layers[name.substr(0, name.size() - down_end.size())].down = &tensor;
    else
      result.push_back(tensor);
  }
  for (const auto& [name, layer] : layers) {
    const std::string& block = name;
    const StoredTensor* const present = layer.gate_up ? layer.gate_up : layer.down;
    const std::string file_name = in_file[present->view.name];
    if (!layer.gate_up || !layer.down)
      fail_form(*present, file_name, fmt::format("has no {} beside it", layer.gate_up ? "down_proj" : "gate_up_proj"));
    const ExpertSizes s = sizes_of_layer(layer, file_name);
    const auto part_of = s.transposed ? columns_of_expert : rows_of_expert;
    for (std::int64_t e = 0; e < s.experts; ++e) {
      const auto add = [&](const StoredTensor& all, const char* part, std::int64_t first, std::int64_t rows) {
        StoredTensor one{part_of(all.view, e, first, rows), all.file};
        one.view.name = fmt::format("{}.experts.{}.{}.weight", block, e, part);
        in_file[one.view.name] = in_file[all.view.name];
        result.push_back(std::move(one));
      };
      add(*layer.gate_up, "gate_proj", 0, s.d_ff);
      add(*layer.gate_up, "up_proj", s.d_ff, s.d_ff);
      add(*layer.down, "down_proj", 0, s.d_model);
    }
  }
  return result;
}

}  // namespace tril::model
