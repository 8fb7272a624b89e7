#include "grammar/schemas/schema_expressions.h"
#include "grammar/expressions/pattern_complement.h"
#include "grammar/expressions/pattern_of_regex.h"

namespace tril::search {
namespace {

constexpr std::int64_t steps_at_once = 128;       // states visited in about a microsecond
constexpr std::int64_t work_of_failure = 20'000;  // until a complement is known to have too many states

using Form = SchemaExpressions::Form;

Pattern compiled(const std::string& regex, Form form) {
  if (form == Form::whole) return pattern_of_regex(regex, RegexMatch::whole);
  return pattern_of_regex(regex, RegexMatch::part, form == Form::wide_part ? RegexReading::wide : RegexReading::narrow);
}

}  // namespace

const Pattern& SchemaExpressions::of(const std::string& regex, Form form, SchemaId at, std::string_view step) {
  const std::pair key{regex, form};
  auto found = known_.find(key);
  if (found == known_.end()) {
    const Pattern* const part = form == Form::no_part ? &of(regex, Form::part, at, step) : nullptr;
    Compiled known;
    try {
      const auto make = [&] { return part ? complement(*part) : compiled(regex, form); };
      known.pattern = at_place(document_.place(at) + std::string(step), make);
    } catch (const Unsupported& error) {
      known.lacking = error;
    }
    const std::int64_t failed = part ? work_of_failure : 1;
    work_.match(known.pattern ? std::ssize(known.pattern->states()) : failed, at);
    found = known_.emplace(key, std::move(known)).first;
  }
  if (found->second.lacking) throw *found->second.lacking;
  return *found->second.pattern;
}

bool SchemaExpressions::matches(const std::string& regex, Form form, std::string_view text, SchemaId at,
                                std::string_view step) {
  const Pattern::Outcome outcome = of(regex, form, at, step).match(text);
  work_.match(1 + outcome.steps / steps_at_once, at);
  return outcome.matches;
}

}  // namespace tril::search
