// Text generation with language models. With the same options, results are those of `tril generate`, byte for byte.
#pragma once

#include <tril/model.h>
#include <tril/stop_reason.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <vector>

TRIL_NAMESPACE_BEGIN
class GeneratorState;

/// A continuation of a prompt, or an answer.
struct Generation {
  std::string text;                             ///< without the prompt and the stop string
  std::vector<std::int32_t> tokens;             ///< as generated, including an end token
  double log_prob = 0;                          ///< sum over the tokens
  double score = 0;                             ///< what the hypotheses of a beam are ranked by
  StopReason stop_reason = StopReason::length;  ///< why it ended
};

/// A piece of a text that later tokens cannot change: whole characters of UTF-8. The last piece has `ended` set.
struct TextPiece {
  std::size_t prompt = 0;   ///< the number of the prompt in the call, from 0
  std::int32_t sample = 0;  ///< of the prompt's "n" samples, from 0
  std::string text;         ///< the piece; may be empty
  bool ended = false;       ///< true: the last piece of its text
};

/// A turn of a conversation.
struct Message {
  std::string role;     ///< "system", "user", "assistant"
  std::string content;  ///< what was said
};

/// What a call may be given besides its prompts.
struct GenerateOptions {
  /// Receives the text while it is generated, from one thread at a time; not called in beam search. An exception that it throws
  /// ends the call and reaches the caller.
  std::function<void(const TextPiece& piece)> on_text = {};
  /// When stop is requested, from any thread or from on_text, the search finishes the current step and cancels what is left. The
  /// text so far is returned with StopReason::cancelled.
  std::stop_token stop = {};
};

/// Threads, memory and options for generating with a model. Calls from several threads wait for each other: for work side by
/// side, give one call more prompts, or make a Generator for each thread. Movable.
class TRIL_API Generator {
 public:
  /// @param model  a language model
  /// @param options  those of option_list(): "max-new-tokens", "temperature", "top-p", "stop", "seed", "n", "beam-size", "regex",
  ///                 "json-schema" (a file, or the schema itself) and more
  /// @throws Error (usage) for options that are unknown, contradict each other, or have no effect on this model
  explicit Generator(const Model& model, const Options& options = {});
  ~Generator();
  Generator(Generator&&) noexcept;               ///< moves; the other object may only be destroyed or assigned to
  Generator& operator=(Generator&&) noexcept;    ///< moves likewise
  static std::vector<OptionInfo> option_list();  ///< the options of the constructor

  /// What follows a prompt in UTF-8. An empty prompt begins a new text.
  std::string generate(const std::string& prompt);
  /// The "n" continuations of each prompt, in the order of the prompts: samples, or the best of a beam.
  /// Samples depend on the number of the prompt among all that this object was given.
  /// @throws Error (usage) naming a prompt that has no token or is too long, by its number from 1
  std::vector<std::vector<Generation>> generate(const std::vector<std::string>& prompts,
                                                const GenerateOptions& options = {});

  /// The "n" answers to a conversation, which the model's chat template renders as a prompt. If "max-new-tokens" is not given, an
  /// answer has at most 512 tokens.
  /// @throws Error (usage) if the model has no chat template or the conversation leaves no room for an answer
  std::vector<Generation> chat(const std::vector<Message>& messages, const GenerateOptions& options = {});

 private:
  std::unique_ptr<GeneratorState> state_;
};

TRIL_NAMESPACE_END
