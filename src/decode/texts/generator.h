// Prompts -> what a language model goes on with: tokenises, bounds lengths, decodes in parallel, ends at stop texts.
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
  /// A prompt that nothing can follow has one empty generation (StopReason::refused) instead of ending all by an Error.
  bool pass_over_refused = false;
};

/// A piece of text as it becomes certain, of the prompt and sample of these numbers; `ended` once, with the last.
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

  /// What follows each prompt: the best n_best, best first, or as many samples. An empty prompt is the model's begin
  /// token. What is drawn depends on the prompt's number among all that this generator was given.
  /// @param on_text  told of the text while it comes; by one worker at a time; not in a beam search
  /// @param stop  ends all that goes on, see Watch
  /// @throws Error(usage) naming the prompt that leaves no room, or that has no token, unless those are passed over
  std::vector<std::vector<Generation>> generate(std::span<const std::string> prompts, const OnText& on_text = {},
                                                std::stop_token stop = {});

  /// The same for one prompt, of which `kept` may have read the beginning already.
  std::vector<Generation> generate(PromptSession& kept, const std::string& prompt, const OnText& on_text = {},
                                   std::stop_token stop = {});

  const ContinuationText& text() const { return text_; }
  /// Tokens so far: read as prompts, and generated.
  std::int64_t prompt_tokens() const { return prompt_tokens_; }
  std::int64_t new_tokens() const { return new_tokens_; }
  Speculation speculation() const { return decoder_.speculation(); }
  /// Characters of prompts so far that the vocabulary lacks.
  std::int64_t unknown() const { return unknown_; }
  /// Prompts passed over so far, and what was wrong with the first.
  std::int64_t refused() const { return refused_; }
  const std::string& first_refusal() const { return first_refusal_; }

 private:
  class Streams;
  Request next_request(const std::string& prompt);
  std::optional<Request> next_request_if_any(const std::string& prompt);

  ContinuationText text_;
  GeneratorOptions options_;
  SearchPlan search_;  ///< completed
  ParallelDecoder decoder_;
  std::uint64_t prompts_ = 0;  // so far
  std::int64_t prompt_tokens_ = 0, new_tokens_ = 0, unknown_ = 0, refused_ = 0;
  std::string first_refusal_;
};

}  // namespace tril::search
