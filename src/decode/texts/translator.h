// Texts to translations: tokenises, limits lengths, decodes in parallel, and returns results in the order of the texts.
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

/// A callback for running translations, which may be empty, and a way to stop them.
struct TranslationWatch {
  /// Called after every step with the text of the best running hypothesis, which later steps may replace; from one worker at a
  /// time.
  std::function<void(std::size_t text, const std::string& so_far)> on_partial = {};
  std::stop_token stop = {};  ///< see Watch
};

class Translator {
 public:
  /// A translator for a model with an encoder, which must outlive it.
  Translator(const model::Model& model, std::shared_ptr<const Tokenizer> tokenizer, TranslatorOptions options);
  /// The same for any model.
  Translator(std::unique_ptr<const TranslationText> text, TranslatorOptions options);

  /// The n_best translations of each text, best first, or n_best samples. Samples depend on the number of the text among all
  /// texts that this translator was given. A text without tokens has one translation, which is its prefix.
  /// @param prefixes  the beginnings of the translations: none, or one for each text, possibly empty. After a prefix that
  ///                  ends in a space, a new word begins; otherwise the last word may continue. Lengths and scores do not
  ///                  include the prefix
  /// @param numbers   the numbers of the texts, which their samples depend on; none: each follows the one before
  /// @throws Error(usage) naming the text whose prefix leaves no position free
  std::vector<std::vector<Translation>> translate(std::span<const std::string> texts,
                                                  std::span<const std::string> prefixes = {},
                                                  const TranslationWatch& watch = {},
                                                  std::span<const std::uint64_t> numbers = {});

  /// Sets the number of the next text, from 0, so that its samples are those of a translator that was given all texts. If it
  /// is not the text that follows, its context is empty.
  void go_to(std::uint64_t number);
  /// The next text follows these, which another translator was given: samples and context are as if this one had been.
  void continue_after(std::span<const std::string> texts);

  /// The number of texts so far that were truncated to the model's positions.
  std::int64_t truncated() const { return truncated_; }
  /// Tokens of texts and prefixes so far for characters that are not in the vocabulary.
  std::int64_t unknown() const { return unknown_; }
  /// Tokens generated so far, of all hypotheses returned.
  std::int64_t target_tokens() const { return target_tokens_; }
  Speculation speculation() const { return decoder_.speculation(); }

  const TranslationText& text() const { return *text_; }
  const TextOptions& options() const { return options_; }

 private:
  std::vector<std::string> context_of(std::span<const std::string> texts, std::size_t text) const;

  std::unique_ptr<const TranslationText> text_;
  TranslatorOptions options_;
  ParallelDecoder decoder_;
  std::uint64_t texts_ = 0;           ///< the number of the next text
  std::vector<std::string> earlier_;  ///< the texts before it that its context may show
  std::int64_t truncated_ = 0, unknown_ = 0, target_tokens_ = 0;
};

}  // namespace tril::search
