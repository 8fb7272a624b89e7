// Fields that constrain generated text.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "base/fields.h"
#include "grammar/automata/constraint.h"
#include "grammar/schemas/json_schema.h"
#include "tokenizer/files/tokenizer.h"

namespace tril {

struct ConstraintOptions {
  std::string regex, json_schema;
  bool json_object = false;
  std::optional<std::string> json_space;  ///< none: space
};

/// json-schema, json-object, regex, json-space.
void add_constraint_fields(Fields& f, ConstraintOptions& o);
/// The values that `json-schema` may have: a path, or also the schema itself, which begins with {.
enum class SchemaForm : std::uint8_t { file, file_or_text };

/// The constraint of the options; null if there is none. Warns of parts of a schema that are ignored.
/// @throws Error(usage) naming what is not supported, or what the vocabulary cannot spell
std::shared_ptr<const search::Constraint> make_constraint(const ConstraintOptions& o, const Tokenizer& tokenizer,
                                                          SchemaForm schema = SchemaForm::file);

}  // namespace tril
