// The speed that a model should reach on this machine. A step of one token takes the time to read its weights and its cache; a
// prompt takes the time of its products. Everything else (norms, sampling, the search) is left out. An estimate for an idle machine:
// docs/doctor.md.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "model/spec/model.h"
#include "tensor/context.h"

namespace tril::doctor {

/// In one precision.
struct ExpectedSpeed {
  nn::Precision precision = nn::Precision::fp32;
  double bytes = 0;                     ///< of the weights in memory
  double weight_bytes_per_token = 0;    ///< that a step reads
  double tokens_per_second = 0;         ///< of one text; 0: not measured, since no weights fit
  double prompt_tokens_per_second = 0;  ///< of a prompt; with an encoder, of a source text; 0: as above
  std::int64_t context =
      0;  ///< tokens of one text that fit into memory beside the weights; 0: no weights fit; -1: any number
};

/// Rates of the machine, besides those of products with weights.
struct MachineRates {
  double read_bytes = 0;  ///< per second, from memory beyond the caches
  double flops = 0;       ///< of float32 products in cache
};

/// @param memory  available bytes; nothing: not known, and everything fits
bool weights_fit(const model::Model& m, nn::Precision precision, std::optional<std::int64_t> memory);

/// Measures only precisions whose weights fit.
/// @param c  its team generates
/// @param m  has no weights yet; afterwards it has zeros, and no other use
/// @param length  tokens of a text, and of a source
/// @throws Error(usage) as train::cost_of does
std::vector<ExpectedSpeed> expected_speeds(Context& c, model::Model& m, std::int64_t length,
                                           const MachineRates& machine, std::optional<std::int64_t> memory);

}  // namespace tril::doctor
