#include "corpus/corpus_state.h"

#include <array>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/number_text.h"
#include "base/progress.h"

namespace tril {

namespace {

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
  std::string text = counted(format_count(lines), "pair");
  if (empty > 0) text += fmt::format(", {} empty", format_count(empty));
  if (too_long > 0)
    text += fmt::format(", {} longer than the limit{}", format_count(too_long), cropped ? " (cropped)" : "");
  if (invalid > 0) text += fmt::format(", {} not UTF-8", format_count(invalid));
  if (weightless > 0) text += fmt::format(", {} of weight 0", format_count(weightless));
  if (used != lines) text += fmt::format(", {} used", format_count(used));
  return text + fmt::format("; {} source and {}{}", format_count(source_tokens),
                            counted(format_count(target_tokens), "target token"), complete ? "" : " so far");
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
