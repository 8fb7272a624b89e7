// A few sentences of the validation set that show a run's progress: at each validation, the model's output and
// attention for them.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "decode/texts/attention_maps.h"
#include "train/loop/validation.h"

namespace tril::train {

/// One sample: the model's input and the reference. A language model gets the beginning of a text, and the reference is
/// its continuation.
struct SampleText {
  std::int64_t line = 0;  ///< in the validation set, from 1
  std::string source, reference;
};

struct Sample {
  SampleText text;
  std::string hypothesis;
  std::optional<search::AttentionMaps> attention;
};

struct Samples {
  std::string kind = "translation";  ///< or "continuation"
  std::vector<Sample> list;
};

/// `count` evenly spaced pairs of the set, always the same; empty and very long lines are skipped.
std::vector<SampleText> choose_samples(const std::vector<SampleText>& set, std::int64_t count);
/// Likewise, from the validation set of the options.
std::vector<SampleText> read_samples(const TrainOptions& options);

/// The model's current outputs for the texts.
/// @param attention  how many of them, from the first, get attention maps
Samples show_samples(const std::vector<SampleText>& texts, std::int64_t attention, const model::Model& m,
                     const Tokenizer& tokenizer, const Translate& translate);

}  // namespace tril::train
