#include "decode/models/constraint_fields.h"

#include <spdlog/spdlog.h>

#include "base/printable.h"
#include "base/streams.h"
#include "decode/texts/text_form.h"

namespace tril {
namespace {

constexpr std::uint64_t most_schema_bytes = std::uint64_t{16} << 20;

}  // namespace

void add_constraint_fields(Fields& f, ConstraintOptions& o) {
  f.group("Constraints");
  f.add("json-schema", &o.json_schema, "write JSON that is valid against this schema").value_name("FILE");
  f.add("json-object", &o.json_object, "write any JSON object");
  f.add("regex", &o.regex, "write a text that matches this regular expression as a whole").value_name("PATTERN");
  f.add(
       "json-space", &o.json_space,
       "white space allowed in JSON: none, a space after : and , (space), or also indented lines (lines); unset: space")
      .choices({"none", "space", "lines"});
  for (const auto& [a, b] :
       {std::pair{"json-schema", "json-object"}, {"json-schema", "regex"}, {"json-object", "regex"}})
    f.excludes(a, b, "choose one of them");
  for (const char* name : {"json-schema", "json-object", "regex"})
    f.excludes("stop", name, "a stopped text may not match");
}

std::shared_ptr<const search::Constraint> make_constraint(const ConstraintOptions& o, const Tokenizer& tokenizer,
                                                          SchemaForm schema) {
  using enum search::JsonSpace;
  if (o.json_space && o.json_schema.empty() && !o.json_object)
    fail_usage("json_space", "has no effect without JSON", "pass `json_schema` or `json_object`");
  if (o.regex.empty() && o.json_schema.empty() && !o.json_object) return nullptr;
  const std::shared_ptr<const search::TokenTrie> tokens = search::token_trie(tokenizer);
  const search::JsonSpace between = o.json_space == "none"    ? none
                                    : o.json_space == "lines" ? lines
                                                              : search::JsonSpace::space;
  if (!o.regex.empty()) return search::regex_constraint(o.regex, tokens);
  if (o.json_object) return search::json_object_constraint(tokens, between);
  const bool is_text = schema == SchemaForm::file_or_text && o.json_schema.starts_with('{');
  const std::string text = is_text ? o.json_schema : read_any_text(o.json_schema, most_schema_bytes);
  const std::string name = is_text ? "json_schema" : printable(o.json_schema, 400);
  try {
    const search::JsonForm form = search::json_schema_constraint(text, tokens, between);
    if (!form.notes.empty()) spdlog::warn("{}: {}", name, form.notes.text());
    return form.constraint;
  } catch (const Error& error) {
    if (is_text) throw;
    throw error.within(name).as_failure();  // the fault is in a file
  }
}

}  // namespace tril
