// How the work of a token, a prompt or an update is divided among the threads of a team: computed from a model's shapes with
// the functions by which the program divides it, not measured.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace tril::bench {

/// The sizes of a model. 0 encoder layers: a language model.
struct Shapes {
  std::string name;
  std::int64_t d_model, heads, kv_heads, d_ff, layers, vocabulary;
  bool gated = true;  ///< its feed-forward has two matrices of d_ff rows
  std::int64_t encoder_layers = 0;
  double bytes_of_weight = 1;  ///< as stored for serving
};

/// What one call of the model computes.
struct Call {
  std::string name;
  std::int64_t rows = 1;     ///< texts
  std::int64_t queries = 1;  ///< tokens of each
  std::int64_t keys = 512;   ///< in the cache of each, with the queries
};

/// One op of a call, or several alike.
struct Part {
  std::string name;
  std::int64_t times = 1;
  double seconds = 0;  ///< on one thread, each time
  /// The share of the largest part for a number of threads, and whether it takes a round of the team.
  std::function<double(int threads)> largest;
  std::function<bool(int threads)> takes_round;
};

/// Costs that were measured on one thread.
struct Costs {
  double byte = 1 / 10e9;   ///< seconds to read a byte of weights or keys
  double flop = 1 / 500e9;  ///< seconds for a multiplication or addition of a product of many rows
  double value = 0.3e-9;    ///< seconds for a value of an op on rows (norm, rotation, gate)
  double op = 0.5e-6;       ///< seconds of an op outside of its loop
  double round = 3e-6;      ///< seconds of a round of two members
  double member = 0.1e-6;   ///< seconds that each further member adds to a round: assumed
};

std::vector<Part> parts_of(const Shapes& shapes, const Call& call, const Costs& costs);

/// What a number of threads needs for a call.
struct Prediction {
  int threads = 1;
  double seconds = 0;
  double speedup = 1;
  std::int64_t rounds = 0;
  double serial = 0;       ///< share of the seconds in ops that one thread computes
  double waiting = 0;      ///< share of the seconds in which the mean member waits for the largest part
  double in_rounds = 0;    ///< share of the seconds that rounds themselves take
  std::string worst;       ///< the op with the most waiting
  double worst_ratio = 1;  ///< its largest part divided by its mean
};

Prediction predict(const std::vector<Part>& parts, const Costs& costs, int threads);

/// The largest part of packing the weights after an update, divided by the mean. @param whole  matrices are not divided
double packing_ratio(const Shapes& shapes, int threads, bool whole);

}  // namespace tril::bench
