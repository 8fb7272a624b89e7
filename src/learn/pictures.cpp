#include "learn/pictures.h"

#include <fmt/format.h>

#include <fstream>
#include <sstream>

#include "base/as_size.h"
#include "base/error.h"
#include "learn/chapters.h"

namespace tril::learn {

std::string picture(int number, Language l, const std::vector<Curve>& curves) {
  const int n = chapter(number).number;
  check(curves.empty() || n == chapter_of_curves, "curves", "are for chapter {}, not {}", chapter_of_curves, n);
  if (n == chapter_of_curves) {
    check(!curves.empty(), "curves", "chapter {} draws curves that were measured, and there is no file of them", n);
    return picture_of_training(l, curves);
  }
  static const std::vector<std::string (*)(Language)> all{
      picture_of_ids,         picture_of_positions, picture_of_a_head,       picture_of_the_mask,
      picture_of_heads,       picture_of_residuals, picture_of_feed_forward, picture_of_cross_attention,
      picture_of_the_decoder, picture_of_the_loss,  picture_of_gradients,    nullptr,
      picture_of_decoding,    picture_of_changes};
  return all.at(as_size(n - 1))(l);
}

std::vector<Curve> read_curves(const std::string& path) {
  std::ifstream file(path);
  if (!file) fail(path, "cannot be opened", "give the output of example_training_tricks");
  std::vector<Curve> curves;
  int number = 0;
  for (std::string line; std::getline(file, line);) {
    ++number;
    std::istringstream parts(line);
    std::string name;
    Point p;
    if (!std::getline(parts, name, '\t') || name.empty() || !(parts >> p.x >> p.y) || !(parts >> std::ws).eof())
      fail(path, fmt::format("line {} is not a name, an update and a loss with tabs between them", number),
           "give the output of example_training_tricks");
    if (curves.empty() || curves.back().name != name) curves.push_back({name, {}});
    curves.back().points.push_back(p);
  }
  if (curves.empty()) fail(path, "is empty", "give the output of example_training_tricks");
  return curves;
}

}  // namespace tril::learn
