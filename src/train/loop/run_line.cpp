#include "train/loop/run_line.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string_view>

#include "base/file.h"
#include "base/utf8.h"

namespace tril::train {
namespace {

using Json = nlohmann::ordered_json;

constexpr int deepest = 32;  // runs write at most 6

}  // namespace

Json run_line(const std::string& line) {
  Json j = Json::parse(
      line, [](int depth, Json::parse_event_t, Json&) { return depth <= deepest; }, false);
  return j.is_object() ? j : Json();
}

std::vector<std::string> read_run_lines(const std::string& path) {
  const MappedFile file = MappedFile::open(path);
  std::string_view rest(reinterpret_cast<const char*>(file.bytes().data()), file.bytes().size());
  std::vector<std::string> lines;
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find('\n'), rest.size());
    const std::string_view line = rest.substr(0, end);
    if (line.find('\0') == std::string_view::npos && is_utf8(line)) lines.emplace_back(line);
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return lines;
}

}  // namespace tril::train
