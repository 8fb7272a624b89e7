#include "cli/options/quantity_forms.h"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <cmath>
#include <span>
#include <string_view>

#include "base/printable.h"

namespace tril::cli {
namespace {

struct Unit {
  std::string_view name;
  double size;
};

// The largest unit of which a value is a multiple writes it, so the list is in descending order of preference.
constexpr std::array memory_units{Unit{"TiB", 0x1p40}, Unit{"GiB", 0x1p30}, Unit{"MiB", 0x1p20},
                                  Unit{"KiB", 0x1p10}, Unit{"TB", 1e12},    Unit{"GB", 1e9},
                                  Unit{"MB", 1e6},     Unit{"kB", 1e3},     Unit{"B", 1}};
constexpr std::array time_units{Unit{"d", 86'400}, Unit{"h", 3600}, Unit{"m", 60}, Unit{"s", 1}};

struct Quantity {
  std::span<const Unit> units;
  double most;
  std::string expected;
};

double read_quantity(const std::string& text, const std::string& where, const Quantity& q) {
  double number = 0;
  const char* const end = text.data() + text.size();
  const auto [rest, problem] = std::from_chars(text.data(), end, number, std::chars_format::fixed);
  std::string_view unit(rest, static_cast<std::size_t>(end - rest));
  while (unit.starts_with(' ')) unit.remove_prefix(1);
  if (problem == std::errc() && number == 0 && unit.empty()) return 0;
  for (const Unit& u : q.units)
    if (problem == std::errc() && unit == u.name && number >= 0 && number * u.size <= q.most) return number * u.size;
  fail_usage(where, fmt::format("expected {}, got \"{}\"", q.expected, printable(text)));
}

std::string written(double value, std::span<const Unit> units) {
  if (value == 0) return "0";
  for (const Unit& u : units)
    if (std::fmod(value, u.size) == 0) return fmt::format("{}{}", value / u.size, u.name);
  return fmt::format("{}{}", value, units.back().name);
}

}  // namespace

TextForm<std::int64_t> memory_form() {
  return {
      [](const std::string& text, const std::string& where) {
        return static_cast<std::int64_t>(read_quantity(
            text, where, {memory_units, 0x1p60, "an amount of memory with its unit, such as 2GiB or 500MiB, or 0"}));
      },
      [](const std::int64_t& bytes) { return written(static_cast<double>(bytes), memory_units); }};
}

TextForm<double> time_form() {
  return {[](const std::string& text, const std::string& where) {
            return read_quantity(text, where, {time_units, 1e9, "a time with its unit, such as 30s, 10m or 2h, or 0"});
          },
          [](const double& seconds) { return written(seconds, time_units); }};
}

}  // namespace tril::cli
