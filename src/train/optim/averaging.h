// The mean of the last N validations' weights [checkpoint averaging: Vaswani et al. 2017, section 6.1]. The weights are
// kept in files, so that a large N takes no memory and a resumed run finds them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "nn/parameters.h"

namespace tril::train {

/// average-UPDATE.safetensors
std::string snapshot_file(std::int64_t update);

/// Writes the weights to DIRECTORY/average-UPDATE.safetensors. @return the file's name
std::string write_snapshot(const std::string& directory, std::int64_t update, const nn::Parameters& parameters);

/// The mean of these snapshots, in the layout of the flat block; summed in double in the given order.
std::vector<float> mean_of_snapshots(const std::string& directory, const std::vector<std::string>& names,
                                     std::int64_t values);

/// Temporarily replaces the model's weights, for example by an average to be validated and saved. The destructor restores them.
class BorrowedWeights {
 public:
  BorrowedWeights(nn::Parameters& parameters, const kern::Kernels& kernels, std::vector<float> shown);
  ~BorrowedWeights();
  BorrowedWeights(const BorrowedWeights&) = delete;
  BorrowedWeights& operator=(const BorrowedWeights&) = delete;

 private:
  nn::Parameters& parameters_;
  const kern::Kernels& kernels_;
  std::vector<float> own_;
};

}  // namespace tril::train
