// Experts of a layer in two tensors, each expert's matrices transposed, as Qwen3-VL's publisher stores them.
#include "model_io/contents/split_experts.h"

#include <gtest/gtest.h>

#include <numeric>
#include <set>

namespace tril::model {
namespace {

constexpr std::int64_t experts = 2, d_model = 3, d_ff = 5;

StoredTensor tensor(const std::string& name, std::vector<std::int64_t> shape, const std::vector<float>& values) {
  return {{.name = name,
           .dtype = StoredType::f32,
           .shape = std::move(shape),
           .bytes = std::as_bytes(std::span(values)),
           .form = {}},
          "model.safetensors"};
}

std::vector<float> numbers(std::int64_t count, float first) {
  std::vector<float> values(static_cast<std::size_t>(count));
  std::iota(values.begin(), values.end(), first);
  return values;
}

TEST(SplitExperts, EachMatrixHasBytesOfItsOwn) {
  const std::vector<float> gate_up = numbers(experts * d_model * 2 * d_ff, 0),
                           down = numbers(experts * d_ff * d_model, 1000);
  std::map<std::string, std::string, std::less<>> in_file;
  std::vector<StoredTensor> parts =
      split_experts({tensor("l.experts.gate_up_proj", {experts, d_model, 2 * d_ff}, gate_up),
                     tensor("l.experts.down_proj", {experts, d_ff, d_model}, down)},
                    in_file);
  const WeightFiles files({.where = {}, .tensors = std::move(parts), .maps = {}, .is_mapped = false});
  EXPECT_EQ(files.names().size(), 6u);
  EXPECT_EQ(files.stored_bytes(), sizeof(float) * (gate_up.size() + down.size())) << "each byte once";
  std::set<std::pair<const std::byte*, std::size_t>> different;  // tril inspect counts equal ones once
  for (const std::string& name : files.names()) {
    const WeightView& view = files.at(name);
    EXPECT_TRUE(different.emplace(view.bytes.data(), view.bytes.size()).second) << name;
  }
  // Row r of expert 1's up matrix is column d_ff + r of its part.
  const std::vector<float> up = to_f32(files.at("l.experts.1.up_proj.weight"));
  for (std::int64_t r = 0; r < d_ff; ++r)
    for (std::int64_t i = 0; i < d_model; ++i)
      EXPECT_EQ(up[static_cast<std::size_t>(r * d_model + i)], static_cast<float>((d_model + i) * 2 * d_ff + d_ff + r));
}

}  // namespace
}  // namespace tril::model
