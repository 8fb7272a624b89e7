// Converts source texts to requests of a search, and hypotheses back to translations. TranslationText is the interface; a
// model with an encoder reads the text as its source (EncodedText, here), a language model in a prompt (prompted_text.h).
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "decode/prompts/answer_parts.h"
#include "decode/texts/terminology.h"
#include "model/spec/model.h"
#include "search/plan.h"
#include "tokenizer/files/tokenizer.h"

namespace tril::search {

/// The given tokens that a length counts in addition to the generated ones. A forced first token, such as a language token, is
/// generated; with a prefix it is given, and precedes the prefix.
enum class Counted : std::uint8_t {
  output,  ///< generated tokens only
  first,   ///< also a given first token
  all,     ///< also the prefix: all tokens after the decoder's start token
};

/// Lengths, terminology and languages of translations.
struct TextOptions {
  std::int32_t min_length = 0;
  std::int32_t max_length = 512;  ///< in tokens, including EOS; the model's positions are a limit in any case
  Counted min_counts = Counted::output, max_counts = Counted::output;
  bool min_raises_max = true;  ///< if min_length exceeds max_length: true raises max_length, false lowers min_length
  /// Also limits the output to max_length_factor * source tokens + 20 tokens, for models that do not end by themselves; 0: no
  /// such limit.
  double max_length_factor = 3;
  /// Prescribed translations of source phrases; may be null. Needs beam search, or a prompt that lists them.
  std::shared_ptr<const Terminology> terminology = {};
  /// Gives the translation of a text that needs no search, such as that of a translation memory; nothing: the model translates.
  /// Called with the text as it is given to prepare(), unless it has a prefix. May be empty.
  std::function<std::optional<std::string>(const std::string& text)> recall = {};
  /// Minimum Bayes risk (mbr.h): returns the `mbr_best` samples with the highest expected chrF, which becomes their score; 0:
  /// returns all samples.
  std::int32_t mbr_best = 0;
  /// Codes of Tokenizer::languages(); "": the default of the model's directory. For a prompt: any codes ("de", "pt-BR"); only
  /// the source may be "".
  std::string source_language = {}, target_language = {};
  /// Gives the source language of each text, in place of source_language if it is not ""; for a model with an encoder. May be empty.
  std::function<std::string(const std::string& text)> source_of = {};
  std::int32_t context = 0;  ///< for a prompt: the number of texts before each text that it shows
  std::string style = {};    ///< for a prompt: the style of the translation
  /// Replaces an unknown token of the output by the source word with the most attention; needs SearchPlan::attention.
  bool replace_unknowns = false;
};

struct Translation {
  std::string text;
  std::vector<std::int32_t> tokens;  ///< as generated: with EOS, without the prefix
  double log_prob = 0, score = 0;    ///< see Hypothesis
  StopReason stop_reason = StopReason::length;
  bool at_length = false;                 ///< ended because it reached its maximum length
  bool cut_by_factor = false;             ///< this maximum was set by max_length_factor
  std::vector<Term> terms = {};           ///< terms of the source
  std::vector<Term> unsatisfied = {};     ///< those whose target phrase is missing
  std::vector<float> attention = {};      ///< [tokens, source tokens], if recorded
  std::vector<std::int32_t> source = {};  ///< source ids with EOS, if attention is recorded
  std::vector<RemovedPart> removed = {};  ///< of a prompt's answer: text around the translation
  bool recalled = false;                  ///< TextOptions::recall gave it
};

/// A text to translate.
struct TextInput {
  std::string text;
  std::string prefix = {};                ///< the beginning of the translation, may be empty
  std::vector<std::string> context = {};  ///< the texts before it, for a prompt
};

/// A prepared text: its request, and what is needed to convert the hypotheses to text.
struct TextToTranslate {
  std::string text, prefix;
  std::vector<std::int32_t> source;  ///< ids with their frame (sentence_frame.h)
  bool blank = false;                ///< there is nothing to translate
  Request request;
  std::vector<Term> terms;   ///< terms of the terminology in the text
  bool truncated = false;    ///< the text was longer than the model's positions
  bool by_factor = false;    ///< the maximum length was set by max_length_factor
  bool forced_end = false;   ///< an output of the maximum length is forced to end with EOS
  std::int64_t unknown = 0;  ///< tokens of text and prefix for characters that are not in the vocabulary
  std::optional<std::string> recalled = {};  ///< TextOptions::recall

