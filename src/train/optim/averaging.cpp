#include "train/optim/averaging.h"

#include <algorithm>
#include <cstring>
#include <span>

#include "base/as_size.h"
#include "format/safetensors.h"
#include "format/safetensors_write.h"
#include "train/optim/stored_values.h"

namespace tril::train {

std::string snapshot_file(std::int64_t update) {
  return fmt::format("average-{:08}.safetensors", update);
}

std::string write_snapshot(const std::string& directory, std::int64_t update, const nn::Parameters& parameters) {
  std::string name = snapshot_file(update);
  const StoredTensor weights{"weights", {parameters.flat()}};
  Metadata metadata;
  add_checksum(metadata, weights);
  SafetensorsWriter writer(directory + "/" + name, {{weights.name, StoredType::f32, {parameters.flat().count()}}},
                           metadata);
  write_values(writer, weights);
  writer.commit();
  return name;
}

std::vector<float> mean_of_snapshots(const std::string& directory, const std::vector<std::string>& names,
                                     std::int64_t values) {
  constexpr std::size_t chunk = 1 << 16;  // values summed in double at a time
  std::vector<SafetensorsFile> files;     // memory maps, read piece by piece
  for (const std::string& name : names) {
    files.push_back(SafetensorsFile::open(directory + "/" + name));
    const WeightView& stored = files.back().at("weights");
    if (stored.elements() != values || stored.dtype != StoredType::f32)
      fail(files.back().path(), fmt::format("holds {} values of type {}, the model has {} of type F32",
                                            stored.elements(), name_of(stored.dtype), values));
    check_values(files.back(), "weights", {as_size(values)});
  }
  std::vector<float> mean(as_size(values)), part(std::min(chunk, mean.size()));
  std::vector<double> sum(part.size());
  for (std::size_t begin = 0; begin < mean.size(); begin += chunk) {
    const std::size_t count = std::min(chunk, mean.size() - begin);
    std::fill(sum.begin(), sum.end(), 0.0);
    for (const SafetensorsFile& file : files) {
      std::memcpy(part.data(), file.at("weights").bytes.data() + begin * sizeof(float), count * sizeof(float));
      for (std::size_t i = 0; i < count; ++i) sum[i] += static_cast<double>(part[i]);
    }
    for (std::size_t i = 0; i < count; ++i)
      mean[begin + i] = static_cast<float>(sum[i] / static_cast<double>(names.size()));
  }
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
