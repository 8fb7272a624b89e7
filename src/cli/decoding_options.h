// The options that `translate` and `bench translate` share, and what becomes of them together with what the model's
// publisher says in generation_config.json: a flag wins over that file, that file over our defaults.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/fields.h"
#include "model/generation_config.h"
#include "model/model.h"
#include "search/translator.h"

namespace tril::cli {

struct DecodingOptions {
  std::string model;
  std::string precision = "fp32";
  std::int64_t threads = 0;  ///< 0: all cores
  std::int64_t batch_size = 32;
  std::optional<std::int64_t> beam_size, min_length, max_length;
  std::optional<double> length_penalty;
  std::optional<std::string> early_stopping;
  std::int64_t n_best = 1;
  double max_length_factor = 3;
  bool no_cache = false;
};

/// --model, --precision, --threads: what every command that runs a model takes.
void add_model_fields(Fields& f, DecodingOptions& o);
/// Those of the search.
void add_search_fields(Fields& f, DecodingOptions& o);

/// @throws Error(usage) that names the flags that contradict each other
search::TranslatorOptions translator_options(const DecodingOptions& o, const model::GenerationConfig& g,
                                             const model::Model& m);

}  // namespace tril::cli
