// libFuzzer: any bytes as a JSON schema, or after an initial '/' as a regular expression. An Error is fine; what is accepted
// must have a text, and texts sampled from it must be allowed, JSON, and valid (tests/support/schema_validator.h).
#include <cstddef>
#include <cstdint>
#include <memory>
#include <nlohmann/json.hpp>
#include <regex>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "grammar/automata/constraint.h"
#include "grammar/automata/grammar_text.h"
#include "grammar/schemas/json_schema.h"
#include "must.h"
#include "support/json_mutator.h"
#include "support/schema_validator.h"

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t most);

namespace {

using tril::fuzz::must;
using tril::search::Constraint;

// A token for each byte, and an end token.
std::shared_ptr<const tril::search::TokenTrie> bytes() {
  std::vector<std::string> list;
  for (int b = 0; b < 256; ++b) list.emplace_back(1, static_cast<char>(b));
  list.emplace_back();
  return std::make_shared<tril::search::TokenTrie>(list);
}

// Random tokens among those that may follow, then the shortest ending once the text gets long.
std::string draw(const Constraint& constraint, tril::RandomSequence& random) {
  const std::int64_t room = constraint.least_tokens() + static_cast<std::int64_t>(random.below(60));
  std::vector<std::int32_t> tokens;
  for (;;) {
    const auto allowed = constraint.after(tokens, room - static_cast<std::int64_t>(tokens.size()));
    must(allowed.possible && (allowed.complete || allowed.count > 0), "a text can go on, or end");
    std::vector<std::int32_t> next;
    for (std::int32_t id = 0; id < 256 && !allowed.mask.empty(); ++id)
      if (allowed.mask[static_cast<std::size_t>(id / 64)] >> (id % 64) & 1) next.push_back(id);
    if (allowed.complete && (next.empty() || random.below(4) == 0)) break;
    must(!next.empty(), "a text that is not whole goes on");
    tokens.push_back(next[random.below(next.size())]);
  }
  must(static_cast<std::int64_t>(tokens.size()) <= room, "a text ends within its room");
  std::string text;
  for (const std::int32_t token : tokens) text += static_cast<char>(token);
  must(constraint.allows(text), "what is drawn is allowed: " + text);
  return text;
}

// The validator's complaint; empty if the standard library does not know the expressions, or the validator the
// references.
std::string fault_of(const std::string& text, const nlohmann::json& schema) {
  const auto value = nlohmann::json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (value.is_discarded()) return "no JSON";
  try {
    return tril::search::testing::fault_of(value, schema, schema);
  } catch (const std::regex_error&) {
    return "";
  } catch (const nlohmann::json::exception&) {
    return "";
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const auto tokens = bytes();
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const bool is_regex = text.starts_with('/');
  try {
    Constraint constraint(
        is_regex ? tril::search::regex_grammar(text.substr(1))
                 : tril::search::compile_json_schema(text, {.space = tril::search::JsonSpace::none}).grammar,
        tokens);
    if (constraint.least_tokens() > 1000) return 0;
    tril::RandomSequence random(size, 1);
    for (int i = 0; i < 4; ++i) {
      const std::string drawn = draw(constraint, random);
      if (is_regex) continue;
      const std::string fault = fault_of(drawn, nlohmann::json::parse(text));
      must(fault.empty(), "a text is valid: " + drawn + ": " + fault);
    }
  } catch (const tril::Error&) {
  }
  return 0;
}

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t most, unsigned seed) {
  static const std::vector<std::string> words{"type",
                                              "object",
                                              "array",
                                              "string",
                                              "number",
                                              "integer",
                                              "boolean",
                                              "null",
                                              "properties",
                                              "required",
                                              "additionalProperties",
                                              "patternProperties",
                                              "propertyNames",
                                              "minProperties",
                                              "maxProperties",
                                              "items",
                                              "prefixItems",
                                              "minItems",
                                              "maxItems",
                                              "minLength",
                                              "maxLength",
                                              "pattern",
                                              "minimum",
                                              "maximum",
                                              "exclusiveMinimum",
                                              "exclusiveMaximum",
                                              "multipleOf",
                                              "enum",
                                              "const",
                                              "anyOf",
                                              "oneOf",
                                              "allOf",
                                              "not",
                                              "if",
                                              "then",
                                              "else",
                                              "contains",
                                              "minContains",
                                              "maxContains",
                                              "uniqueItems",
                                              "dependentRequired",
                                              "$ref",
                                              "$defs",
                                              "#",
                                              "#/$defs/node",
                                              "#/properties/name",
                                              "name",
                                              "kind",
                                              "date",
                                              "time",
                                              "date-time",
                                              "duration",
                                              "uuid",
                                              "email",
                                              "hostname",
                                              "ipv4",
                                              "ipv6",
                                              "uri",
                                              "^[a-c]{2,}$",
                                              "(a|b)*c",
                                              "[^\\d]+",
                                              "\\w{0,99}",
                                              "(?:ab?)+",
                                              "^\\s|.$"};
  if (size < 4 || seed % 50 == 0) {
    tril::RandomSequence random(seed, 7);
    const std::string schema = tril::search::testing::random_schema(random).dump();
    if (schema.size() <= most) {
      std::copy(schema.begin(), schema.end(), data);
      return schema.size();
    }
  }
  if (data[0] == '/') return LLVMFuzzerMutate(data, size, most);
  return tril::test::JsonMutator(seed / 50, words, LLVMFuzzerMutate)(data, size, most);
}
