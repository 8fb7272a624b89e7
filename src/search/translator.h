// Texts -> translations: tokenises, bounds lengths, decodes in parallel, and puts everything back in the texts' order.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "search/parallel.h"
#include "search/terminology.h"
#include "text/tokenizer.h"

namespace tril::search {

struct TranslatorOptions {
  ParallelOptions decoding;
  std::int32_t min_length = 0;
  std::int32_t max_length = 512;  ///< of the output in tokens, EOS counted; the model's positions bound it too
  /// The output is also bounded by max_length_factor * source tokens + 20, so that a model that cannot stop does not
  /// run on; 0: not.
  double max_length_factor = 3;
  /// What source phrases must be translated by; may be null. For a beam search.
  std::shared_ptr<const Terminology> terminology = {};
  /// Minimum Bayes risk (mbr.h): of the search's samples the `mbr_best` of the highest expected chrF, which is their
  /// score; 0: the samples as they came.
  std::int32_t mbr_best = 0;
  /// An unknown token of the output becomes the source word that it looks at most; needs SearchOptions::attention.
  bool replace_unknowns = false;
};

struct Translation {
  std::string text;
  std::vector<std::int32_t> tokens;       ///< as generated, EOS included, a given prefix not
  double log_prob = 0, score = 0;         ///< see Hypothesis
  Cut cut = Cut::no;                      ///< whether the search was ended before its end
  std::vector<Term> unsatisfied = {};     ///< of the source, those whose target phrase the text lacks
  std::vector<float> attention = {};      ///< [tokens, source tokens], where it is kept
  std::vector<std::int32_t> source = {};  ///< ids that it looks at, EOS included; likewise
};

/// What is seen of a translation while it goes on, and how it is ended; the callback may be empty.
struct TranslationWatch {
  /// Told after every step what the best hypothesis for a text reads by now, which later ones may take back; by one worker
  /// at a time.
  std::function<void(std::size_t text, const std::string& so_far)> on_partial = {};
  std::stop_token stop = {};  ///< ends all that goes on, see Watch
};

class Translator {
 public:
  /// The model must outlive the translator.
  Translator(const model::Model& model, std::shared_ptr<const Tokenizer> tokenizer, TranslatorOptions options);

  /// The n best translations of each text, best first, or as many samples, whose draws depend on the text's number
  /// among all that this translator was given. A text without tokens has one translation, which is empty.
  /// @param prefixes  what each text's translations begin with, may be empty; none, or as many as texts. Where it ends
  ///                  in a space a word begins behind it, elsewhere its last word may go on. Lengths and scores are of
  ///                  what comes behind it.
  /// @throws Error(usage) naming the text whose prefix leaves no position free
  std::vector<std::vector<Translation>> translate(std::span<const std::string> texts,
                                                  std::span<const std::string> prefixes = {},
                                                  const TranslationWatch& watch = {});

  /// Texts so far that were longer than the model's positions and were cut.
  std::int64_t truncated() const { return truncated_; }
  /// Tokens of prefixes so far that stand for characters that the vocabulary lacks.
  std::int64_t unknown() const { return unknown_; }
  /// Tokens generated so far, of all hypotheses returned.
  std::int64_t target_tokens() const { return target_tokens_; }
  Speculation speculation() const { return decoder_.speculation(); }

 private:
  Request request_for(std::int64_t source_tokens, const std::string& prefix, std::uint64_t number) const;
  /// What a hypothesis translates and goes on from.
  struct Given {
    const Request& request;
    std::string prefix;
    const std::string& text;
    std::span<const std::int32_t> source;
  };
  /// @param attention  of the tokens; none: unknown ones are left out
  std::string text_of(std::span<const std::int32_t> tokens, std::span<const float> attention, const Given& given) const;

  const model::Model* model_;
  std::shared_ptr<const Tokenizer> tokenizer_;
  TranslatorOptions options_;
  ParallelDecoder decoder_;
  std::uint64_t texts_ = 0;  // so far
  std::int64_t truncated_ = 0, unknown_ = 0, target_tokens_ = 0;
};

/// The ids of a source text: its tokens, cut so that EOS still fits into max_positions (0: no bound), then EOS. Sets
/// `cut`.
std::vector<std::int32_t> source_ids(const Tokenizer& tokenizer, const std::string& text, std::int64_t max_positions,
                                     bool& cut);

/// Throws Error(usage) where the model does not translate, or the tokenizer's ids do not fit its vocabularies.
void check_tokenizer(const model::Model& model, const Tokenizer& tokenizer);

}  // namespace tril::search
