// One text on its way to a translation, on both sides of the search: what the search is to be asked, and what its answer
// reads.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "decode/texts/terminology.h"
#include "model/spec/model.h"
#include "search/plan.h"
#include "tokenizer/files/tokenizer.h"

namespace tril::search {

/// What a length counts besides the tokens of output. A first token that is forced, of a language say, is output; in front
/// of a given beginning it is given too.
enum class Counted : std::uint8_t {
  output,  ///< nothing that is given
  first,   ///< the forced first token, given or not
  all,     ///< that, and a given beginning: all after the decoder's start
};

/// How long translations are, and what they hold besides what the model would say.
struct TextOptions {
  std::int32_t min_length = 0;
  std::int32_t max_length = 512;  ///< of the output in tokens, EOS counted; the model's positions bound it too
  Counted min_counts = Counted::output, max_counts = Counted::output;
  bool min_raises_max = true;  ///< whether max_length gives way where they contradict each other, or min_length does
  /// The output is also bounded by max_length_factor * source tokens + 20, so that a model that cannot stop does not
  /// run on; 0: not.
  double max_length_factor = 3;
  /// What source phrases must be translated by; may be null. For a beam search.
  std::shared_ptr<const Terminology> terminology = {};
  /// Minimum Bayes risk (mbr.h): of the search's samples the `mbr_best` of the highest expected chrF, which is their
  /// score; 0: the samples as they came.
  std::int32_t mbr_best = 0;
  /// Codes of Tokenizer::languages(); "" for what the directory says.
  std::string source_language = {}, target_language = {};
  /// An unknown token of the output becomes the source word that it looks at most; needs SearchPlan::attention.
  bool replace_unknowns = false;
};

struct Translation {
  std::string text;
  std::vector<std::int32_t> tokens;  ///< as generated, EOS included, a given prefix not
  double log_prob = 0, score = 0;    ///< see Hypothesis
  StopReason stop_reason = StopReason::length;
  bool at_length = false;                 ///< whether it ends since it is as long as it may be
  bool cut_by_factor = false;             ///< likewise, and max_length_factor says so
  std::vector<Term> unsatisfied = {};     ///< of the source, those whose target phrase the text lacks
  std::vector<float> attention = {};      ///< [tokens, source tokens], where it is kept
  std::vector<std::int32_t> source = {};  ///< ids that it looks at, EOS included; likewise
};

/// What a search is asked for, and what it takes to read its answer.
struct TextToTranslate {
  std::string text, prefix;
  std::vector<std::int32_t> source;  ///< ids in their frame (sentence_frame.h)
  bool blank = false;                ///< whether there is nothing to translate
  Request request;
  std::vector<Term> terms;   ///< of the terminology, those that are in the text
  bool truncated = false;    ///< whether the text was longer than the model's positions
  bool by_factor = false;    ///< whether max_length_factor says how long the output may be
  bool forced_end = false;   ///< whether an output of the greatest length is made to end with EOS
  std::int64_t unknown = 0;  ///< tokens of text and prefix for characters that the vocabulary lacks

  bool is_empty() const { return blank; }
};

class TranslationText {
 public:
  /// The model must outlive it.
  /// @throws Error(usage) where model, tokenizer and options do not go together
  TranslationText(const model::Model& model, std::shared_ptr<const Tokenizer> tokenizer);

  /// @param search  how it will be searched for
  /// @param prefix  what the translation begins with, may be empty
  /// @param number  which random numbers are drawn for it
  /// @throws Error(usage) naming the text whose prefix leaves no position free
  TextToTranslate prepare(std::string text, std::string prefix, std::uint64_t number, const TextOptions& options,
                          const SearchPlan& search) const;
  /// What the hypotheses read, best first; of an empty text (whatever they are) one translation, its prefix.
  std::vector<Translation> finish(const TextToTranslate& t, std::span<const Hypothesis> hypotheses,
                                  const TextOptions& options) const;
  /// What tokens that go on read.
  std::string partial(const TextToTranslate& t, std::span<const std::int32_t> tokens) const;

  const model::Model& model() const { return *model_; }
  const Tokenizer& tokenizer() const { return *tokenizer_; }

 private:
  Request request_for(std::int64_t source_tokens, TextToTranslate& t, std::uint64_t number, const TextOptions& options,
                      const SearchPlan& search) const;
  /// @param attention  of the tokens, by which unknown ones are replaced; none: they are left out
  std::string text_of(std::span<const std::int32_t> tokens, std::span<const float> attention,
                      const TextToTranslate& t) const;

  const model::Model* model_;
  std::shared_ptr<const Tokenizer> tokenizer_;
  bool starts_with_language_ = false;  // the decoder: the first mBART's; other models say the language after its start
};

/// Whether the decoder starts with a token of a language.
bool starts_with_language(const model::Model& model, const Tokenizer& tokenizer);
/// What it starts with for this language ("": as the directory says).
std::int32_t decoder_start(const model::Model& model, const Tokenizer& tokenizer, std::string_view target_language);

/// Throws Error(usage) where the options contradict themselves or those of the search.
void check_options(const TextOptions& options, const SearchPlan& search);

/// What the tokenizer knows besides: rows of the output that it has no piece for never come, and which ones begin a word
/// and go on with one.
SearchPlan with_vocabulary(SearchPlan options, const model::Model& model, const Tokenizer& tokenizer);

/// The ids of a source text in their frame, cut so that all fits into max_positions (0: no bound). Sets `cut`.
std::vector<std::int32_t> source_ids(const Tokenizer& tokenizer, const std::string& text, std::int64_t max_positions,
                                     bool& cut, std::string_view language = {});

/// Throws Error(usage) where the model does not translate, or the tokenizer's ids do not fit its vocabularies.
void check_tokenizer(const model::Model& model, const Tokenizer& tokenizer);

}  // namespace tril::search
