#include "serve/api/logprobs.h"

#include <fmt/format.h>

#include "unicode/trim.h"

namespace tril::serve {
namespace {

Json list_of(const std::string& bytes) {
  Json list = Json::array();
  for (const char c : bytes) list.push_back(static_cast<unsigned char>(c));
  return list;
}

}  // namespace

std::string token_text(const std::string& bytes) {
  if (is_utf8(bytes)) return bytes;
  std::string text = "bytes:";
  for (const char c : bytes) text += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
  return text;
}

std::string LogprobsForm::bytes_of(std::int32_t id) const {
  const auto at = static_cast<std::size_t>(id);
  return at < bytes_.size() ? bytes_[at] : "";
}

// A candidate token: the text that it would have added; without text, its name in the vocabulary.
std::string LogprobsForm::name_of(std::int32_t id) const {
  const std::string bytes = bytes_of(id);
  if (!bytes.empty()) return token_text(bytes);
  return id < tokenizer_->size(Side::target) ? tokenizer_->piece(id, Side::target) : "";
}

Json LogprobsForm::of_chat(std::span<const ScoredToken> tokens) const {
  Json content = Json::array();
  for (const ScoredToken& t : tokens) {
    Json tops = Json::array();
    for (const search::Candidate& c : t.score.top) {
      if (c.token < 0) continue;
      const std::string bytes = bytes_of(c.token);
      tops.push_back({{"token", name_of(c.token)},
                      {"logprob", c.log_prob},
                      {"bytes", bytes.empty() ? Json(nullptr) : list_of(bytes)}});
    }
    content.push_back({{"token", token_text(t.token.bytes)},
                       {"logprob", t.score.log_prob},
                       {"bytes", list_of(t.token.bytes)},
                       {"top_logprobs", std::move(tops)}});
  }
  return {{"content", std::move(content)}, {"refusal", nullptr}};
}

// An object keyed by text, most probable first, including the chosen token. If a more probable token has the same text,
// the token is keyed by its id.
Json LogprobsForm::tops_of(const ScoredToken& token) const {
  Json tops = Json::object();
  bool chosen = false;
  const auto add = [&](std::int32_t id, float log_prob) {
    const std::string name = name_of(id);
    tops[tops.contains(name) ? fmt::format("token_id:{}", id) : name] = log_prob;
    chosen |= id == token.token.id;
  };
  for (const search::Candidate& c : token.score.top)
    if (c.token >= 0) add(c.token, c.log_prob);
  if (!chosen) add(token.token.id, token.score.log_prob);
  return tops;
}

Json LogprobsForm::of_completion(std::span<const ScoredToken> tokens, std::size_t offset, bool tops) const {
  Json texts = Json::array(), log_probs = Json::array(), likeliest = Json::array(), offsets = Json::array();
  for (const ScoredToken& t : tokens) {
    texts.push_back(token_text(t.token.bytes));
    log_probs.push_back(t.first ? Json(nullptr) : Json(t.score.log_prob));
    if (tops) likeliest.push_back(t.first ? Json(nullptr) : tops_of(t));
    offsets.push_back(offset + t.token.offset);
  }
  return {{"tokens", std::move(texts)},
          {"token_logprobs", std::move(log_probs)},
          {"top_logprobs", tops ? std::move(likeliest) : Json(nullptr)},
          {"text_offset", std::move(offsets)}};
}

}  // namespace tril::serve
