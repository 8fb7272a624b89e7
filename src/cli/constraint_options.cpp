#include "cli/constraint_options.h"

#include "base/file.h"
#include "text/token_bytes.h"

namespace tril::cli {
namespace {

constexpr std::uint64_t most_schema_bytes = std::uint64_t{16} << 20;

}  // namespace

void add_constraint_fields(Fields& f, ConstraintOptions& o) {
  f.group("Constraints");
  f.add("json-schema", &o.json_schema, "write JSON that is valid against this schema").value_name("FILE");
  f.add("json-object", &o.json_object, "write a JSON object, whatever is in it");
  f.add("regex", &o.regex, "write a text that this regular expression matches as a whole").value_name("PATTERN");
  f.add("json-space", &o.json_space,
        "white space in JSON: none, a blank behind : and , (space), or lines with indents too; each may stand or not; "
        "unset: space")
      .choices({"none", "space", "lines"});
  for (const auto& [a, b] :
       {std::pair{"json-schema", "json-object"}, {"json-schema", "regex"}, {"json-object", "regex"}})
    f.excludes(a, b, "a text is held to one of them");
  for (const char* name : {"json-schema", "json-object", "regex"})
    f.excludes("stop", name, "a text that is stopped may be none that is allowed");
}

std::shared_ptr<const search::Constraint> make_constraint(const ConstraintOptions& o, const Tokenizer& tokenizer) {
  using enum search::JsonSpace;
  if (o.json_space && o.json_schema.empty() && !o.json_object)
    fail_usage("--json-space", "no JSON is asked for", "pass --json-schema or --json-object");
  if (o.regex.empty() && o.json_schema.empty() && !o.json_object) return nullptr;
  const auto trie = std::make_shared<search::TokenTrie>(token_bytes(tokenizer));
  const search::JsonStyle style{o.json_space == "none"    ? none
                                : o.json_space == "lines" ? lines
                                                          : space,
                                trie->alphabet()};
  const auto grammar = [&] {
    if (!o.regex.empty()) return search::regex_grammar(o.regex, trie->alphabet());
    if (o.json_object) return search::json_object_grammar(style);
    try {
      return search::json_schema_grammar(read_text(o.json_schema, most_schema_bytes), style);
    } catch (const Error& error) {
      throw error.within(o.json_schema);
    }
  };
  return std::make_shared<search::Constraint>(grammar(), trie);
}

}  // namespace tril::cli
