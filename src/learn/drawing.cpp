#include "learn/drawing.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace tril::learn {
namespace {

std::string escaped(std::string_view words) {
  std::string out;
  for (const char c : words) switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      default:
        out += c;
    }
  return out;
}

// White at 0, blue upwards, red downwards.
std::string tint(double share) {
  const double a = std::clamp(std::abs(share), 0.0, 1.0) * 0.75;
  const auto mix = [a](int colour) { return static_cast<int>(std::lround(255 - a * (255 - colour))); };
  return share >= 0 ? fmt::format("#{:02x}{:02x}{:02x}", mix(63), mix(81), mix(181))
                    : fmt::format("#{:02x}{:02x}{:02x}", mix(198), mix(40), mix(40));
}

// "-0.00" is 0.
std::string number_text(double v, int digits) {
  const std::string text = fmt::format("{:.{}f}", v, digits);
  return text.find_first_of("123456789") == std::string::npos && text.starts_with('-') ? text.substr(1) : text;
}

}  // namespace

Drawing::Drawing(double width, double height, std::string_view title)
    : head_(fmt::format("<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0:g} {1:g}\" width=\"{0:g}\" "
                        "height=\"{1:g}\" role=\"img\" "
                        "font-family=\"sans-serif\">\n<title>{2}</title>\n<defs>\n"
                        "<marker id=\"tip\" viewBox=\"0 0 8 8\" refX=\"7\" refY=\"4\" markerWidth=\"7\" "
                        "markerHeight=\"7\" orient=\"auto\">"
                        "<path d=\"M0 0L8 4L0 8z\" fill=\"context-stroke\"/></marker>\n"
                        "<pattern id=\"hatch\" width=\"6\" height=\"6\" patternUnits=\"userSpaceOnUse\" "
                        "patternTransform=\"rotate(45)\">"
                        "<rect width=\"6\" height=\"6\" fill=\"#ececf2\"/><line y2=\"6\" stroke=\"#9aa0b5\" "
                        "stroke-width=\"2\"/></pattern>\n"
                        "</defs>\n<rect width=\"{0:g}\" height=\"{1:g}\" fill=\"#ffffff\"/>\n",
                        width, height, escaped(title))) {}

void Drawing::text(Point at, std::string_view words, const Style& s) {
  const char* anchor = s.anchor == Anchor::start ? "start" : s.anchor == Anchor::middle ? "middle" : "end";
  body_ +=
      fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" font-size=\"{:g}\" text-anchor=\"{}\" fill=\"{}\"{}>{}</text>\n",
                  at.x, at.y, s.size, anchor, s.colour, s.bold ? " font-weight=\"bold\"" : "", escaped(words));
}

void Drawing::box(Point corner, Point size, const char* fill, const char* line) {
  body_ +=
      fmt::format("<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\" fill=\"{}\" stroke=\"{}\"/>\n",
                  corner.x, corner.y, size.x, size.y, fill, line);
}

void Drawing::labelled_box(Point corner, Point size, std::string_view words, const char* fill) {
  box(corner, size, fill);
  text({corner.x + size.x / 2, corner.y + size.y / 2 + 4.5}, words);
}

void Drawing::line(Point from, Point to, const char* colour, double width) {
  body_ += fmt::format(
      "<line x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\" stroke=\"{}\" stroke-width=\"{:g}\"/>\n", from.x,
      from.y, to.x, to.y, colour, width);
}

void Drawing::arrow(Point from, Point to, const char* colour) {
  body_ += fmt::format(
      "<line x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\" stroke=\"{}\" stroke-width=\"1.2\" "
      "marker-end=\"url(#tip)\"/>\n",
      from.x, from.y, to.x, to.y, colour);
}

void Drawing::curve(const std::vector<Point>& points, const char* colour, double width) {
  std::string list;
  for (const Point& p : points) list += fmt::format("{}{:.1f},{:.1f}", list.empty() ? "" : " ", p.x, p.y);
  body_ +=
      fmt::format("<polyline points=\"{}\" fill=\"none\" stroke=\"{}\" stroke-width=\"{:g}\"/>\n", list, colour, width);
}

void Drawing::hatched(Point corner, Point size) {
  box(corner, size, "url(#hatch)");
}

Point Drawing::cells(Point corner, const Grid& g, const Cells& c) {
  for (std::int64_t i = 0; i < g.rows; ++i)
    for (std::int64_t j = 0; j < g.columns; ++j) {
      const Point at{corner.x + static_cast<double>(j) * c.width, corner.y + static_cast<double>(i) * c.height};
      if (c.is_hidden && c.is_hidden(i, j)) {
        hatched(at, {c.width, c.height});
        continue;
      }
      const double share = g.at(i, j) / c.most;
      box(at, {c.width, c.height}, tint(share).c_str(), c.digits < 0 ? "none" : faint);
      if (c.digits >= 0)
        text({at.x + c.width / 2, at.y + c.height / 2 + 4}, number_text(g.at(i, j), c.digits),
             {.size = 12, .colour = std::abs(share) > 0.8 ? "#ffffff" : ink});
    }
  return {corner.x + static_cast<double>(g.columns) * c.width, corner.y + static_cast<double>(g.rows) * c.height};
}

std::string Drawing::svg() const {
  return head_ + body_ + "</svg>\n";
}

}  // namespace tril::learn
