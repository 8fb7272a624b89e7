// From the publisher's generation config and the caller's options to a search of a model.
#pragma once

#include "decode/texts/generator.h"
#include "decode/texts/translator.h"
#include "model_io/contents/generation_config.h"
#include "settings/search_options.h"

namespace tril::search {

/// The tokens that end a text: the publisher's, or the family's own if there are none.
std::vector<std::int32_t> end_tokens(const model::GenerationConfig& published, const model::Model& model);

/// The merged options. The caller's take precedence. The publisher's beam groups are dropped if they do not divide the beam.
SearchOptions combined(SearchOptions asked, const model::GenerationConfig& published);

/// The plan of the merged options. Options that neither sets have the defaults of `transformers`.
/// @throws Error(usage) naming the field of `asked` that contradicts another; Error naming the publisher's file and key
///   if it contains an id outside the vocabulary
SearchPlan search_plan(const SearchOptions& asked, const model::GenerationConfig& published, const model::Model& model,
                       const Tokenizer& tokenizer);

/// The same, with the length limits of translations. Of TranslatorOptions::decoding only the search is set.
TranslatorOptions translator_options(const SearchOptions& asked, const model::GenerationConfig& published,
                                     const model::Model& model, const Tokenizer& tokenizer);

/// The same for continuations.
GeneratorOptions generator_options(const SearchOptions& asked, const model::GenerationConfig& published,
                                   const model::Model& model, const Tokenizer& tokenizer);

}  // namespace tril::search