  /// True if there is nothing to search: finish() needs no hypotheses.
  bool is_empty() const { return blank || recalled; }
};

class TranslationText {
 public:
  /// The model must outlive it.
  TranslationText(const model::Model& model, std::shared_ptr<const Tokenizer> tokenizer)
      : model_(&model), tokenizer_(std::move(tokenizer)) {}
  virtual ~TranslationText() = default;
  TranslationText(const TranslationText&) = delete;
  TranslationText& operator=(const TranslationText&) = delete;

  /// Throws Error(usage) if the options contradict each other, the search, or what the model can do.
  virtual void check(const TextOptions& options, const SearchPlan& search) const = 0;
  /// @param number  Request::number
  /// @param search  the plan of its search
  /// @throws Error(usage) naming the text whose prefix leaves no position free
  virtual TextToTranslate prepare(TextInput input, std::uint64_t number, const TextOptions& options,
                                  const SearchPlan& search) const = 0;
  /// The positions that a text takes, with its special tokens or prompt and, if one sequence holds both, its translation. A
  /// text that takes more positions than the model has is truncated.
  virtual std::int64_t positions_of(const TextInput& input, const TextOptions& options) const = 0;
  /// The translations, best first. A blank text has one translation, its prefix; a recalled text has the recalled one.
  std::vector<Translation> finish(const TextToTranslate& t, std::span<const Hypothesis> hypotheses,
                                  const TextOptions& options) const;
  /// The text of a running hypothesis.
  virtual std::string partial(const TextToTranslate& t, std::span<const std::int32_t> tokens) const = 0;

  /// True if only beam search can place the terms of a terminology.
  virtual bool places_terms() const { return true; }

  const model::Model& model() const { return *model_; }
  const Tokenizer& tokenizer() const { return *tokenizer_; }

 protected:
  /// TextOptions::recall of a text.
  static std::optional<std::string> recalled(const TextToTranslate& t, const TextOptions& options);

 private:
  /// The translation of one hypothesis.
  virtual Translation translation(const TextToTranslate& t, const Hypothesis& h, const TextOptions& options) const = 0;

  const model::Model* model_;
  std::shared_ptr<const Tokenizer> tokenizer_;
};

/// A text as the source of a model with an encoder.
class EncodedText : public TranslationText {
 public:
  /// @throws Error(usage) as check_tokenizer(); Error if the model defines no decoder start token
  EncodedText(const model::Model& model, std::shared_ptr<const Tokenizer> tokenizer);

  void check(const TextOptions& options, const SearchPlan& search) const override;
  TextToTranslate prepare(TextInput input, std::uint64_t number, const TextOptions& options,
                          const SearchPlan& search) const override;
  std::int64_t positions_of(const TextInput& input, const TextOptions& options) const override;
  std::string partial(const TextToTranslate& t, std::span<const std::int32_t> tokens) const override;

 private:
  Translation translation(const TextToTranslate& t, const Hypothesis& h, const TextOptions& options) const override;
  Request request_for(std::int64_t source_tokens, TextToTranslate& t, std::uint64_t number, const TextOptions& options,
                      const SearchPlan& search) const;
  /// @param attention  weights for replacing unknown tokens; empty: unknown tokens are left out
  std::string text_of(std::span<const std::int32_t> tokens, std::span<const float> attention,
                      const TextToTranslate& t) const;

  bool starts_with_language_ = false;  // as in the first mBART; in other models the language follows the start token
};

/// True if the decoder's start token is a language token.
bool starts_with_language(const model::Model& model, const Tokenizer& tokenizer);
/// The decoder's start token for a target language ("": the default of the model's directory).
std::int32_t decoder_start(const model::Model& model, const Tokenizer& tokenizer, std::string_view target_language);

/// True if white space ends the text: a new word begins after it.
bool ends_in_space(std::string_view text);

/// Adds the tokenizer's knowledge to a plan: suppresses ids without a piece, and marks the ids that begin or continue a word.
SearchPlan with_vocabulary(SearchPlan options, const model::Model& model, const Tokenizer& tokenizer);

/// The ids of a source text with their frame, truncated to max_positions (0: no limit). Sets `cut` if tokens were removed.
std::vector<std::int32_t> source_ids(const Tokenizer& tokenizer, const std::string& text, std::int64_t max_positions,
                                     bool& cut, std::string_view language = {});

/// Throws Error(usage) if the model does not translate, and Error if the tokenizer's ids do not fit its vocabularies or it has no
/// end token.
void check_tokenizer(const model::Model& model, const Tokenizer& tokenizer);

}  // namespace tril::search
