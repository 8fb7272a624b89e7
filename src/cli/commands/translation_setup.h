// The options of translations and their meaning for a loaded model, without where texts come from and go to: `tril translate`
// has these options, and so has the Python package.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/fields.h"
#include "cli/commands/line_translator.h"
#include "cli/options/prompt_options.h"
#include "decode/models/alignment_fields.h"
#include "decode/models/decoding_options.h"
#include "decode/models/model_set.h"
#include "decode/models/split_fields.h"
#include "decode/models/term_fields.h"
#include "decode/texts/translator.h"
#include "model_io/source/model_source.h"
#include "terms/translation_memory.h"
#include "tokenizer/files/tokenizer.h"

namespace tril::cli {

struct TranslationSetup {
  DecodingOptions decoding;
  ModelSetOptions others;
  std::int64_t mbr = 0;
  bool deterministic = false;
  AlignmentOptions alignment;
  bool replace_unknowns = false;
  std::vector<std::string> shortlist;
  std::string source_language, target_language;
  std::string languages;  ///< of a model of one pair, "en:de"; "": as its files or its name state
  TermOptions terms;
  PromptOptions prompt;
  SplitLineOptions split;
};

/// --n-best.
void add_n_best_field(Fields& f, TranslationSetup& o);
/// The group "Attention": alignments, and what else attention or the source decides.
void add_attention_fields(Fields& f, TranslationSetup& o);
/// The groups of the search and of further models.
void add_translation_search_fields(Fields& f, TranslationSetup& o);
/// Combinations that have no meaning; all fields of TranslationSetup must have been added.
void add_translation_rules(Fields& f);

/// A model as it was loaded, and what its directory says of it.
struct LoadedModel {
  /// Opens and loads the model of the options. Warns of generation defaults that are not supported.
  /// @param tokenizer  in place of the model's own; null: that
  explicit LoadedModel(const DecodingOptions& o, std::shared_ptr<const Tokenizer> tokenizer = nullptr);

  model::ModelSource source;
  std::unique_ptr<model::Model> model;
  std::shared_ptr<const Tokenizer> tokenizer;
  model::GenerationConfig published;
};

/// What a search needs to know, and what its lines need to know.
struct SettledTranslation {
  LineLanguages languages;
  StatedLanguages stated;  ///< those of a model of one pair of languages; "": not known
  search::TranslatorOptions options;
  std::shared_ptr<const terms::TranslationMemory> memory;
};

/// @param scores  whether log-probabilities are wanted, which greedy search then computes
/// @param to      the target language of a document, used if `target_language` is not given
/// @param others  the models of `o.others`
/// @throws Error(usage) naming options that contradict each other or the model; Error for a file that cannot be read
SettledTranslation settle(const TranslationSetup& o, const LoadedModel& loaded, const ModelSet& others, bool scores,
                          const std::optional<std::string>& to = {});

/// The requests and texts of the loaded model, with its prompt if it is a language model.
std::unique_ptr<const search::TranslationText> make_text(const TranslationSetup& o, const LoadedModel& loaded);

}  // namespace tril::cli
