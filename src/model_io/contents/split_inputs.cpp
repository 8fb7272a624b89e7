#include "model_io/contents/split_inputs.h"

#include <algorithm>
#include <array>
#include <map>
#include <numeric>

#include "base/as_size.h"
#include "base/error.h"
#include "model/families/lara_mini.h"
#include "model_io/contents/stored_weight.h"

namespace tril::model {
namespace {

constexpr std::string_view kFused = ".linear_attn.in_proj.weight";
constexpr std::array kParts{"in_proj_qkv", "in_proj_z", "in_proj_b", "in_proj_a"};

bool is_fused(const std::string& name) {
  return name.ends_with(kFused);
}

}  // namespace

std::shared_ptr<const WeightFiles> split_inputs(std::shared_ptr<const WeightFiles> whole, const JsonObject& config) {
  const auto type = config.find<std::string>("model_type");
  if (type != "lara_mini" || std::ranges::none_of(whole->names(), is_fused)) return whole;
  const std::array<std::int64_t, 4> rows = lara_mini_input_rows(config);
  const std::int64_t all_rows = std::accumulate(rows.begin(), rows.end(), std::int64_t{0});
  std::map<std::string, std::string, std::less<>> in_file;
  WeightFiles::Contents contents{.where = {}, .tensors = {}, .maps = whole};
  for (const std::string& name : whole->names()) {
    contents.where = whole->file_of(name);
    const WeightView& view = whole->at(name);
    if (!is_fused(name)) {
      contents.tensors.push_back(whole->tensor(name));
      continue;
    }
    if (view.dtype == StoredType::blocks || view.shape.size() != 2 || view.shape[0] != all_rows)
      fail(whole->place_of(name), fmt::format("has the shape [{}]", fmt::join(view.shape, ", ")),
           fmt::format("expected {} rows: queries, keys, values, gates, and two numbers of each head", all_rows));
    std::int64_t first = 0;
    for (std::size_t i = 0; i < kParts.size(); ++i) {
      const std::string part =
          fmt::format("{}.linear_attn.{}.weight", name.substr(0, name.size() - kFused.size()), kParts[i]);
      WeightView own = rows_of(view, first, rows[i]);
      own.name = part;
      contents.tensors.push_back({std::move(own), whole->file_of(name)});
      in_file[part] = name;
      first += rows[i];
    }
  }
  contents.name_in_file = name_in_file_of(std::move(in_file));
  return std::make_shared<const WeightFiles>(std::move(contents));
}

}  // namespace tril::model
