// The speed that a model should reach on this machine. A step of one token takes the time to read its weights and its cache; a
// prompt takes the time of its products. Everything else (norms, sampling, the search) is left out. An estimate for an idle machine:
// docs/doctor.md.
#pragma once

#include <cstdint>
#include <vector>

#include "model/spec/model.h"
#include "perf/model_cost.h"
#include "tensor/context.h"

namespace tril::doctor {

/// In one precision.
struct ExpectedSpeed {
  nn::Precision precision = nn::Precision::fp32;
  double bytes = 0;                     ///< of the weights in memory
  double weight_bytes_per_token = 0;    ///< that a step reads
  double tokens_per_second = 0;         ///< of one text, at the cost's length
  double prompt_tokens_per_second = 0;  ///< of a prompt; with an encoder, of a source text
  std::int64_t context =
      0;  ///< tokens of one text that fit into memory beside the weights; 0: no weights fit; -1: any number
};

/// Rates of the machine, besides those of products with weights.
struct MachineRates {
  double read_bytes = 0;  ///< per second, from memory beyond the caches
  double flops = 0;       ///< of float32 products in cache
};

/// @param c  its team generates
/// @param memory  available bytes; 0: not known, and everything fits
std::vector<ExpectedSpeed> expected_speeds(Context& c, const model::Model& m, const train::ModelCost& cost,
                                           const MachineRates& machine, std::int64_t memory);

}  // namespace tril::doctor
