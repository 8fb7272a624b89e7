// Texts -> translations: tokenises, bounds lengths, decodes in parallel, and puts everything back in the texts' order.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "decode/batches/parallel.h"
#include "decode/texts/translation_text.h"

namespace tril::search {

struct TranslatorOptions : TextOptions {
  ParallelOptions decoding;
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
  ///                  in a space a word begins after it, elsewhere its last word may go on. Lengths and scores are of
  ///                  what comes after it.
  /// @throws Error(usage) naming the text whose prefix leaves no position free
  std::vector<std::vector<Translation>> translate(std::span<const std::string> texts,
                                                  std::span<const std::string> prefixes = {},
                                                  const TranslationWatch& watch = {});

  /// The next text is that of this number, from 0: what is drawn for it is what a translator of all texts would draw.
  void go_to(std::uint64_t number) { texts_ = number; }

  /// Texts so far that were longer than the model's positions and were cut.
  std::int64_t truncated() const { return truncated_; }
  /// Tokens of texts and prefixes so far for characters that the vocabulary lacks.
  std::int64_t unknown() const { return unknown_; }
  /// Tokens generated so far, of all hypotheses returned.
  std::int64_t target_tokens() const { return target_tokens_; }
  Speculation speculation() const { return decoder_.speculation(); }

 private:
  TranslationText text_;
  TranslatorOptions options_;
  ParallelDecoder decoder_;
  std::uint64_t texts_ = 0;  // the number of the next
  std::int64_t truncated_ = 0, unknown_ = 0, target_tokens_ = 0;
};

}  // namespace tril::search
