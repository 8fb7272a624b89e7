// Prompts to continuations: tokenises, limits lengths, decodes in parallel, ends at stop strings.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "decode/batches/parallel.h"
#include "decode/batches/prompt_session.h"
#include "decode/texts/continuation_text.h"

namespace tril::search {

struct GeneratorOptions : ContinuationOptions {
  ParallelOptions decoding;
  /// A prompt that cannot be continued gets one empty generation (StopReason::refused) instead of an Error for all prompts.
  bool pass_over_refused = false;
};

/// A piece of a sample's text that later tokens cannot change. The last piece of a sample has `ended` set.
struct TextPiece {
  std::size_t prompt;
  std::int32_t sample;
  std::string text;
  bool ended;
};
using OnText = std::function<void(const TextPiece&)>;

class Generator {
 public:
  /// The model must outlive the generator.
  Generator(const model::Model& model, std::shared_ptr<const Tokenizer> tokenizer, GeneratorOptions options);

  /// The continuations of each prompt: the n_best hypotheses, best first, or n_best samples. An empty prompt becomes the
  /// model's begin token. Samples depend on the number of the prompt among all prompts that this generator was given.
  /// @param on_text  receives the text during the search, from one worker at a time; not called in beam search
  /// @param stop     see Watch
  /// @throws Error(usage) naming a prompt that has no token or is too long, unless pass_over_refused is set
  std::vector<std::vector<Generation>> generate(std::span<const std::string> prompts, const OnText& on_text = {},
                                                std::stop_token stop = {});

  /// The same for prompts given as ids, which a chat template may have rendered, for example: nothing is added to them.
  std::vector<std::vector<Generation>> generate_after(std::span<const std::vector<std::int32_t>> prompts,
                                                      const OnText& on_text = {}, std::stop_token stop = {});

  /// The same for one prompt; reuses what `kept` has already read of it.
  std::vector<Generation> generate(PromptSession& kept, const std::string& prompt, const OnText& on_text = {},
                                   std::stop_token stop = {});

  const ContinuationText& text() const { return text_; }
  /// The number of prompt tokens and of generated tokens so far.
  std::int64_t prompt_tokens() const { return prompt_tokens_; }
  std::int64_t new_tokens() const { return new_tokens_; }
  Speculation speculation() const { return decoder_.speculation(); }
  /// Characters of prompts so far that are not in the vocabulary.
  std::int64_t unknown() const { return unknown_; }
  /// The number of refused prompts so far, and the error of the first one.
  std::int64_t refused() const { return refused_; }
  const std::string& first_refusal() const { return first_refusal_; }

 private:
  class Streams;
  Request next_request(const std::string& prompt);
  std::optional<Request> next_request_if_any(const std::string& prompt);
  Request request_of(std::vector<std::int32_t> ids, std::uint64_t number);
  /// @param places  the prompt's number of each request
  void decode(std::span<const Request> requests, const std::vector<std::size_t>& places, const OnText& on_text,
              std::stop_token stop, std::vector<std::vector<Generation>>& results);

  ContinuationText text_;
  GeneratorOptions options_;
  SearchPlan search_;  ///< with stop strings and suppressed ids
  ParallelDecoder decoder_;
  std::uint64_t prompts_ = 0;  ///< number of prompts so far
  std::int64_t prompt_tokens_ = 0, new_tokens_ = 0, unknown_ = 0, refused_ = 0;
  std::string first_refusal_;
};

}  // namespace tril::search
