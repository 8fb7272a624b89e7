#include "search/schema_strings.h"

#include <fmt/format.h>

#include <array>
#include <optional>

#include "base/printable.h"
#include "search/grammar.h"

namespace tril::search {
namespace {

constexpr std::int64_t longest = 100'000;

// RFC 3339's forms, and others that validators know; where they are lenient, the strict ones.
std::string regex_of_format(std::string_view format) {
  const std::string date =
                        "[0-9]{4}-((0[13578]|1[02])-(0[1-9]|[12][0-9]|3[01])|(0[469]|11)-(0[1-9]|[12][0-9]|30)|"
                        "02-(0[1-9]|1[0-9]|2[0-8]))",
                    time =
                        "([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](\\.[0-9]{1,6})?(Z|[+-]([01][0-9]|2[0-3]):[0-5][0-9])",
                    octet = "(25[0-5]|2[0-4][0-9]|1[0-9][0-9]|[1-9]?[0-9])",
                    label = "[a-z0-9]([a-z0-9-]{0,20}[a-z0-9])?", host = label + "(\\." + label + "){0,4}";
  const std::array<std::pair<std::string_view, std::string>, 10> known{
      {{"date", date},
       {"time", time},
       {"date-time", date + "T" + time},
       {"duration", "P([0-9]{1,3}W|[0-9]{1,3}D(T[0-9]{1,3}H([0-9]{1,2}M([0-9]{1,2}S)?)?)?|T[0-9]{1,3}H([0-9]{1,2}M)?)"},
       {"email", "[a-z0-9_+-]{1,20}(\\.[a-z0-9_+-]{1,20}){0,3}@" + label + "(\\." + label + "){1,3}"},
       {"hostname", host},
       {"ipv4", octet + "(\\." + octet + "){3}"},
       {"ipv6", "[0-9a-f]{1,4}(:[0-9a-f]{1,4}){7}"},
       {"uri", "https?://" + host + "(:[1-9][0-9]{0,3})?(/[A-Za-z0-9._~-]{1,30}){0,8}/?(\\?[A-Za-z0-9._~=&-]{1,60})?"},
       {"uuid", "[0-9a-f]{8}-[0-9a-f]{4}-[1-5][0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}"}}};
  for (const auto& [name, regex] : known)
    if (name == format) return regex;
  return "";
}

}  // namespace

Pattern counted(Pattern p, PatternStates& so_far, const std::string& place) {
  so_far += p.states().size();
  if (so_far > Grammar::most_states)
    refuse_schema(place, fmt::format("patterns and lengths need more than {} states by here", Grammar::most_states));
  return p;
}

Pattern string_pattern(const Json& schema, PatternStates& so_far, const std::string& place) {
  const std::int64_t least = count_of(schema, "minLength", 0, place), most = count_of(schema, "maxLength", -1, place);
  if (std::max(least, most) > longest)
    refuse_schema(place, fmt::format("\"minLength\" and \"maxLength\" above {} are not supported", longest));
  if (most >= 0 && least > most)
    refuse_schema(place,
                  fmt::format("\"minLength\" {} is above \"maxLength\" {}, which nothing satisfies", least, most));
  const bool bounded = least > 0 || most >= 0;
  std::optional<Pattern> pattern;
  const auto also = [&](const Pattern& other) { pattern = counted(pattern ? *pattern & other : other, so_far, place); };
  if (schema.contains("pattern")) {
    const std::string regex = text_of(schema, "pattern", place);
    also(at_place(place + "/pattern", [&] { return Pattern::of_regex(regex, Pattern::Match::part); }));
  }
  if (schema.contains("format")) {
    const std::string format = text_of(schema, "format", place), regex = regex_of_format(format);
    if (regex.empty())
      refuse_schema(place + "/format", fmt::format("\"{}\" is not supported", printable(format)),
                    "date, time, date-time, duration, email, hostname, ipv4, ipv6, uri and uuid are");
    also(Pattern::of_regex(regex, Pattern::Match::whole));
  }
  if (bounded || !pattern) also(Pattern::of_length(least, most < 0 ? std::nullopt : std::optional(most)));
  return *pattern;
}

Pattern name_pattern(const Json& schema, PatternStates& so_far, const std::string& place) {
  if (!is_listed(schema)) return string_pattern(schema, so_far, place);
  std::vector<std::string> names;
  for (const Json& value : listed_values(schema))
    if (value.is_string()) names.push_back(value.get<std::string>());
  return counted(Pattern::of_texts(names), so_far, place);
}

}  // namespace tril::search
