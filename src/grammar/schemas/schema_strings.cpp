#include "grammar/schemas/schema_strings.h"

#include <fmt/format.h>

#include "grammar/automata/grammar.h"
#include "grammar/expressions/pattern_complement.h"
#include "grammar/expressions/pattern_of_regex.h"
#include "grammar/schemas/schema_formats.h"
#include "grammar/schemas/schema_judge.h"

namespace tril::search {
namespace {

constexpr std::int64_t longest = 100'000;
constexpr std::int64_t longest_of_pattern = 10'000;  // beside an expression, copied for each length
constexpr std::size_t most_judged = 2'000;           // states of two patterns visited for their intersection
constexpr std::size_t most_common = 20'000;          // states of the intersection
constexpr std::int64_t work_of_text = 10;            // before any of its states
constexpr std::int64_t states_at_once = 2;           // states and edges of an intersection, in about a microsecond
constexpr std::size_t states_of_failure = 20'000;    // tried until a complement has too many

std::vector<std::string> texts_of(const Json& list) {
  std::vector<std::string> texts;
  for (const Json& one : list) texts.push_back(one.get<std::string>());
  return texts;
}

// Nothing if it takes too many states.
std::optional<Pattern> common_of(const Pattern& a, const Pattern& b, SchemaWork& work, SchemaId at) {
  auto steps = static_cast<std::int64_t>(most_common);
  std::optional<Pattern> both;
  try {
    CommonPattern common = a.common(b, most_common);
    steps = common.steps, both = std::move(common.pattern);
  } catch (const Unsupported&) {  // nothing
  }
  work.combine(steps / states_at_once, at);
  return both;
}

Pattern written_pattern(const std::string& format) {
  return pattern_of_regex(written_format(format), RegexMatch::whole);
}

// A format's accepted texts, of lengths at which has_lengths() surely holds; its strict form if no length is sure.
Pattern accepted_pattern(const std::string& format) {
  const std::int64_t most = sure_length_of(format);
  if (most == 0) return written_pattern(format);
  const Pattern all = pattern_of_regex(accepted_format(format), RegexMatch::whole);
  return most < 0 ? all : all & Pattern::of_length(0, most);
}

}  // namespace

void SchemaPatterns::count(std::size_t states, const std::string& place) {
  states_ += states;
  if (states_ > Grammar::most_states)
    refuse_schema(place, fmt::format("patterns and lengths need more than {} states up to here", Grammar::most_states));
}

Pattern SchemaPatterns::counted(Pattern p, const std::string& place) {
  count(p.states().size(), place);
  return p;
}

Pattern SchemaPatterns::both(const Pattern& a, const Pattern& b, const std::string& place) {
  if (a.states().size() * b.states().size() > 200 * Grammar::most_states)
    refuse_unsupported(place, "patterns or lengths that are too large together are not supported");
  return counted(at_place(place, [&] { return a & b; }), place);
}

Pattern SchemaPatterns::matching(const std::string& regex, const std::string& place) {
  return counted(at_place(place, [&] { return pattern_of_regex(regex, RegexMatch::part); }), place);
}

Pattern SchemaPatterns::not_matching(const std::string& regex, const std::string& place) {
  const Pattern wide = at_place(place, [&] { return pattern_of_regex(regex, RegexMatch::part, RegexReading::wide); });
  try {
    return counted(at_place(place, [&] { return complement(wide); }), place);
  } catch (const Unsupported&) {
    count(states_of_failure, place);
    throw;
  }
}

Pattern SchemaPatterns::of(const Box& box, SchemaId at) {
  const std::string& place = document_.place(at);
  if (box.least > longest) refuse_unsupported(place, fmt::format("\"minLength\" above {} is not supported", longest));
  // A schema that sets its own lengths may exceed the default limit.
  const std::int64_t limit = box.texts.empty() ? longest : std::max(box.least, longest_of_pattern);
  const std::int64_t most = std::min(box.most, limit);
  const auto pattern_with = [&](Pattern (*pattern_of_format)(const std::string&)) {
    std::optional<Pattern> pattern;
    const auto also = [&](const Pattern& other) { pattern = pattern ? both(*pattern, other, place) : other; };
    for (const auto& [word, value] : box.texts) {
      const std::string& text = value.is_string() ? value.get_ref<const std::string&>() : word;
      if (word == "pattern") also(matching(text, place + "/pattern"));
      if (word == "format") also(counted(pattern_of_format(text), place));
      if (word == made::not_pattern) also(not_matching(text, place + "/not"));
      if (word == made::not_texts) also(counted(Pattern::except(texts_of(value)), place));
    }
    if (box.least > 0 || most >= 0 || !pattern)
      also(counted(Pattern::of_length(box.least, most < 0 ? std::nullopt : std::optional(most)), place));
    return *pattern;
  };
  Pattern pattern = pattern_with(written_pattern);
  const auto is_format = [](const auto& text) { return text.first == "format"; };
  if (std::none_of(box.texts.begin(), box.texts.end(), is_format) || !pattern.is_empty()) return pattern;
  // If the strict form leaves nothing, what validators accept may.
  return pattern_with(accepted_pattern);
}

bool is_known_format(std::string_view format) {
  return !written_format(format).empty();
}

Verdict has_format(const std::string& text, const std::string& format, SchemaExpressions& expressions, SchemaId at) {
  if (!is_known_format(format)) return Verdict::yes;
  const auto is = [&](const std::string& regex) {
    return expressions.matches(regex, SchemaExpressions::Form::whole, text, at);
  };
  if (is(written_format(format)) || (is(accepted_format(format)) && has_lengths(format, text))) return Verdict::yes;
  return is(wide_format(format)) ? Verdict::unsure : Verdict::no;
}

bool have_nothing_in_common(const Box& box, SchemaBoxes& boxes, SchemaId at) {
  using Form = SchemaExpressions::Form;
  try {
    std::optional<Pattern> all;
    for (const auto& [word, value] : box.texts) {
      if (word == "format") return false;  // accepts more than what is written
      const Pattern one = word == made::not_texts
                              ? Pattern::except(texts_of(value))
                              : boxes.expressions().of(value.get<std::string>(),
                                                       word == "pattern" ? Form::wide_part : Form::no_part, at);
      if (one.states().size() > most_judged || (all && all->states().size() > most_judged)) return false;
      boxes.work().combine(work_of_text + std::ssize(one.states()) / 8, at);
      all = all ? common_of(*all, one, boxes.work(), at) : one;
      if (!all) return false;
    }
    return all && all->is_empty();
  } catch (const Unsupported&) {
    return false;
  }
}

}  // namespace tril::search
