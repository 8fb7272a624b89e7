// The layout of JSON: the white space between its tokens.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "grammar/automata/grammar_text.h"

namespace tril::search {

/// White space between the tokens of JSON.
enum class JsonSpace : std::uint8_t {
  none,   ///< {"a":1,"b":2}
  space,  ///< an optional blank after : and ,
  lines,  ///< or a line break and up to 20 blanks after { [ , and before ] }
};

/// Writes JSON's punctuation with its optional white space, for which it has rules in the writer's grammar.
class JsonLayout {
 public:
  JsonLayout(GrammarWriter& writer, JsonSpace space);

  /// Writes { [ , or : and the white space that may follow. @return a new state
  std::int32_t behind(char mark, std::int32_t from);
  /// Writes } or ] and the white space that may precede it.
  void close(char mark, std::int32_t from, std::int32_t to);
  /// The one text of a value that has only one form.
  std::string dumped(const nlohmann::ordered_json& value) const;

 private:
  void write_spaces();

  GrammarWriter* writer_;
  JsonSpace space_;
  std::int32_t behind_comma_, at_bracket_;  // rules of white space
};

}  // namespace tril::search
