#include "grammar/schemas/schema_notes.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/printable.h"

namespace tril::search {
namespace {

constexpr std::size_t most_notes = 40;

void add_once(std::vector<std::string>& list, std::string one) {
  if (std::find(list.begin(), list.end(), one) == list.end()) list.push_back(std::move(one));
}

std::string listed(const std::vector<std::string>& all, std::string_view between) {
  const std::vector<std::string> first(all.begin(),
                                       all.begin() + static_cast<std::ptrdiff_t>(std::min(all.size(), most_notes)));
  const std::string more = all.size() > most_notes ? fmt::format(" and {} more", all.size() - most_notes) : "";
  return fmt::format("{}{}", fmt::join(first, between), more);
}

}  // namespace

std::string SchemaNotes::text() const {
  std::string line;
  if (!passed_over.empty()) line = "ignored, because no draft defines it: " + listed(passed_over, ", ");
  if (!left_out.empty())
    line += (line.empty() ? "" : "; ") + std::string("never generated, because it is not supported: ") +
            listed(left_out, "; ");
  return line;
}

void SchemaNotes::pass_over(std::string_view word, const std::string& meant) {
  const std::string shown = '"' + printable(word) + '"';
  add_once(passed_over, meant.empty() ? shown : fmt::format("{} (did you mean \"{}\"?)", shown, meant));
}

void SchemaNotes::leave_out(const std::string& place, const std::string& why) {
  add_once(left_out, fmt::format("{}: {}", printable(place), why));
}

}  // namespace tril::search
