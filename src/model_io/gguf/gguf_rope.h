// Rotary positions in GGUF's metadata and in config.json. Hugging Face's llama3 scaling is a tensor in GGUF,
// rope_freqs.weight, whose values divide the frequencies; longrope is a pair of such tensors.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <vector>

#include "model_io/gguf/gguf_header.h"
#include "model_io/gguf/gguf_reader.h"

namespace tril::model {

/// The divisor in rope_freqs.weight of pairs that are not rotated, in files that write a partial rotation as one of whole heads.
inline constexpr float kNotRotated = 1e30f;

/// Adds rope_scaling and partial_rotary_factor to a config whose sizes are set.
void read_gguf_rope(GgufReader& reader, nlohmann::json& config);

/// Adds config.json's rotary positions to the header.
void write_gguf_rope(const nlohmann::json& config, GgufHeader& header);

/// Llama 3's divisors of the frequencies of `dim` values: wavelengths above original / low are divided by `factor`, those below
/// original / high stay, those between are interpolated, s = (original / wave - low) / (high - low), factor_i = 1 / ((1 - s) / factor + s)
/// [Llama 3.1's reference code].
std::vector<double> llama3_factors(const nlohmann::json& rope, double theta, std::int64_t dim);

/// The divisors of the dim / 2 frequencies in a tensor. @throws Error if there are others, or one is not positive
std::vector<double> rope_factors_of(GgufReader& reader, const char* name, std::int64_t dim);

/// The scaling published with Llama 3.1 and later, if the divisors match it; else one with explicit ones.
nlohmann::json scaling_by_factors(const std::vector<double>& factors, double theta, std::int64_t dim,
                                  std::int64_t positions);

}  // namespace tril::model
