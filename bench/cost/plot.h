// Line plots with two logarithmic axes, as one SVG: panels in rows, each with a few named curves.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace tril::bench {

struct Curve {
  std::string name;
  std::vector<std::pair<double, double>> points;  ///< positive, in the order of x
  bool dashed = false;                            ///< what is possible rather than what was measured
  int colour = 0;
};

struct Panel {
  std::string title, x_label, y_label;
  std::vector<Curve> curves;
};

/// @param columns  panels beside each other
std::string svg(const std::string& title, const std::vector<Panel>& panels, int columns);

}  // namespace tril::bench
