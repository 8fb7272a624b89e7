#include "serve/completion_request.h"

#include <charconv>

#include "base/error.h"
#include "search/logit_bias.h"
#include "serve/http_error.h"

namespace tril::serve {
namespace {

constexpr std::size_t most_schema_bytes = 64 * 1024, most_biases = 1024;

Fields fields_of(CompletionRequest& r, bool chat) {
  Fields f;
  f.add("model", &r.model, "a model's name; unset: the first that continues text");
  f.add("max-tokens", &r.max_tokens, chat ? "tokens to generate at most" : "tokens to generate at most; unset: 16")
      .at_least(0)
      .at_most(1'000'000);
  if (chat) f.add("max-completion-tokens", &r.max_completion_tokens, "the same").at_least(1).at_most(1'000'000);
  f.add("min-tokens", &r.min_tokens, "tokens before the end token may come").at_least(0).at_most(1'000'000);
  f.add("n", &r.n, "answers to each prompt").at_least(1).at_most(128);
  if (!chat) {
    f.add("best-of", &r.best_of, "draw so many and answer with the n most probable").at_least(1).at_most(128);
    f.add("echo", &r.echo, "the answer begins with the prompt; with logprobs, so do those");
    f.add("logprobs", &r.logprobs, "tell log-probabilities, and so many of the likeliest tokens")
        .at_least(0)
        .at_most(20);
  } else {
    f.add("logprobs", &r.chat_logprobs, "tell log-probabilities of tokens");
    f.add("top-logprobs", &r.top_logprobs, "and so many of the likeliest").at_least(0).at_most(20);
  }
  f.add("stop", &r.stop, "texts before which an answer ends");
  f.add("stream", &r.stream, "tell the text by server-sent events while it comes");
  f.add("priority", &r.priority, "a number; the higher are served first; above 0 for administrators alone")
      .at_least(-100)
      .at_most(100);
  f.add("time-limit", &r.time_limit, "seconds; then it ends where it is").above(0).at_most(1e6);
  add_search_fields(f, r.search, false);
  return f;
}

// What would make another answer than the one that comes is refused.
void refuse_unsupported(const Json& body) {
  for (const char* name : {"suffix", "tools", "functions", "tool_choice", "function_call", "audio", "prediction"}) {
    const auto given = body.find(name);
    if (given == body.end() || given->is_null() || given->empty() || *given == "" || *given == "none") continue;
    throw HttpError(400, fmt::format("{} is not supported", name), name);
  }
}

// {"type": "text" | "json_object"} or {"type": "json_schema", "json_schema": {"schema": {...}}}
void read_format(const Json& body, CompletionRequest& r) {
  const auto given = body.find("response_format");
  if (given == body.end() || given->is_null()) return;
  const HttpError wrong(400,
                        "response_format: expected {\"type\": \"text\"}, {\"type\": \"json_object\"} or {\"type\": "
                        "\"json_schema\", \"json_schema\": {\"schema\": {...}}}",
                        "response_format");
  if (!given->is_object() || !given->contains("type")) throw wrong;
  const Json& type = (*given)["type"];
  if (type == "text") return;
  if (type == "json_object") {
    r.format = CompletionRequest::Format::json_object;
    return;
  }
  const auto named = given->find("json_schema");
  if (type != "json_schema" || named == given->end() || !named->is_object() || !named->contains("schema")) throw wrong;
  r.format = CompletionRequest::Format::json_schema;
  r.schema = dumped((*named)["schema"]);
  if (r.schema.size() > most_schema_bytes)
    throw HttpError(400,
                    fmt::format("response_format: the schema has {} bytes, at most {} may come", r.schema.size(),
                                most_schema_bytes),
                    "response_format");
}

// {"50256": -100, "11": 2.5}
void read_bias(const Json& body, CompletionRequest& r) {
  const auto given = body.find("logit_bias");
  if (given == body.end() || given->is_null()) return;
  const HttpError wrong(
      400,
      fmt::format("logit_bias: expected {{\"ID\": BIAS, ...}}, at most {} tokens with biases from -100 to 100",
                  most_biases),
      "logit_bias");
  if (!given->is_object() || given->size() > most_biases) throw wrong;
  for (const auto& [token, bias] : given->items()) {
    std::int32_t id = -1;
    const auto [end, error] = std::from_chars(token.data(), token.data() + token.size(), id);
    if (error != std::errc() || end != token.data() + token.size() || id < 0 || !bias.is_number()) throw wrong;
    const double value = bias.get<double>();
    if (!(value >= -search::most_bias && value <= search::most_bias)) throw wrong;
    r.logit_bias.emplace_back(id, value);
  }
}

}  // namespace

CompletionRequest read_completion_request(const Json& body, bool chat) {
  thread_local RequestForm<CompletionRequest> of_text([](CompletionRequest& r) { return fields_of(r, false); });
  thread_local RequestForm<CompletionRequest> of_chat([](CompletionRequest& r) { return fields_of(r, true); });
  CompletionRequest r = (chat ? of_chat : of_text).read(body);
  r.chat = chat;
  refuse_unsupported(body);
  if (const auto o = body.find("stream_options"); o != body.end() && o->is_object())
    r.include_usage = o->contains("include_usage") && (*o)["include_usage"] == true;
  read_format(body, r);
  read_bias(body, r);
  return r;
}

Json completion_schema(bool chat) {
  CompletionRequest r;
  Json schema = schema_of(fields_of(r, chat));
  if (chat)
    schema["properties"]["messages"] = {{"type", "array"}, {"items", {{"type", "object"}}}};
  else
    schema["properties"]["prompt"] = {{"description", "a text, a list of token ids, or a list of either"}};
  schema["properties"]["response_format"] = {{"type", "object"},
                                             {"description", "text, json_object or json_schema: what the answer is"}};
  schema["properties"]["logit_bias"] = {
      {"type", "object"}, {"description", "by tokens' ids what is added to their logits; -100 forbids: {\"5\": -100}"}};
  schema["required"] = Json::array({chat ? "messages" : "prompt"});
  return schema;
}

std::vector<std::string> texts_of_prompts(const Json& body) {
  std::vector<std::string> texts;
  const auto given = body.find("prompt");
  if (given == body.end()) return texts;
  if (given->is_string()) texts.push_back(given->get<std::string>());
  if (given->is_array())
    for (const Json& one : *given)
      if (one.is_string()) texts.push_back(one.get<std::string>());
  return texts;
}

std::vector<Prompt> prompts_of(const Json& body, const ServedModel& m) {
  const auto given = body.find("prompt");
  if (given == body.end() || given->is_null()) throw HttpError(400, "prompt is missing", "prompt");
  const HttpError wrong(400, "prompt: expected a text, a list of token ids, or a list of either", "prompt");
  std::vector<Prompt> prompts;
  const auto add = [&](const Json& one) {
    const std::string where = fmt::format("prompt {}", prompts.size() + 1);
    if (one.is_string()) {
      prompts.push_back({one.get<std::string>(), {}});
      prompts.back().ids = m.continuation().prompt_ids(prompts.back().text, where);
      return;
    }
    if (!one.is_array() || one.empty()) throw wrong;
    Prompt p;
    for (const Json& id : one) {
      const std::int64_t n = id.is_number_integer() ? id.get<std::int64_t>() : -1;
      if (n < 0 || n >= m.tokenizer().size(Side::target)) throw wrong;
      p.ids.push_back(static_cast<std::int32_t>(n));
    }
    if (const std::int64_t positions = m.model().max_positions();
        positions > 0 && static_cast<std::int64_t>(p.ids.size()) > positions)
      throw HttpError(400, fmt::format("{} has {} tokens, the model has {} positions", where, p.ids.size(), positions),
                      "prompt");
    p.text = m.tokenizer().decode(p.ids, Side::target);
    prompts.push_back(std::move(p));
  };
  const bool list = given->is_array() && !given->empty() && !(*given)[0].is_number();
  if (list)
    for (const Json& one : *given) add(one);
  else
    add(*given);
  return prompts;
}

Json messages_of(const Json& body) {
  const auto given = body.find("messages");
  if (given == body.end() || !given->is_array() || given->empty())
    throw HttpError(400, "messages: expected a list of at least one", "messages");
  Json messages = Json::array();
  for (const Json& one : *given) {
    if (!one.is_object() || !one.contains("role") || !one["role"].is_string())
      throw HttpError(400, "messages: each has a role and a content", "messages");
    std::string content;
    const auto c = one.find("content");
    if (c != one.end() && c->is_string()) {
      content = c->get<std::string>();
    } else if (c != one.end() && c->is_array()) {
      for (const Json& part : *c) {
        if (!part.is_object() || !part.contains("type") || part["type"] != "text" || !part.contains("text") ||
            !part["text"].is_string())
          throw HttpError(400, "messages: only parts of text are supported", "messages");
        content += part["text"].get<std::string>();
      }
    } else {
      throw HttpError(400, "messages: each has a role and a content", "messages");
    }
    messages.push_back({{"role", one["role"]}, {"content", content}});
  }
  return messages;
}

Prompt chat_prompt(const ServedModel& m, const Json& messages) {
  Prompt p;
  try {
    p.text = m.loaded().chat(messages, true);
    p.ids = m.tokenizer().encode(p.text, Side::target);
  } catch (const Error& error) {
    throw HttpError(400, error.what(), "messages");
  }
  if (p.ids.empty()) throw HttpError(400, "messages: come to a text without tokens", "messages");
  const std::int64_t positions = m.model().max_positions();
  if (positions > 0 && static_cast<std::int64_t>(p.ids.size()) > positions)
    throw HttpError(400, fmt::format("messages come to {} tokens, the model has {} positions", p.ids.size(), positions),
                    "messages");
  return p;
}

}  // namespace tril::serve
