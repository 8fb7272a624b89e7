#include "cost/plot.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace tril::bench {
namespace {

constexpr double width = 380, height = 280, left = 62, right = 14, top = 34, bottom = 44;
constexpr std::array colours{"#1668b4", "#c4521a", "#2c8a46", "#8a3f9e"};

/// One axis: maps values between powers of `base` to [from, to].
struct Axis {
  double low, high, from, to;
  double at(double v) const { return from + (to - from) * std::log(v / low) / std::log(high / low); }
};

Axis axis_of(const Panel& p, bool x, double base, double from, double to) {
  double low = 1e300, high = 0;
  for (const Curve& c : p.curves)
    for (const auto& [a, b] : c.points) low = std::min(low, x ? a : b), high = std::max(high, x ? a : b);
  low = std::pow(base, std::floor(std::log(low) / std::log(base) + 1e-9));
  high = std::pow(base, std::ceil(std::log(high) / std::log(base) - 1e-9));
  return {low, std::max(high, low * base), from, to};
}

std::string short_number(double v) {
  if (v >= 1e6) return fmt::format("{:g}M", v / 1e6);
  if (v >= 10e3) return fmt::format("{:g}k", v / 1e3);
  return fmt::format("{:g}", v);
}

std::string text(double x, double y, const std::string& what, const char* anchor, int size) {
  return fmt::format("<text x='{:.1f}' y='{:.1f}' text-anchor='{}' font-size='{}'>{}</text>\n", x, y, anchor, size,
                     what);
}

std::string panel_svg(const Panel& p) {
  const Axis x = axis_of(p, true, 2, left, width - right), y = axis_of(p, false, 10, height - bottom, top);
  std::string out = text(width / 2, 18, p.title, "middle", 14);
  for (double v = x.low; v <= x.high * 1.01; v *= 2) {
    out += fmt::format("<line class='grid' x1='{0:.1f}' x2='{0:.1f}' y1='{1}' y2='{2}'/>\n", x.at(v), top,
                       height - bottom);
    out += text(x.at(v), height - bottom + 15, short_number(v), "middle", 11);
  }
  for (double decade = y.low; decade <= y.high * 1.01; decade *= 10)
    for (const double step : {1.0, 2.0, 5.0}) {
      const double v = decade * step;
      if (v > y.high * 1.01) break;
      out += fmt::format("<line class='grid' x1='{1}' x2='{2}' y1='{0:.1f}' y2='{0:.1f}'/>\n", y.at(v), left,
                         width - right);
      out += text(left - 6, y.at(v) + 4, short_number(v), "end", 11);
    }
  out += text((left + width - right) / 2, height - 10, p.x_label, "middle", 12);
  out +=
      fmt::format("<text transform='translate(14,{:.1f}) rotate(-90)' text-anchor='middle' font-size='12'>{}</text>\n",
                  (top + height - bottom) / 2, p.y_label);
  for (const Curve& c : p.curves) {
    std::string points;
    for (const auto& [a, b] : c.points) points += fmt::format("{:.1f},{:.1f} ", x.at(a), y.at(b));
    const char* const colour = colours[static_cast<std::size_t>(c.colour) % colours.size()];
    out += fmt::format("<polyline fill='none' stroke='{}' stroke-width='2'{} points='{}'/>\n", colour,
                       c.dashed ? " stroke-dasharray='5 4' opacity='0.7'" : "", points);
    if (!c.dashed)
      for (const auto& [a, b] : c.points)
        out += fmt::format("<circle cx='{:.1f}' cy='{:.1f}' r='3' fill='{}'><title>{}: {:g}</title></circle>\n",
                           x.at(a), y.at(b), colour, c.name, b);
    if (const auto& [a, b] = c.points.front(); !c.name.empty())
      out += fmt::format("<text x='{:.1f}' y='{:.1f}' font-size='11' fill='{}'>{}</text>\n", x.at(a) + 6, y.at(b) - 7,
                         colour, c.name);
  }
  return out;
}

}  // namespace

std::string svg(const std::string& title, const std::vector<Panel>& panels, int columns) {
  const int count = static_cast<int>(panels.size()), rows = (count + columns - 1) / columns;
  std::string out = fmt::format(
      "<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 {0:g} {1:g}' width='{0:g}' height='{1:g}' "
      "font-family='sans-serif'>\n<style>.grid {{ stroke: #ddd; stroke-width: 1 }} text {{ fill: #333 }}</style>\n"
      "<rect width='100%' height='100%' fill='white'/>\n",
      width * columns, height * rows + 30);
  out += text(width * columns / 2, 22, title, "middle", 15);
  for (int i = 0; i < count; ++i)
    out += fmt::format("<g transform='translate({:g},{:g})'>\n{}</g>\n", width * (i % columns),
                       30 + height * (i / columns), panel_svg(panels[static_cast<std::size_t>(i)]));
  return out + "</svg>\n";
}

}  // namespace tril::bench
