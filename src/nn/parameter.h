// A weight: its name, its initialisation, and the forms in which products read it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "ops/ops.h"

namespace tril::nn {

/// The initialisation of a weight.
struct Init {
  enum class Kind : std::uint8_t { constant, normal, uniform } kind = Kind::constant;
  double value = 0;  ///< the constant, the standard deviation, or the bound of [-value, value]

  static Init zeros() { return {Kind::constant, 0}; }
  static Init ones() { return {Kind::constant, 1}; }
  static Init normal(double deviation) { return {Kind::normal, deviation}; }
  /// Uniform with variance 2 / (in + out) [Glorot & Bengio 2010, eq. 16].
  static Init xavier(std::int64_t in, std::int64_t out);
  /// For layer `depth` (from 1) of its stack: smaller by a factor of sqrt(depth) [DS-Init, Zhang et al. 2019,
  /// section 4.1].
  Init at_depth(std::int64_t depth) const;
};

struct Lora;            // lora.h
struct WeightAdapters;  // adapters.h

/// A weight matrix, a bias, a norm's scale or a table of embeddings.
struct Parameter : ops::Weight {
  std::string name;
  Init init;
  std::int32_t zero_row = -1;  ///< a row that always stays zero (padding); -1: none
  bool trainable = true;
  bool hidden_matrix = false;  ///< a matrix of a linear layer between hidden states, which Muon updates
  bool in_products = false;    ///< a matrix [out, in] of linear maps: gets the copies that products read
  bool gathered = false;       ///< a table whose rows are read by number
  bool adaptable = false;      ///< all products with it are Linear's, or of the output layer: adapters may change them
  /// The blocks in which a file stores the weight; Precision::blocks serves them as they are.
  kern::BlockFormat stored_blocks = kern::BlockFormat::none;
  std::shared_ptr<const Lora> lora;  ///< the adapter that is trained in its place
  bool is_adapter = false;           ///< part of an adapter: not in the model's files
  /// In serving: how each adapter of the model changes the weight's products, and its rows that are read by number.
  std::shared_ptr<const WeightAdapters> adapters, row_adapters;
};

/// The precision of products' operands; sums and everything else are always float32. Only the first two support
/// training. `blocks`: matrices in the blocks of their file, others in int8.
enum class Precision : std::uint8_t { fp32, bf16, int8, int4, blocks };

/// Matrices with the same input, which serving stores one below the other, so that one product replaces several.
struct Stack {
  std::vector<Parameter*> weights, biases;
  struct Part {
    ops::Weight weight;
    Tensor bias;
  };
  /// from[i]: matrix i and those below it. Empty in float32, and if the sizes do not fit.
  std::vector<Part> from;
};

/// A quantised matrix in the form of files (see kern::PackQuantized).
struct QuantizedRows {
  int bits = 8;
  std::span<const std::uint8_t> rows, multipliers;
  std::span<const float> scales;
};

/// A matrix in the blocks of a file.
struct BlockRows {
  kern::BlockFormat format = kern::BlockFormat::none;
  std::function<const std::byte*(std::int64_t)> row;  ///< the blocks of row i
};

}  // namespace tril::nn
