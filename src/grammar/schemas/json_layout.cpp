#include "grammar/schemas/json_layout.h"
#include "grammar/expressions/pattern_of_regex.h"

#include <nlohmann/json.hpp>

namespace tril::search {

using Json = nlohmann::ordered_json;

JsonLayout::JsonLayout(GrammarWriter& writer, JsonSpace space)
    : writer_(&writer),
      space_(space),
      behind_comma_(writer.grammar().add_rule()),
      at_bracket_(writer.grammar().add_rule()) {
  write_spaces();
}

void JsonLayout::write_spaces() {
  Grammar& grammar = writer_->grammar();
  const auto optional_space = [&](std::int32_t rule) {
    const auto [start, end] = grammar.rule(rule);
    grammar.add_jump(start, end);
    return std::pair(start, end);
  };
  const auto [space, space_end] = optional_space(behind_comma_);
  const auto [line, line_end] = optional_space(at_bracket_);
  if (space_ == JsonSpace::none || !writer_->can_write(" ")) return;
  writer_->write_text(" ", space, space_end);
  if (space_ != JsonSpace::lines || !writer_->can_write("\n")) return;
  for (const auto& [from, to] : {std::pair(space, space_end), {line, line_end}})
    writer_->write_pattern(pattern_of_regex("\\n {0,20}", RegexMatch::whole), from, to);
}

std::int32_t JsonLayout::behind(char mark, std::int32_t from) {
  Grammar& grammar = writer_->grammar();
  const std::int32_t marked = grammar.add_state(), next = grammar.add_state();
  writer_->write_text({&mark, 1}, from, marked);
  grammar.add_call(marked, mark == '{' || mark == '[' ? at_bracket_ : behind_comma_, next);
  return next;
}

void JsonLayout::close(char mark, std::int32_t from, std::int32_t to) {
  Grammar& grammar = writer_->grammar();
  const std::int32_t gap = grammar.add_state();
  grammar.add_call(from, at_bracket_, gap);
  writer_->write_text({&mark, 1}, gap, to);
}

std::string JsonLayout::dumped(const Json& value) const {
  const std::string gap = space_ == JsonSpace::none ? "" : " ";
  std::string text;
  if (value.is_object()) {
    for (const auto& [name, one] : value.items())
      text += (text.empty() ? "" : "," + gap) + Json(name).dump() + ":" + gap + dumped(one);
    return "{" + text + "}";
  }
  if (value.is_array()) {
    for (const Json& one : value) text += (text.empty() ? "" : "," + gap) + dumped(one);
    return "[" + text + "]";
  }
  return value.dump();
}

}  // namespace tril::search
