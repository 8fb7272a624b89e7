#include "corpus/corpus_state.h"

#include <array>
#include <nlohmann/json.hpp>

#include "base/as_size.h"
#include "base/error.h"
#include "base/number_text.h"

namespace tril {

namespace {

// 1234567 -> "1,234,567"
std::string grouped(std::int64_t n) {
  std::string digits = std::to_string(n);
  for (auto at = static_cast<std::ptrdiff_t>(digits.size()) - 3; at > 0; at -= 3) digits.insert(as_size(at), 1, ',');
  return digits;
}

using Field = std::pair<const char*, std::int64_t CorpusState::*>;
constexpr std::array<Field, 9> fields = {{{"epoch", &CorpusState::epoch},
                                          {"batch_in_epoch", &CorpusState::batch_in_epoch},
                                          {"chunk", &CorpusState::chunk},
                                          {"chunk_line", &CorpusState::chunk_line},
                                          {"batch_in_chunk", &CorpusState::batch_in_chunk},
                                          {"batches", &CorpusState::batches},
                                          {"sentences", &CorpusState::sentences},
                                          {"source_tokens", &CorpusState::source_tokens},
                                          {"target_tokens", &CorpusState::target_tokens}}};

}  // namespace

std::string CorpusStatistics::report() const {
  std::string text = counted(grouped(lines), "pair");
  if (empty > 0) text += fmt::format(", {} empty", grouped(empty));
  if (too_long > 0) text += fmt::format(", {} longer than the limit{}", grouped(too_long), cropped ? " (cropped)" : "");
  if (invalid > 0) text += fmt::format(", {} not UTF-8", grouped(invalid));
  if (weightless > 0) text += fmt::format(", {} of weight 0", grouped(weightless));
  if (used != lines) text += fmt::format(", {} used", grouped(used));
  return text + fmt::format("; {} source and {}{}", grouped(source_tokens),
                            counted(grouped(target_tokens), "target token"), complete ? "" : " so far");
}

void to_json(nlohmann::json& json, const CorpusState& state) {
  json = nlohmann::json::object();
  for (const auto& [name, member] : fields) json[name] = state.*member;
  json["fingerprint"] = state.fingerprint;
  if (state.contents != 0) json["contents"] = state.contents;
}

void from_json(const nlohmann::json& json, CorpusState& state) {
  if (!json.is_object()) fail("corpus state", "is not a JSON object");
  const auto number = [&](const char* name) -> const nlohmann::json& {
    const auto found = json.find(name);
    if (found == json.end()) fail("corpus state", fmt::format("has no key \"{}\"", name));
    if (!found->is_number_unsigned()) {
      const bool whole = found->is_number_integer() && found->get<std::int64_t>() >= 0;
      if (!whole) fail("corpus state", fmt::format("\"{}\" is {}, expected a count", name, found->dump()));
    }
    return *found;
  };
  for (const auto& [name, member] : fields) {
    state.*member = number(name).get<std::int64_t>();
    if (state.*member < 0) fail("corpus state", fmt::format("\"{}\" is {}, expected a count", name, json[name].dump()));
  }
  state.fingerprint = number("fingerprint").get<std::uint64_t>();
  state.contents = json.contains("contents") ? number("contents").get<std::uint64_t>() : 0;  // older states have none
}

}  // namespace tril
