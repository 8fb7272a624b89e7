// The numbers of the course, computed by the engine's own ops: the pictures show them and the exercises compare with them.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "ops/ops.h"

namespace tril::model {
class Model;
}

namespace tril::learn {

/// Row by row.
struct Grid {
  std::int64_t rows = 0, columns = 0;
  std::vector<double> values;
  double at(std::int64_t i, std::int64_t j) const { return values[static_cast<std::size_t>(i * columns + j)]; }
  std::vector<double> row(std::int64_t i) const;
};

/// @throws Error(usage) unless there are rows x columns values
Grid grid(std::int64_t rows, std::int64_t columns, std::vector<double> values);

/// The words of chapter 1 as ids, by its vocabulary; one that is not in it is <unk>.
std::vector<double> ids_of(std::span<const std::string_view> words);

/// Heads side by side: queries [Tq, heads * d], keys and values [Tk, heads * d].
struct HeadInput {
  Grid q, k, v;
};

struct HeadOutput {
  Grid weights;  ///< [heads * Tq, Tk], head below head
  Grid result;   ///< [Tq, heads * d]
};

struct HeadOptions {
  std::int64_t heads = 1;
  bool causal = false;
  std::vector<bool> hidden_keys;  ///< by key: padding that no query sees; empty: none is hidden
  float scale = 0;                ///< 0: 1 / sqrt(d)
};
HeadOutput attend(const HeadInput& in, const HeadOptions& options);
/// Q K^T / sqrt(d), before the mask.
Grid scaled_scores(const HeadInput& in);

/// The gradient of the scores of one query, if the loss has these derivatives with respect to its weights.
std::vector<double> gradient_of_scores(std::span<const double> weights, std::span<const double> by_weights);

/// The four tokens of examples/attention_by_hand.cpp, and their words.
HeadInput four_tokens();
constexpr std::array<const char*, 4> four_words{"the", "cat", "sat", "down"};

/// Queries of the target, and three tokens of a source, of which the last is padding.
HeadInput padded_source(Grid queries);

/// The decoder of chapter 9 in these widths: 10,000 tokens, 6 layers, 8 heads.
std::unique_ptr<model::Model> whole_decoder(std::int64_t d, std::int64_t d_ff);

/// Rows [0, count) of the sinusoids [Vaswani et al. 2017, section 3.5].
Grid sinusoids(std::int64_t count, std::int64_t d, bool interleaved = true);
/// sqrt(d) * embedding + the sinusoids of a position.
std::vector<double> embedded(std::span<const double> embedding, std::int32_t position, bool scaled = true);
/// A pair of values of a query or key, rotated to a position: [Su et al. 2021, eq. 13] with a frequency of 1.
std::vector<double> rotated(std::array<double, 2> pair, std::int32_t position);

std::vector<double> layer_normed(std::span<const double> x);
std::vector<double> rms_normed(std::span<const double> x);
/// max(0, x W_1 + b_1) W_2 + b_2; W_1 [d, d_ff], W_2 [d_ff, d].
struct SmallFeedForward {
  Grid w_1, w_2;
  std::vector<double> b_1, b_2;
  bool has_relu = true;
};
std::vector<double> fed_forward(std::span<const double> x, const SmallFeedForward& f);

struct LossOfLogits {
  double loss = 0;
  std::vector<double> gradient;  ///< with respect to the logits
};
LossOfLogits cross_entropy_of(std::span<const double> logits, std::int32_t label, float smoothing = 0);

}  // namespace tril::learn
