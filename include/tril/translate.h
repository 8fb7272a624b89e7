// Translation. With the same options, results are those of `tril translate`, byte for byte.
#pragma once

#include <tril/alignment.h>
#include <tril/model.h>
#include <tril/stop_reason.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <vector>

TRIL_NAMESPACE_BEGIN
class TranslatorState;

/// A phrase and the translation that it must have.
struct Term {
  std::string source;  ///< the phrase
  std::string target;  ///< its translation
};

/// A translation with its score.
struct Translation {
  std::string text;                  ///< UTF-8
  std::vector<std::int32_t> tokens;  ///< as generated, with the end token
  double log_prob = 0;               ///< sum over the tokens; 0 from a greedy search with one translation
  double score = 0;                  ///< what translations are ranked by: log_prob / tokens^length_penalty
  StopReason stop_reason = StopReason::end_token;  ///< of a split text: of its last segment
  std::vector<Term> terms = {};                    ///< those of "terminology" and "glossary" that are in the text
  std::vector<Term> missing_terms = {};            ///< those of them whose translation is not in `text`
  bool recalled = false;  ///< whether `text` is from "memory"; of a split text: all of its parts
  // With the option "alignment"; otherwise empty.
  std::vector<std::int32_t> source_tokens = {};  ///< of the text, with the end token
  std::vector<float> attention = {};             ///< [tokens, source_tokens]: cross-attention; each row sums to 1
  std::vector<AlignmentPoint> alignment = {};    ///< if "alignment" is "hard" or a threshold
};

/// What a call may be given besides its texts.
struct TranslateOptions {
  /// The beginning of each translation: none, or one for each text, possibly empty. After a final space a new word begins.
  /// Not for split texts.
  std::vector<std::string> prefixes = {};
  /// Called after every step with the text of the best running hypothesis, which later steps may replace; from one thread at a
  /// time. An exception that it throws ends the call and reaches the caller. Not called for split texts.
  std::function<void(std::size_t text, const std::string& so_far)> on_partial = {};
  /// When stop is requested, from any thread, the search finishes the current step and cancels what is left. Cancelled
  /// translations have StopReason::cancelled.
  std::stop_token stop = {};
};

/// Threads, memory and options for translating with a model. Calls from several threads wait for each other: for work side by
/// side, give one call more texts, or make a Translator for each thread. Movable.
class TRIL_API Translator {
 public:
  /// @param model  an encoder-decoder model, or a language model, which gets each text in a prompt
  /// @param options  those of option_list(): "source-language", "target-language", "threads" (0: all cores), "beam-size",
  ///                 "n-best", "split" ("sentences": paragraphs of any length), "alignment" ("soft", "hard" or a threshold),
  ///                 "terminology", "glossary", "memory" (files) and more
  /// @throws Error (usage) for options that are unknown, contradict each other, or have no effect on this model
  explicit Translator(const Model& model, const Options& options = {});
  ~Translator();
  Translator(Translator&&) noexcept;             ///< moves; the other object may only be destroyed or assigned to
  Translator& operator=(Translator&&) noexcept;  ///< moves likewise
  static std::vector<OptionInfo> option_list();  ///< the options of the constructor

  /// The best translation of a text in UTF-8. Empty text stays empty.
  std::string translate(const std::string& text);
  /// The best translation of each text, in order. Texts are sorted into batches by length: one call with many texts is much
  /// faster than many calls.
  std::vector<std::string> translate(const std::vector<std::string>& texts);
  /// The "n-best" translations of each text, best first, or samples. A split text has one.
  /// Samples depend on the number of the text among all that this object was given.
  /// @throws Error (usage) naming the text that is wrong, by its number from 1
  std::vector<std::vector<Translation>> translate_n_best(const std::vector<std::string>& texts,
                                                         const TranslateOptions& options = {});

 private:
  std::unique_ptr<TranslatorState> state_;
};

TRIL_NAMESPACE_END
