#include "cli/options/environment.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdlib>
#include <iterator>
#include <sstream>
#include <string_view>

#include "base/printable.h"

namespace tril::cli {
namespace {

constexpr std::string_view prefix = "TRIL_";

// Variables of tril that are no options: for kernels, the server's keys, tests and scripts; a name that ends in an
// underscore stands for all names with that prefix.
constexpr std::array<std::string_view, 15> others{
    "INSTRUCTION_SET", "API_KEY", "BROWSER",      "SCREENSHOTS", "EXPORT_DIR", "GOLDEN_DIR",   "ROUNDS", "SEED",
    "SOAK_",           "KILLS",   "SLOW_CLIENTS", "SUBWORD_NMT", "COURSE",     "WRITE_COURSE", "CPM"};

bool is_of_others(std::string_view name) {
  return std::any_of(others.begin(), others.end(), [&](std::string_view other) {
    return other.ends_with('_') ? name.starts_with(other) : name == other;
  });
}

// "queue-size" -> "QUEUE_SIZE"
std::string variable_of(std::string name) {
  std::transform(name.begin(), name.end(), name.begin(),
                 [](unsigned char c) { return c == '-' ? '_' : static_cast<char>(std::toupper(c)); });
  return name;
}

}  // namespace

std::vector<GivenValue> read_environment(const Fields& fields) {
  std::vector<GivenValue> values;
  for (const Field& field : fields) {
    const std::string name = std::string(prefix) + variable_of(field.name());
    const char* const text = std::getenv(name.c_str());
    if (!text) continue;
    std::istringstream words(text);
    std::vector<std::string> texts{std::istream_iterator<std::string>(words), {}};
    values.push_back({field.name(), field.is_list() ? std::move(texts) : std::vector<std::string>{text}, name});
  }
  return values;
}

std::vector<std::string> unknown_settings(const Fields& fields, std::span<const std::string> settings) {
  std::vector<std::string> known;
  for (const Field& field : fields) known.push_back(variable_of(field.name()));
  for (const char* name : {"API_KEY", "INSTRUCTION_SET"}) known.emplace_back(name);
  std::vector<std::string> list;
  for (std::string_view setting : settings) {
    std::string_view name = setting.substr(0, setting.find('='));
    if (!name.starts_with(prefix)) continue;
    name.remove_prefix(prefix.size());
    if (is_of_others(name) || std::find(known.begin(), known.end(), name) != known.end()) continue;
    const std::string meant = nearest(name, known);
    list.push_back(fmt::format("{}{} is not an option{}", prefix, printable(name),
                               meant.empty() ? "" : fmt::format("; did you mean {}{}?", prefix, meant)));
  }
  return list;
}

std::vector<std::string> settings_of_process() {
  std::vector<std::string> list;
  for (char** one = environ; one && *one; ++one) list.emplace_back(*one);
  return list;
}

}  // namespace tril::cli
