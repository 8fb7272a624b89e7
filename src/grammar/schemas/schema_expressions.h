// The regular expressions of a schema, each compiled once, and their matches against texts.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "grammar/expressions/pattern.h"
#include "grammar/expressions/unsupported.h"
#include "grammar/schemas/schema_work.h"

namespace tril::search {

class SchemaExpressions {
 public:
  SchemaExpressions(const SchemaDocument& document, SchemaWork& work) : document_(document), work_(work) {}

  /// Texts that match as a whole; that contain a match in every engine (part) or in some (wide_part); that contain no
  /// match in any engine that follows ECMA-262.
  enum class Form : std::uint8_t { whole, part, wide_part, no_part };

  /// @param at    a schema that has it, for errors; `step` leads from there to the expression: "/pattern"
  /// @throws Unsupported or Error(usage) naming the place, if the expression is wrong or needs too much work
  const Pattern& of(const std::string& regex, Form form, SchemaId at, std::string_view step = {});
  bool matches(const std::string& regex, Form form, std::string_view text, SchemaId at, std::string_view step = {});

 private:
  struct Compiled {
    std::optional<Pattern> pattern;
    std::optional<Unsupported> lacking;  // why there is none
  };

  const SchemaDocument& document_;
  SchemaWork& work_;
  std::map<std::pair<std::string, Form>, Compiled> known_;
};

}  // namespace tril::search
