#include "serve/api/completion_form.h"

#include <ctime>
#include <utility>

#include "unicode/trim.h"

namespace tril::serve {

std::string finish_reason(search::StopReason finish) {
  switch (finish) {
    case search::StopReason::end_token:
    case search::StopReason::stop:
    case search::StopReason::dead_end:
      return "stop";
    default:
      return "length";
  }
}

Json CompletionForm::logprobs(std::span<const ScoredToken> tokens, std::size_t prompt) const {
  if (!r_.logprobs) return nullptr;
  const LogprobsForm form(model_.tokenizer(), *bytes);
  return r_.chat ? form.of_chat(tokens)
                 : form.of_completion(tokens, characters_in(prompts_[prompt].text), *r_.logprobs > 0);
}

Json CompletionForm::logprobs_of_prompt(std::size_t prompt) const {
  if (!r_.logprobs) return nullptr;
  std::vector<ScoredToken> tokens;
  const Prompt& p = prompts_[prompt];
  for (search::AnswerToken& t : search::tokens_of_text(model_.continuation().tokenizer(), *bytes, p.ids, p.text)) {
    const std::size_t at = tokens.size();
    tokens.push_back({.token = std::move(t),
                      .score = at > 0 ? prompt_scores[prompt][at - 1] : search::TokenScore(),
                      .first = at == 0});
  }
  const LogprobsForm form(model_.tokenizer(), *bytes);
  return r_.chat ? form.of_chat(tokens) : form.of_completion(tokens, 0, *r_.logprobs > 0);
}

Json CompletionForm::frame(bool chunk) const {
  return {{"id", (r_.chat ? "chatcmpl-" : "cmpl-") + id_},
          {"object", !r_.chat ? "text_completion"
                     : chunk  ? "chat.completion.chunk"
                              : "chat.completion"},
          {"created", std::time(nullptr)},
          {"model", model_.name()}};
}

Json CompletionForm::chunk(std::size_t place, const AnswerPart& part) const {
  Json choice{{"index", place}};
  if (r_.chat) {
    choice["delta"] = Json::object();
    if (part.begins) choice["delta"]["role"] = "assistant";
    if (part.begins || !part.text.empty()) choice["delta"]["content"] = part.text;
  } else {
    choice["text"] = part.text;
  }
  choice["logprobs"] = part.logprobs;
  choice["finish_reason"] = part.finish.empty() ? Json(nullptr) : Json(part.finish);
  Json json = frame(true);
  json["choices"] = Json::array({std::move(choice)});
  if (r_.include_usage) json["usage"] = nullptr;
  return json;
}

Json CompletionForm::choice(std::size_t place, const search::Generation& result,
                            std::span<const ScoredToken> tokens) const {
  const std::size_t prompt = prompt_of(place);
  Json of_tokens = logprobs(tokens, prompt);
  if (r_.echo && r_.logprobs) {
    Json all = logprobs_of_prompt(prompt);
    for (auto& [name, list] : all.items())
      for (Json& one : of_tokens[name]) list.push_back(std::move(one));
    of_tokens = std::move(all);
  }
  Json json{{"index", place}};
  if (r_.chat)
    json["message"] = {{"role", "assistant"}, {"content", result.text}, {"refusal", nullptr}};
  else
    json["text"] = (r_.echo ? prompts_[prompt].text : "") + result.text;
  json["logprobs"] = std::move(of_tokens);
  json["finish_reason"] = finish_reason(result.stop_reason);
  return json;
}

Json CompletionForm::usage(const Tokens& tokens) const {
  std::int64_t read = 0;
  for (const Prompt& p : prompts_) read += std::ssize(p.ids);
  Json json{{"prompt_tokens", read}, {"completion_tokens", tokens.made}, {"total_tokens", read + tokens.made}};
  if (r_.prediction)
    json["completion_tokens_details"] = {
        {"accepted_prediction_tokens", tokens.of_prediction.accepted},
        {"rejected_prediction_tokens", tokens.of_prediction.proposed - tokens.of_prediction.accepted}};
  return json;
}

}  // namespace tril::serve
