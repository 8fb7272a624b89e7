// A search of a published model: what its publisher asks for, what the caller asks for besides, and what the vocabulary makes
// of both.
#pragma once

#include "decode/texts/generator.h"
#include "decode/texts/translator.h"
#include "model_io/generation_config.h"
#include "settings/search_options.h"

namespace tril::search {

/// What both ask for. The caller's options win over the publisher's, whose groups count where they divide the beam.
SearchOptions combined(SearchOptions asked, const model::GenerationConfig& published);

/// The plan of both. The caller's options win over the publisher's, those over the defaults of `transformers`.
/// @throws Error(usage) naming the field of `asked` that contradicts another; Error naming the publisher's file and key
///   where it names a token that does not exist
SearchPlan search_plan(const SearchOptions& asked, const model::GenerationConfig& published, const model::Model& model,
                       const Tokenizer& tokenizer);

/// The same, and how long translations are. ParallelOptions but for the search are left at their defaults.
TranslatorOptions translator_options(const SearchOptions& asked, const model::GenerationConfig& published,
                                     const model::Model& model, const Tokenizer& tokenizer);

/// The same, of continuations.
GeneratorOptions generator_options(const SearchOptions& asked, const model::GenerationConfig& published,
                                   const model::Model& model, const Tokenizer& tokenizer);

}  // namespace tril::search
