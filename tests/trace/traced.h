// Helpers of the tests of traces: golden models, an input of their vocabulary, a traced pass.
#pragma once

#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "model_io/source/model_source.h"
#include "model_io/source/registry.h"
#include "support/golden.h"
#include "trace/pass.h"

namespace tril::trace {

inline std::unique_ptr<model::Model> golden(const std::string& name) {
  return model::load(model::ModelSource::open((test::golden_directory() / "hf" / name).string()));
}

inline Input input_of(const model::Model& m, std::int32_t tokens = 9) {
  Input input;
  for (std::int32_t i = 0; i < tokens; ++i) input.tokens.push_back((7 * i + 3) % 61 + 5);
  if (m.has_encoder()) input.source = {11, 42, 5, 33, 27, 9, 12};
  input.labels.assign(input.tokens.begin() + 1, input.tokens.end());
  input.labels.push_back(-1);
  return input;
}

struct Traced {
  Trace trace;
  Outcome outcome;
};
inline Traced traced(const model::Model& m, const Input& input, std::vector<std::string> only,
                     const std::vector<std::string>& edits = {}, bool gradients = false, const Trace* donor = nullptr) {
  std::vector<Edit> list;
  for (const std::string& e : edits) list.push_back(parse_edit(e));
  Traced t;
  Recorder recorder(t.trace, {.only = std::move(only), .edits = list, .donor = donor, .gradients = gradients});
  t.outcome = run_pass(m, input, &recorder, gradients);
  return t;
}

inline double largest(const std::vector<float>& a, const std::vector<float>& b) {
  EXPECT_EQ(a.size(), b.size());
  double most = 0;
  for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i)
    most = std::max(most, std::abs(static_cast<double>(a[i]) - static_cast<double>(b[i])));
  return most;
}

/// Of each token, the largest difference of a logit.
inline std::vector<double> moved(const Outcome& a, const Outcome& b) {
  std::vector<double> list;
  const auto V = as_size(a.vocab);
  for (std::size_t t = 0; t < a.logits.size() / V; ++t) {
    double most = 0;
    for (std::size_t i = t * V; i < (t + 1) * V; ++i)
      most = std::max(most, std::abs(static_cast<double>(a.logits[i]) - static_cast<double>(b.logits[i])));
    list.push_back(most);
  }
  return list;
}

}  // namespace tril::trace
