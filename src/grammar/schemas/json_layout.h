// How JSON is laid out: the white space between what it consists of.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "grammar/automata/grammar_text.h"

namespace tril::search {

/// White space between what JSON consists of.
enum class JsonSpace : std::uint8_t {
  none,   ///< {"a":1,"b":2}
  space,  ///< one blank may stand behind : and ,
  lines,  ///< that, or a line's end and up to 20 blanks behind { [ , and before ] }
};

/// Writes JSON's marks with the white space that belongs to them, for which it has rules in the writer's grammar.
class JsonLayout {
 public:
  JsonLayout(GrammarWriter& writer, JsonSpace space);

  /// Writes { [ , or : and what may stand behind it. @return a new state
  std::int32_t behind(char mark, std::int32_t from);
  /// Writes } or ] and what may stand before it.
  void close(char mark, std::int32_t from, std::int32_t to);
  /// A value that is written in one way only.
  std::string dumped(const nlohmann::ordered_json& value) const;

 private:
  void write_spaces();

  GrammarWriter* writer_;
  JsonSpace space_;
  std::int32_t behind_comma_, at_bracket_;  // rules of white space
};

}  // namespace tril::search
