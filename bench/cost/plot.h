// Line plots with two logarithmic axes, as one SVG: panels in rows, each with a few named curves.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace tril::bench {

struct Curve {
  std::string name;
  std::vector<std::pair<double, double>> points;  ///< positive, in order of x
  bool dashed = false;                            ///< for what is possible rather than measured
  int colour = 0;
};

struct Panel {
  std::string title, x_label, y_label;
  std::vector<Curve> curves;
};

/// @param columns  number of panels side by side
std::string svg(const std::string& title, const std::vector<Panel>& panels, int columns);

}  // namespace tril::bench
