// The mean of the last N validations' weights [checkpoint averaging: Vaswani et al. 2017, section 6.1], kept as files,
// so that a large N costs no memory and a run that goes on finds them again.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "nn/parameters.h"

namespace tril::train {

/// average-UPDATE.safetensors
std::string snapshot_file(std::int64_t update);

/// Writes the weights to DIRECTORY/average-UPDATE.safetensors and returns the file's name.
std::string write_snapshot(const std::string& directory, std::int64_t update, const nn::Parameters& parameters);

/// The mean of these snapshots, laid out as the flat block; summed in double in the order given.
std::vector<float> mean_of_snapshots(const std::string& directory, const std::vector<std::string>& names,
                                     std::int64_t values);

/// Other weights in the model for a while: an average, to be validated and saved. The destructor puts its own back.
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
