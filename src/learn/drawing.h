// A picture as SVG: shapes and words on a white ground, so that it is readable in dark pages too.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "learn/worked.h"

namespace tril::learn {

struct Point {
  double x = 0, y = 0;
};

class Drawing {
 public:
  static constexpr const char *ink = "#1a1a2e", *faint = "#9aa0b5", *blue = "#3f51b5", *red = "#c62828",
                              *green = "#2e7d32", *pale = "#eef0fb";

  /// @param title  for screen readers
  Drawing(double width, double height, std::string_view title);

  enum class Anchor : std::uint8_t { start, middle, end };
  struct Style {
    double size = 13;
    Anchor anchor = Anchor::middle;
    const char* colour = ink;
    bool bold = false;
  };
  void text(Point at, std::string_view words, const Style& style);
  void text(Point at, std::string_view words) { text(at, words, Style{}); }
  void box(Point corner, Point size, const char* fill, const char* line = faint);
  /// A box with words in its middle.
  void labelled_box(Point corner, Point size, std::string_view words, const char* fill = pale);
  void line(Point from, Point to, const char* colour = ink, double width = 1.2);
  void arrow(Point from, Point to, const char* colour = ink);
  /// Points joined by lines.
  void curve(const std::vector<Point>& points, const char* colour, double width = 1.6);
  /// A square that no one may use: hatched.
  void hatched(Point corner, Point size);

  struct Cells {
    double width = 46, height = 24;
    int digits = 2;                                                             ///< after the point; -1: no numbers
    double most = 1;                                                            ///< the value of the darkest cell
    std::function<bool(std::int64_t row, std::int64_t column)> is_hidden = {};  ///< hatched
  };
  /// A matrix as cells with numbers; blue is above 0, red below. @return its lower right corner
  Point cells(Point corner, const Grid& g, const Cells& c);

  std::string svg() const;

 private:
  std::string head_, body_;
};

}  // namespace tril::learn
