// The regular expressions of a schema, each compiled once, and texts held against them.
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

  /// Texts that match as a whole; those that have a match in them, by each engine or by some; those that have none by each
  /// engine that reads as ECMA-262.
  enum class Form : std::uint8_t { whole, part, wide_part, no_part };

  /// @param at  a schema that has it, for errors, with the way from there to it: "/pattern"
  /// @throws Unsupported or Error(usage) naming the place, and what is wrong with the expression or is too much work
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
