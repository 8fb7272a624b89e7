// The parts of a schema that are omitted, and when they are reported.
#include <fmt/format.h>

#include <algorithm>

#include "base/printable.h"
#include "grammar/expressions/unsupported.h"
#include "grammar/schemas/schema_boxes.h"

namespace tril::search {
namespace {

constexpr std::size_t most_told = 1'000;   // of listed values that are left out
constexpr std::size_t longest_shown = 60;  // characters of a value in a message

// The error's place in the schema.
std::string place_of(const Error& error) {
  const std::string& place = error.where();
  const std::string_view head = "JSON schema: ";
  return place.starts_with(head) ? place.substr(head.size()) : place;
}

}  // namespace

void SchemaBoxes::leave_out(const Error& why, Telling telling) {
  if (!lacking_) lacking_ = why;
  if (telling == Telling::at_once)
    notes_.leave_out(place_of(why), why.message());
  else
    to_tell_.emplace_back(why, telling);
}

void SchemaBoxes::leave_out_unsure(const Json& value, const Conjunction& schemas) {
  const std::string text = value.dump();
  const std::string shown = text.size() > longest_shown ? text.substr(0, longest_shown) + "..." : text;
  const std::string why = fmt::format("not every validator may accept {}", printable(shown));
  const std::string where = "JSON schema: " + document_.place(schemas.empty() ? document_.root() : schemas[0]);
  if (!lacking_) lacking_ = Unsupported(where, "it allows no text that is surely valid: " + why);
  if (to_tell_.size() < most_told) to_tell_.emplace_back(Unsupported(where, why), Telling::at_end);
}

void SchemaBoxes::tell_rest(const std::vector<Conjunction>& lost) {
  std::vector<std::string> places;
  for (const Conjunction& schemas : lost)
    for (const SchemaId id : schemas) {
      places.push_back(document_.place(id));
      try {
        for (const char* word : SchemaDocument::references_of(document_.json(id)))
          places.push_back(document_.place(document_.target(id, word)));
      } catch (const Unsupported&) {  // reported at once
      }
    }
  for (const auto& [why, telling] : to_tell_) {
    const std::string at = place_of(why);
    const auto is_within = [&](const std::string& place) {
      return at.starts_with(place) && (at.size() == place.size() || at[place.size()] == '/');
    };
    if (telling == Telling::at_end || std::any_of(places.begin(), places.end(), is_within))
      notes_.leave_out(at, why.message());
  }
}

}  // namespace tril::search
