#include "serve/api/completion_request.h"

#include <charconv>
#include <memory>
#include <set>

#include "base/error.h"
#include "decode/texts/logit_bias.h"
#include "serve/api/search_fields.h"
#include "serve/http/http_error.h"

namespace tril::serve {
namespace {

constexpr const char* too_long = "context_length_exceeded";
constexpr std::size_t most_schema_bytes = std::size_t{64} << 10, most_biases = 1024;
constexpr Range answer_counts{1, 128}, likeliest_counts{0, 20};

Fields fields_of(CompletionRequest& r, bool chat) {
  Fields f;
  f.add("model", &r.model, "name of the model; unset: the first language model");
  f.add("max-tokens", &r.max_tokens,
        fmt::format("maximum number of tokens to generate; {}also limited by the server's `max_new_tokens`",
                    chat ? "" : fmt::format("unset: {}; ", default_completion_tokens)))
      .within(limits::tokens);
  if (chat)
    f.add("max-completion-tokens", &r.max_completion_tokens, "the same as max_tokens").within(limits::some_tokens);
  f.add("min-tokens", &r.min_tokens, "minimum number of tokens before the end token").within(limits::tokens);
  f.add("n", &r.n, "number of completions of each prompt; with temperature 0, all are the same").within(answer_counts);
  if (!chat) {
    f.add("best-of", &r.best_of, "draw this many completions and return the n most probable; not with stream")
        .within(answer_counts);
    f.add("echo", &r.echo, "return the prompt before the completion, and with logprobs its log-probabilities too");
    f.add("logprobs", &r.logprobs, "return log-probabilities, and this many of the likeliest tokens")
        .within(likeliest_counts);
  } else {
    f.add("logprobs", &r.chat_logprobs, "return log-probabilities of tokens");
    f.add("top-logprobs", &r.top_logprobs, "with logprobs: return this many of the likeliest tokens")
        .within(likeliest_counts);
  }
  f.add("stop", &r.stop, "stop strings: a completion ends before them");
  f.add("stream", &r.stream, "send the text as server-sent events while it is generated");
  add_schedule_fields(f, r.schedule, "the completion ends with what has been generated");
  add_search_fields(f, r.search, false);
  return f;
}

// Features of OpenAI's API that are not supported and would change the answer: refused if requested.
void refuse_unsupported(const Json& body) {
  for (const char* name :
       {"suffix", "tools", "functions", "tool_choice", "function_call", "audio", "web_search_options"}) {
    const auto given = body.find(name);
    if (given == body.end() || given->is_null() || given->empty() || *given == "" || *given == "none") continue;
    throw field_error(name, "is not supported");
  }
  const auto modalities = body.find("modalities");
  if (modalities != body.end() && !modalities->is_null() && *modalities != Json::array({"text"}))
    throw field_error("modalities", "only [\"text\"] is supported");
}

// Fields that do not change the answer: user, purpose, accounting, storage, speed, delivery.
const std::vector<std::string>& harmless() {
  static const std::vector<std::string> names{"user",
                                              "metadata",
                                              "store",
                                              "service_tier",
                                              "parallel_tool_calls",
                                              "safety_identifier",
                                              "prompt_cache_key",
                                              "prompt_cache_retention"};
  return names;
}

// Settings for the behaviour of OpenAI's models, which models served here cannot obey.
const std::vector<std::string>& not_obeyed() {
  static const std::vector<std::string> names{"reasoning_effort", "verbosity"};
  return names;
}

void tell_not_obeyed(const Json& body, Warnings& warnings) {
  for (const std::string& name : not_obeyed())
    if (const auto given = body.find(name); given != body.end() && !given->is_null())
      warnings.pass_over(name, name + ": is not supported by these models");
}

// Fields that other code reads.
std::vector<std::string> others(bool chat) {
  std::vector<std::string> names{"response_format", "logit_bias", "prediction",         "stream_options",
                                 "suffix",          "tools",      "functions",          "tool_choice",
                                 "function_call",   "audio",      "web_search_options", "modalities"};
  names.push_back(chat ? "messages" : "prompt");
  names.insert(names.end(), harmless().begin(), harmless().end());
  names.insert(names.end(), not_obeyed().begin(), not_obeyed().end());
  return names;
}

// The text of a message or a prediction; nothing if it has none, which is allowed beside tool calls.
std::optional<std::string> content_of(const Json& message, const char* field, const std::string& within,
                                      Warnings& warnings) {
  const auto given = message.find("content");
  if (given == message.end() || given->is_null()) return std::nullopt;
  if (given->is_string()) return given->get<std::string>();
  if (!given->is_array())
    throw HttpError(400, within + "content: expected a string, or a list of parts").of_field(field);
  std::string content;
  for (std::size_t i = 0; i < given->size(); ++i) {
    const Json& part = (*given)[i];
    if (!part.is_object() || !part.contains("type") || part["type"] != "text" || !part.contains("text") ||
        !part["text"].is_string())
      throw HttpError(
          400,
          fmt::format(R"({}content[{}]: expected {{"type": "text", "text": "..."}}; only text parts are supported)",
                      within, i))
          .of_field(field);
    warnings.check_keys(part, {"type", "text"}, fmt::format("{}content[{}].", within, i));
    content += part["text"].get<std::string>();
  }
  return content;
}

// {"type": "content", "content": a text or its parts}
void read_prediction(const Json& body, CompletionRequest& r, Warnings& warnings) {
  const auto given = body.find("prediction");
  if (given == body.end() || given->is_null()) return;
  const std::string form = R"({"type": "content", "content": a text, or a list of text parts})";
  if (!given->is_object()) throw field_error("prediction", "expected " + form);
  warnings.check_keys(*given, {"type", "content"}, "prediction.");
  const Json type = given->value("type", Json());
  if (type != "content")
    throw field_error("prediction", fmt::format("type is {}, expected {}", json_text(type).substr(0, 100), form));
  std::optional<std::string> content = content_of(*given, "prediction", "prediction.", warnings);
  if (!content) throw field_error("prediction", "content is missing: expected " + form);
  r.prediction = std::move(*content);
}

// {"include_usage": true}
void read_stream_options(const Json& body, CompletionRequest& r, Warnings& warnings) {
  const auto given = body.find("stream_options");
  if (given == body.end() || given->is_null()) return;
  if (!given->is_object()) throw field_error("stream_options", "expected {\"include_usage\": true or false}");
  warnings.check_keys(*given, {"include_usage", "include_obfuscation"}, "stream_options.");
  const auto usage = given->find("include_usage");
  if (usage == given->end() || usage->is_null()) return;
  if (!usage->is_boolean())
    throw HttpError(400, "stream_options.include_usage: expected true or false").of_field("stream_options");
  r.include_usage = usage->get<bool>();
}

// {"type": "text" | "json_object"}, llama.cpp's {"type": "json_object", "schema": {...}}, or
// {"type": "json_schema", "json_schema": {"schema": {...}}}
void read_format(const Json& body, CompletionRequest& r, Warnings& warnings) {
  const auto given = body.find("response_format");
  if (given == body.end() || given->is_null()) return;
  const HttpError wrong =
      field_error("response_format",
                  "expected {\"type\": \"text\"}, {\"type\": \"json_object\"}, the same with "
                  "\"schema\": {...}, or {\"type\": \"json_schema\", \"json_schema\": {\"schema\": {...}}}");
  if (!given->is_object() || !given->contains("type")) throw wrong;
  const Json& type = (*given)["type"];
  const auto find = [](const Json& object, const char* name) -> const Json* {
    const auto found = object.find(name);
    return found == object.end() || found->is_null() ? nullptr : &*found;
  };
  warnings.check_keys(*given, {"type", "schema", "json_schema"}, "response_format.");
  const Json *schema = find(*given, "schema"), *const named = find(*given, "json_schema");
  if (type == "json_schema") {
    if (!named || !named->is_object() || schema) throw wrong;
    warnings.check_keys(*named, {"name", "description", "schema", "strict"}, "response_format.json_schema.");
    schema = find(*named, "schema");
    if (!schema) throw wrong;
  } else if ((type != "text" && type != "json_object") || named || (schema && type == "text")) {
    throw wrong;
  }
  if (type == "text") return;
  r.format = schema ? CompletionRequest::Format::json_schema : CompletionRequest::Format::json_object;
  if (!schema) return;
  r.schema = json_text(*schema);
  if (r.schema.size() > most_schema_bytes)
    throw field_error("response_format", fmt::format("the schema has {} bytes, at most {} are allowed", r.schema.size(),
                                                     most_schema_bytes));
}

// {"50256": -100, "11": 2.5}
void read_bias(const Json& body, CompletionRequest& r) {
  const auto given = body.find("logit_bias");
  if (given == body.end() || given->is_null()) return;
  const HttpError wrong = field_error(
      "logit_bias",
      fmt::format("expected {{\"ID\": BIAS, ...}}, at most {} tokens with biases from -100 to 100", most_biases));
  if (!given->is_object() || given->size() > most_biases) throw wrong;
  std::set<std::int32_t> named;
  for (const auto& [token, bias] : given->items()) {
    std::int32_t id = -1;
    const auto [end, error] = std::from_chars(token.data(), token.data() + token.size(), id);
    if (error != std::errc() || end != token.data() + token.size() || id < 0 || !bias.is_number()) throw wrong;
    const double value = bias.get<double>();
    if (!(value >= -search::most_bias && value <= search::most_bias)) throw wrong;
    if (!named.insert(id).second)
      throw field_error("logit_bias", fmt::format("token {} is named twice, expected one bias", id));
    r.logit_bias.emplace_back(id, value);
  }
}

}  // namespace

CompletionRequest read_completion_request(const Json& body, bool chat, Warnings& warnings) {
  // Pointers, since a library that a program loads later, such as Python's module, gets little memory for thread_local objects.
  using Form = RequestForm<CompletionRequest>;
  thread_local const auto of_text =
      std::make_unique<Form>([](CompletionRequest& r) { return fields_of(r, false); }, others(false));
  thread_local const auto of_chat =
      std::make_unique<Form>([](CompletionRequest& r) { return fields_of(r, true); }, others(true));
  CompletionRequest r = (chat ? of_chat : of_text)->read(body, warnings);
  r.chat = chat;
  refuse_unsupported(body);
  tell_not_obeyed(body, warnings);
  read_prediction(body, r, warnings);
  read_stream_options(body, r, warnings);
  read_format(body, r, warnings);
  read_bias(body, r);
  if (r.top_logprobs && !r.chat_logprobs) throw field_error("top_logprobs", "needs logprobs");
  if (r.chat_logprobs) r.logprobs = r.top_logprobs.value_or(0);
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
                                             {"description",
                                              "format of the completion: text, json_object or json_schema; json_object "
                                              "may have a schema too. Properties come in the schema's order"}};
  schema["properties"]["prediction"] = {
      {"type", "object"},
      {"description",
       "what the completion is likely to be, for example the text to edit: {\"type\": \"content\", \"content\": TEXT}. "
       "Parts of the completion that equal it are generated faster"}};
  schema["properties"]["logit_bias"] = {
      {"type", "object"},
      {"description", "maps token ids to what is added to their logits; -100 forbids a token: {\"5\": -100}"}};
  schema["properties"]["stream_options"] = {
      {"type", "object"}, {"description", "include_usage: the last event of a stream reports the number of tokens"}};
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

namespace {

std::vector<std::int32_t> ids_of_prompt(const std::string& text, const std::string& where, const ServedModel& m) {
  try {
    return m.continuation().prompt_ids(text, where);
  } catch (const Error& error) {
    const std::int64_t tokens =
        std::ssize(m.tokenizer().frame(Side::target).prefix) + std::ssize(m.tokenizer().encode(text, Side::target));
    throw HttpError(400, error.what()).of_field("prompt").with_code(m.is_too_long(tokens) ? too_long : "");
  }
}

}  // namespace

std::vector<Prompt> prompts_of(const Json& body, const ServedModel& m) {
  const auto given = body.find("prompt");
  if (given == body.end() || given->is_null()) throw field_error("prompt", "is missing");
  const HttpError wrong = field_error("prompt", "expected a text, a list of token ids, or a list of either");
  std::vector<Prompt> prompts;
  const auto add = [&](const Json& one) {
    const std::string where = fmt::format("prompt {}", prompts.size() + 1);
    if (one.is_string()) {
      prompts.push_back({one.get<std::string>(), {}});
      prompts.back().ids = ids_of_prompt(prompts.back().text, where, m);
      return;
    }
    if (!one.is_array() || one.empty()) throw wrong;
    Prompt p;
    for (const Json& id : one) {
      const std::int64_t n = id.is_number_integer() ? id.get<std::int64_t>() : -1;
      if (n < 0 || n >= m.tokenizer().size(Side::target)) throw wrong;
      p.ids.push_back(static_cast<std::int32_t>(n));
    }
    if (m.is_too_long(std::ssize(p.ids)))
      throw HttpError(400, fmt::format("{} has {} tokens, but the model has {} positions", where, p.ids.size(),
                                       m.model().max_positions()))
          .of_field("prompt")
          .with_code(too_long);
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

namespace {

// OpenAI's clients send a call's arguments as JSON text; templates expect the object.
void open_arguments(Json& calls) {
  for (Json& call : calls) {
    if (!call.is_object() || !call.contains("function") || !call["function"].is_object()) continue;
    const auto arguments = call["function"].find("arguments");
    if (arguments == call["function"].end() || !arguments->is_string()) continue;
    try {
      Json object = parse_object(arguments->get<std::string>());
      *arguments = std::move(object);
    } catch (const HttpError&) {
      continue;  // invalid JSON from the model stays text
    }
  }
}

bool calls_something(const Json& message) {
  const auto has = [&](const char* name) { return message.contains(name) && !message[name].empty(); };
  return message["role"] == "assistant" && (has("tool_calls") || has("function_call"));
}

}  // namespace

Json messages_of(const Json& body, Warnings& warnings) {
  const auto given = body.find("messages");
  if (given == body.end() || !given->is_array() || given->empty())
    throw field_error("messages", "expected a list of at least one message");
  Json messages = *given;
  for (std::size_t i = 0; i < messages.size(); ++i) {
    Json& one = messages[i];
    const std::string name = fmt::format("messages[{}]", i), within = name + ".";
    const auto wrong = [&](const char* problem) { return HttpError(400, name + problem).of_field("messages"); };
    if (!one.is_object() || !one.contains("role") || !one["role"].is_string())
      throw wrong(": expected a message with a role and content");
    warnings.check_keys(one,
                        {"role", "content", "name", "tool_calls", "tool_call_id", "function_call", "reasoning_content",
                         "reasoning", "thinking", "refusal", "annotations"},
                        within);
    if (one.contains("audio") && !one["audio"].is_null()) throw wrong(".audio: is not supported");
    if (std::optional<std::string> content = content_of(one, "messages", within, warnings))
      one["content"] = std::move(*content);
    else if (!calls_something(one))
      throw wrong(": expected content, or an assistant's tool calls");
    if (one.contains("tool_calls") && !one["tool_calls"].is_null()) {
      if (!one["tool_calls"].is_array()) throw wrong(".tool_calls: expected a list");
      open_arguments(one["tool_calls"]);
    }
  }
  return messages;
}

std::vector<std::string> texts_of_messages(const Json& messages) {
  std::vector<std::string> texts;
  for (const Json& one : messages) {
    texts.emplace_back();
    for (const auto& [name, value] : one.items())
      if (name != "role") texts.back() += value.is_string() ? value.get<std::string>() : json_text(value);
  }
  return texts;
}

Prompt chat_prompt(const ServedModel& m, const Json& messages) {
  Prompt p;
  try {
    p.text = m.loaded().chat(messages, true);
    p.ids = m.tokenizer().encode(p.text, Side::target);
  } catch (const Error& error) {
    throw HttpError(400, error.what()).of_field("messages");
  }
  if (p.ids.empty()) throw field_error("messages", "the chat template renders them to a text without tokens");
  if (m.is_too_long(std::ssize(p.ids)))
    throw HttpError(400, fmt::format("messages have {} tokens, but the model has {} positions", p.ids.size(),
                                     m.model().max_positions()))
        .of_field("messages")
        .with_code(too_long);
  return p;
}

}  // namespace tril::serve
