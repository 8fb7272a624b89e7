#include "cli/options/profile_table.h"

#include "base/number_text.h"

#include <fmt/format.h>
#include <algorithm>

namespace tril::cli {
namespace {

using train::Roofline;
using train::StepProfile;
using train::StepRow;

constexpr double giga = 1e9, mega = 1e6;

// Three significant digits, or nothing for zero.
std::string digits(double value) {
  if (value == 0) return "";
  return value >= 100 ? fmt::format("{:.0f}", value) : fmt::format("{:.{}f}", value, value >= 10 ? 1 : 2);
}

// "bf16 2900 GFLOP/s": the limit of the row.
std::string roof_text(const StepRow& row, const Roofline& roof) {
  if (row.bound == Roofline::Bound::nothing) return "";
  if (row.bound == Roofline::Bound::memory) return fmt::format("{} GB/s", digits(roof.bytes / giga));
  const bool mixed = row.work.mixed_flops > row.work.flops;
  return fmt::format("{} GFLOP/s", digits((mixed ? roof.mixed_flops : roof.flops) / giga));
}

std::string percent(double share) {
  return share > 0 ? fmt::format("{:.1f}%", 100 * share) : "";
}

std::string line(const StepRow& row, std::size_t width, const std::string& roof) {
  const double flops = row.work.flops + row.work.mixed_flops;
  return fmt::format("{:<{}}{:>8.4g}{:>10.2f}{:>8}{:>9}{:>9}{:>10}{:>8}{:>14}{:>9}\n", row.name, width, row.calls,
                     row.milliseconds, percent(row.share), digits(flops / giga), digits(row.work.bytes / mega),
                     flops > 0 ? digits(row.flop_rate() / giga) : "",
                     row.work.bytes > 0 ? digits(row.byte_rate() / giga) : "", roof, percent(row.reached()));
}

nlohmann::ordered_json json_of(const StepRow& row) {
  static constexpr const char* bounds[] = {"nothing", "products", "memory"};
  return {{"name", row.name},
          {"calls", row.calls},
          {"milliseconds", row.milliseconds},
          {"share", row.share},
          {"gflop_fp32", row.work.flops / giga},
          {"gflop_bf16", row.work.mixed_flops / giga},
          {"gb", row.work.bytes / giga},
          {"gflop_per_second", row.milliseconds > 0 ? row.flop_rate() / giga : 0},
          {"gb_per_second", row.milliseconds > 0 ? row.byte_rate() / giga : 0},
          {"bound", bounds[static_cast<std::size_t>(row.bound)]},
          {"roof_milliseconds", row.roof_milliseconds},
          {"reached", row.reached()}};
}

}  // namespace

std::string profile_table(const StepProfile& p) {
  const std::string mixed =
      p.roof.mixed_flops > 0 ? fmt::format(", products in bf16 {} GFLOP/s", digits(p.roof.mixed_flops / giga)) : "";
  std::string text = fmt::format(
      "Where an update's time goes: mean of {} on {}.\n"
      "Roofs of these threads: products in fp32 {} GFLOP/s{}, memory {} GB/s.\n\n",
      counted(p.updates, "update"), counted(p.threads, "thread"), digits(p.roof.flops / giga), mixed,
      digits(p.roof.bytes / giga));
  std::size_t width = 0;
  for (const StepRow& row : p.rows) width = std::max(width, row.name.size());
  text += fmt::format("{:<{}}{:>8}{:>10}{:>8}{:>9}{:>9}{:>10}{:>8}{:>14}{:>9}\n", "", width, "calls", "ms", "share",
                      "GFLOP", "MB", "GFLOP/s", "GB/s", "roof", "reached");
  for (const StepRow& row : p.rows) text += line(row, width, roof_text(row, p.roof));
  return text + line(p.total, width, fmt::format("{} ms", digits(p.total.roof_milliseconds)));
}

nlohmann::ordered_json profile_json(const StepProfile& p) {
  nlohmann::ordered_json rows = nlohmann::ordered_json::array();
  for (const StepRow& row : p.rows) rows.push_back(json_of(row));
  return {{"threads", p.threads},
          {"updates", p.updates},
          {"milliseconds", p.total.milliseconds},
          {"roof_milliseconds", p.total.roof_milliseconds},
          {"roof",
           {{"gflop_per_second_fp32", p.roof.flops / giga},
            {"gflop_per_second_bf16", p.roof.mixed_flops / giga},
            {"gb_per_second", p.roof.bytes / giga}}},
          {"rows", rows}};
}

}  // namespace tril::cli
