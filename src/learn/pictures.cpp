#include "learn/pictures.h"

#include <fstream>
#include <sstream>

#include "base/error.h"
#include "base/file.h"
#include "learn/chapters.h"

namespace tril::learn {

std::string picture(int number, Language l, const std::vector<Curve>& curves) {
  check(curves.empty() || number == 12, "curves", "are for chapter 12, not {}", number);
  switch (chapter(number).number) {
    case 1:
      return picture_of_ids(l);
    case 2:
      return picture_of_positions(l);
    case 3:
      return picture_of_a_head(l);
    case 4:
      return picture_of_the_mask(l);
    case 5:
      return picture_of_heads(l);
    case 6:
      return picture_of_residuals(l);
    case 7:
      return picture_of_feed_forward(l);
    case 8:
      return picture_of_cross_attention(l);
    case 9:
      return picture_of_the_decoder(l);
    case 10:
      return picture_of_the_loss(l);
    case 11:
      return picture_of_gradients(l);
    case 12:
      check(!curves.empty(), "curves", "chapter 12 draws curves that were measured, and there is no file of them");
      return picture_of_training(l, curves);
    case 13:
      return picture_of_decoding(l);
    default:
      return picture_of_changes(l);
  }
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
    if (!std::getline(parts, name, '\t') || !(parts >> p.x >> p.y))
      fail(path, fmt::format("line {} is not a name, an update and a loss with tabs between them", number),
           "give the output of example_training_tricks");
    if (curves.empty() || curves.back().name != name) curves.push_back({name, {}});
    curves.back().points.push_back(p);
  }
  if (curves.empty()) fail(path, "is empty", "give the output of example_training_tricks");
  return curves;
}

}  // namespace tril::learn
