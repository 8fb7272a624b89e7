// An OpenAI client's request: the fields of a completion or chat, read and checked, and the resulting prompts.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "serve/api/request_fields.h"
#include "serve/api/schedule.h"
#include "serve/engine/served_model.h"
#include "settings/search_options.h"

namespace tril::serve {

struct CompletionRequest {
  std::string model;
  std::optional<std::int64_t> max_tokens, max_completion_tokens, best_of;
  std::optional<std::int64_t> logprobs;      ///< return log-probabilities, and this many of the likeliest tokens
  std::optional<std::int64_t> top_logprobs;  ///< of a chat; determines `logprobs`
  std::int64_t n = 1, min_tokens = 0;
  std::vector<std::string> stop;
  Schedule schedule;
  bool stream = false, echo = false, include_usage = false, chat = false, chat_logprobs = false;
  enum class Format : std::uint8_t { text, json_object, json_schema } format = Format::text;
  std::string schema;                     ///< of json_schema
  std::optional<std::string> prediction;  ///< what the completion is likely to be
  std::vector<std::pair<std::int32_t, double>> logit_bias;
  SearchOptions search;
};

struct Prompt {
  std::string text;
  std::vector<std::int32_t> ids;
};

/// @param chat  whether it is a chat, in which "logprobs" is a flag, not a number
/// @param warnings  receives what is ignored
/// @throws HttpError (400) naming a field that is invalid, or unsupported and would change the answer
CompletionRequest read_completion_request(const Json& body, bool chat, Warnings& warnings);
/// The request's schema, for the API's description.
Json completion_schema(bool chat);

/// The prompts that are texts, as given in the request.
std::vector<std::string> texts_of_prompts(const Json& body);
/// "prompt": a text, ids, or a list of either.
std::vector<Prompt> prompts_of(const Json& body, const ServedModel& m);
/// "messages", checked: [{"role": ..., "content": a text}, ...], with any other fields that a template may use; the
/// content of an assistant's message with tool calls may be null or absent, and arguments of calls are objects.
Json messages_of(const Json& body, Warnings& warnings);
/// The texts in messages, to be checked against limits.
std::vector<std::string> texts_of_messages(const Json& messages);
/// The chat as rendered by the model's template, with special tokens spelt out.
Prompt chat_prompt(const ServedModel& m, const Json& messages);

}  // namespace tril::serve
