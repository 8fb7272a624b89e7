#include "cli/options/constraint_options.h"

#include <spdlog/spdlog.h>

#include "base/printable.h"
#include "base/streams.h"
#include "decode/texts/text_form.h"

namespace tril::cli {
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

std::shared_ptr<const search::Constraint> make_constraint(const ConstraintOptions& o, const Tokenizer& tokenizer) {
  using enum search::JsonSpace;
  if (o.json_space && o.json_schema.empty() && !o.json_object)
    fail_usage("--json-space", "has no effect without JSON", "pass --json-schema or --json-object");
  if (o.regex.empty() && o.json_schema.empty() && !o.json_object) return nullptr;
  const std::shared_ptr<const search::TokenTrie> tokens = search::token_trie(tokenizer);
  const search::JsonSpace between = o.json_space == "none"    ? none
                                    : o.json_space == "lines" ? lines
                                                              : search::JsonSpace::space;
  if (!o.regex.empty()) return search::regex_constraint(o.regex, tokens);
  if (o.json_object) return search::json_object_constraint(tokens, between);
  const std::string schema = read_any_text(o.json_schema, most_schema_bytes);
  try {
    const search::JsonForm form = search::json_schema_constraint(schema, tokens, between);
    if (!form.notes.empty()) spdlog::warn("{}: {}", printable(o.json_schema, 400), form.notes.text());
    return form.constraint;
  } catch (const Error& error) {
    throw error.within(printable(o.json_schema, 400)).as_failure();  // the fault is in a file
  }
}

}  // namespace tril::cli
