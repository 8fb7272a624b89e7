// What an OpenAI client asks for: the fields of a completion or a chat, read and checked, and the prompts that they come to.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "serve/api/request_fields.h"
#include "serve/engine/served_model.h"
#include "settings/search_options.h"

namespace tril::serve {

struct CompletionRequest {
  std::string model;
  std::optional<std::int64_t> max_tokens, max_completion_tokens, best_of, logprobs, top_logprobs;
  std::int64_t n = 1, min_tokens = 0, priority = 0;
  std::vector<std::string> stop;
  std::optional<double> time_limit;
  bool stream = false, echo = false, include_usage = false, chat = false, chat_logprobs = false;
  enum class Format : std::uint8_t { text, json_object, json_schema } format = Format::text;
  std::string schema;  ///< of json_schema
  std::vector<std::pair<std::int32_t, double>> logit_bias;
  SearchOptions search;
};

struct Prompt {
  std::string text;
  std::vector<std::int32_t> ids;
};

/// @param chat  whether it is a chat's, in which "logprobs" is a choice and not a number
/// @param warnings  where it is told what of the request is passed over
/// @throws HttpError (400) naming the field that is not what it should be, or that would make another answer than comes
CompletionRequest read_completion_request(const Json& body, bool chat, Warnings& warnings);
/// What it may hold, for the API's description.
Json completion_schema(bool chat);

/// Those prompts that are texts, as they stand in the request.
std::vector<std::string> texts_of_prompts(const Json& body);
/// "prompt": a text, ids, or a list of either.
std::vector<Prompt> prompts_of(const Json& body, const ServedModel& m);
/// "messages", checked: [{"role": ..., "content": a text}, ...], with whatever else a template may look for; the content of
/// an assistant's that calls tools may be null or absent, and what a tool is called with is an object.
Json messages_of(const Json& body, Warnings& warnings);
/// What they come to, to be held against limits.
std::vector<std::string> texts_of_messages(const Json& messages);
/// What the model's template makes of a chat; its special tokens are spelt out in it.
Prompt chat_prompt(const ServedModel& m, const Json& messages);

}  // namespace tril::serve
