#include "train/averaging.h"

#include <span>

#include "model/safetensors.h"

namespace tril::train {

std::string write_snapshot(const std::string& directory, std::int64_t update, const nn::Parameters& parameters) {
  const std::string name = fmt::format("average-{:08}.safetensors", update);
  const std::vector<float> values = host_copy<float>(parameters.flat());
  SafetensorsWriter writer(directory + "/" + name, {{"weights", StoredType::f32, {parameters.flat().count()}}}, {});
  writer.write("weights", std::as_bytes(std::span(values)));
  writer.commit();
  return name;
}

std::vector<float> mean_of_snapshots(const std::string& directory, const std::vector<std::string>& names,
                                     std::int64_t values) {
  std::vector<double> sum(static_cast<std::size_t>(values));
  for (const std::string& name : names) {
    const SafetensorsFile file = SafetensorsFile::open(directory + "/" + name);
    const WeightView& stored = file.at("weights");
    if (stored.elements() != values)
      fail(file.path(), fmt::format("holds {} values, the model has {}", stored.elements(), values));
    const std::vector<float> weights = to_f32(stored);
    for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += static_cast<double>(weights[i]);
  }
  std::vector<float> mean(sum.size());
  for (std::size_t i = 0; i < sum.size(); ++i) mean[i] = static_cast<float>(sum[i] / static_cast<double>(names.size()));
  return mean;
}

BorrowedWeights::BorrowedWeights(nn::Parameters& parameters, const kern::Kernels& kernels, std::vector<float> shown)
    : parameters_(parameters), kernels_(kernels), own_(host_copy<float>(parameters.flat())) {
  host_write<float>(parameters_.flat(), shown);
  parameters_.refresh(kernels_);
}

BorrowedWeights::~BorrowedWeights() {
  host_write<float>(parameters_.flat(), own_);
  parameters_.refresh(kernels_);
}

}  // namespace tril::train
