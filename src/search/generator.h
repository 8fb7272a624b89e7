// Prompts -> what a language model goes on with: tokenises, bounds lengths, decodes in parallel, ends at stop texts.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "search/kept_text.h"
#include "search/parallel.h"
#include "text/tokenizer.h"

namespace tril::search {

struct GeneratorOptions {
  ParallelOptions decoding;
  std::int32_t min_new_tokens = 0;
  /// Nothing: as max_length says, or 256 tokens. The model's positions bound it too.
  std::optional<std::int32_t> max_new_tokens;
  std::optional<std::int32_t> max_length;  ///< of prompt and generated tokens together
  std::vector<std::string> stops;          ///< texts before which a generation ends
};

/// Why a generation ended.
enum class Finish : std::uint8_t {
  end_token,   ///< the model said so
  stop,        ///< a stop text came
  length,      ///< as many tokens as were asked for
  positions,   ///< the model has no more positions
  dead_end,    ///< nothing may follow
  time_limit,  ///< SearchOptions::time_limit was up
  cancelled    ///< the caller asked for it
};
std::string_view name_of(Finish finish);

struct Generation {
  std::string text;                  ///< without the prompt, up to a stop
  std::vector<std::int32_t> tokens;  ///< as generated, an end token included
  double log_prob = 0, score = 0;    ///< see Hypothesis
  Finish finish = Finish::length;
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
  /// @throws Error(usage) naming the prompt that leaves no room, or that has no token
  std::vector<std::vector<Generation>> generate(std::span<const std::string> prompts, const OnText& on_text = {},
                                                std::stop_token stop = {});

  /// The same for one prompt, of which `kept` may have read the beginning already.
  std::vector<Generation> generate(KeptText& kept, const std::string& prompt, const OnText& on_text = {},
                                   std::stop_token stop = {});

  /// The ids of a prompt, what a model expects in front of a text included.
  std::vector<std::int32_t> prompt_ids(const std::string& prompt, std::uint64_t number) const;

  /// Tokens so far: read as prompts, and generated.
  std::int64_t prompt_tokens() const { return prompt_tokens_; }
  std::int64_t new_tokens() const { return new_tokens_; }
  Speculation speculation() const { return decoder_.speculation(); }
  /// Characters of prompts so far that the vocabulary lacks.
  std::int64_t unknown() const { return unknown_; }

 private:
  class Streams;
  Request next_request(const std::string& prompt);
  Request request_for(std::vector<std::int32_t> ids, std::uint64_t number) const;
  Generation result(const Hypothesis& h, const Request& request) const;

  const model::Model* model_;
  std::shared_ptr<const Tokenizer> tokenizer_;
  GeneratorOptions options_;
  SearchOptions search_;  ///< completed
  ParallelDecoder decoder_;
  std::uint64_t prompts_ = 0;  // so far
  std::int64_t prompt_tokens_ = 0, new_tokens_ = 0, unknown_ = 0;
};

/// Throws Error(usage) where this is no language model, or the tokenizer's ids do not fit it.
void check_language_model(const model::Model& model, const Tokenizer& tokenizer);

}  // namespace tril::search
