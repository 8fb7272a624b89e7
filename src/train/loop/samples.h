// A few sentences of the validation set that a run shows its progress on: at each validation what the model makes of
// them, and where its attention lies.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "decode/texts/attention_maps.h"
#include "train/loop/validation.h"

namespace tril::train {

/// One of the sentences: what the model is given and what it should come to. A language model is given the beginning of
/// a text, and the reference is how that text goes on.
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

/// `count` pairs at even distances through the set, always the same ones; empty and very long lines are passed over.
std::vector<SampleText> choose_samples(const std::vector<SampleText>& set, std::int64_t count);
/// The same, of the validation set that the options name.
std::vector<SampleText> read_samples(const TrainOptions& options);

/// What the model, with the weights that it has at that moment, makes of the texts.
/// @param attention  how many of them, from the first, come with maps
Samples show_samples(const std::vector<SampleText>& texts, std::int64_t attention, const model::Model& m,
                     const Tokenizer& tokenizer, const Translate& translate);

}  // namespace tril::train
