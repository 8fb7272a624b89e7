#include "train/run_line.h"

#include <nlohmann/json.hpp>

namespace tril::train {
namespace {

using Json = nlohmann::ordered_json;

constexpr int deepest = 32;  // runs write 6

}  // namespace

Json run_line(const std::string& line) {
  Json j = Json::parse(
      line, [](int depth, Json::parse_event_t, Json&) { return depth <= deepest; }, false);
  return j.is_object() ? j : Json();
}

}  // namespace tril::train
