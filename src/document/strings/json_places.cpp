#include "document/strings/json_places.h"

#include <algorithm>
#include <nlohmann/json.hpp>

namespace tril::document {
namespace {

// parse_json() bounds the recursion.
class PlaceReader {
 public:
  explicit PlaceReader(std::string_view json) : json_(json), at_(json.starts_with("\xef\xbb\xbf") ? 3 : 0) {}

  JsonPlace value() {
    space();
    JsonPlace place{.at = {at_, at_}};
    if (json_[at_] == '{') {
      place.is_object = true;
      ++at_;
      for (space(); json_[at_] != '}'; space()) {
        if (json_[at_] == ',') ++at_;
        place.members.push_back(member());
      }
      ++at_;
    } else if (json_[at_] == '[') {
      ++at_;
      for (space(); json_[at_] != ']'; space()) {
        if (json_[at_] == ',') ++at_;
        value();
      }
      ++at_;
    } else if (json_[at_] == '"') {
      string();
    } else {
      at_ = std::min(json_.find_first_of(",]} \t\r\n", at_), json_.size());
    }
    place.at.end = at_;
    return place;
  }

 private:
  void space() {
    while (at_ < json_.size() && std::string_view(" \t\r\n").find(json_[at_]) != std::string_view::npos) ++at_;
  }
  void string() {
    for (++at_; json_[at_] != '"';) at_ += json_[at_] == '\\' ? 2 : 1;
    ++at_;
  }
  JsonPlace member() {
    space();
    const std::size_t begin = at_;
    string();
    const Range key_at{begin, at_};
    space();
    ++at_;  // the colon
    JsonPlace m = value();
    m.key_at = key_at;
    const JsonPlace key{.at = key_at};
    m.key = string_at(json_, &key);
    return m;
  }

  std::string_view json_;
  std::size_t at_;
};

}  // namespace

const JsonPlace* JsonPlace::find(std::string_view member) const {
  const auto found = std::find_if(members.begin(), members.end(), [&](const JsonPlace& m) { return m.key == member; });
  return found == members.end() ? nullptr : &*found;
}

JsonPlace json_places(std::string_view json) {
  return PlaceReader(json).value();
}

std::string string_at(std::string_view json, const JsonPlace* value) {
  if (!value || json[value->at.begin] != '"') return "";
  return nlohmann::json::parse(json.substr(value->at.begin, value->at.size())).get<std::string>();
}

}  // namespace tril::document
