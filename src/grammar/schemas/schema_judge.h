// Whether a value is valid against schemas; used for listed values and names.
#pragma once

#include "grammar/schemas/schema_boxes.h"

namespace tril::search {

enum class Verdict : std::uint8_t { no, unsure, yes };

class SchemaJudge {
 public:
  explicit SchemaJudge(SchemaBoxes& boxes) : boxes_(boxes), document_(boxes.document()) {}

  /// Unsure if a format is wider than tril can check, or if the check needs something unsupported.
  /// @throws Error(usage) if a schema is wrong, refers to itself in place, or needs too much work
  Verdict verdict(const Json& value, SchemaId schema);
  Verdict verdict(const Json& value, const Conjunction& schemas);

 private:
  Verdict fresh_verdict(const Json& value, SchemaId schema);
  Verdict judge(const Json& value, SchemaId id);
  Verdict by_words(const Json& value, SchemaId id);
  Verdict general(const Json& value, SchemaId id, const Json& schema);
  Verdict alternatives(const Json& value, SchemaId id, const Json& schema);
  Verdict number(const Json& value, const Json& schema) const;
  Verdict string(const Json& value, SchemaId id, const Json& schema);
  Verdict array(const Json& value, SchemaId id, const Json& schema);
  Verdict object(const Json& value, SchemaId id, const Json& schema);
  template <class Look>
  void each_in_place(SchemaId id, const Look& look);
  Verdict unevaluated_items(const Json& value, SchemaId id, const Json& schema);
  Verdict unevaluated_properties(const Json& value, SchemaId id, const Json& schema);
  Verdict some_property(const Json& value, SchemaId id, const Json& some);
  Verdict dependent(const Json& value, SchemaId id, const Json& schema);
  Verdict inner(const Json& value, SchemaId of, const Json& schema, const std::string& step);

  /// @param step  from the schema to the expression
  bool has_match(const Json& regex, const std::string& text, SchemaId id, std::string_view step = {});

  SchemaBoxes& boxes_;
  SchemaDocument& document_;
  int depth_ = 0;
  std::map<std::pair<SchemaId, std::string>, Verdict> known_;  // of strings
};

}  // namespace tril::search
