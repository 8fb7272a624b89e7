#include "document/strings/json_strings.h"

#include <nlohmann/json.hpp>

#include "document/segments/string_segment.h"
#include "format/json_file.h"

namespace tril::document {
namespace {

std::string escape_json_slot(std::string_view text, const Slot&) {
  return json_escaped(text);
}

// Finds the strings of a valid JSON text.
class JsonStrings {
 public:
  JsonStrings(TextDocument& document) : document_(document), bytes_(document.bytes()) {}

  void run() {
    for (std::size_t at = 0; at < bytes_.size(); ++at) switch (bytes_[at]) {
        case '{':
          levels_.push_back({true, true, false});
          break;
        case '[':
          levels_.push_back({false, false, !levels_.empty() && levels_.back().kept});
          break;
        case '}':
        case ']':
          if (!levels_.empty()) levels_.pop_back();
          break;
        case ':':
          if (!levels_.empty()) levels_.back().key = false;
          break;
        case ',':
          if (!levels_.empty()) levels_.back().key = levels_.back().object;
          break;
        case '"':
          at = string(at);
          break;
        default:
          break;
      }
  }

 private:
  struct Level {
    bool object, key;  ///< key: the next string is one
    bool kept;         ///< the value of this key stays
  };

  // @return the place of the closing quote
  std::size_t string(std::size_t begin) {
    std::size_t end = begin + 1;
    while (bytes_[end] != '"') end += bytes_[end] == '\\' ? 2 : 1;
    const Range inside{begin + 1, end};
    const std::string_view raw = bytes_.substr(inside.begin, inside.size());
    if (!levels_.empty() && levels_.back().key) {
      const bool above = levels_.size() > 1 && levels_[levels_.size() - 2].kept;
      levels_.back().kept = above || raw.starts_with('@');
    } else if (levels_.empty() || !levels_.back().kept) {
      Segment segment =
          string_segment(nlohmann::json::parse(bytes_.substr(begin, end + 1 - begin)).get<std::string>(), json_escaped);
      if (is_worth_translating(segment)) document_.add({.at = inside, .escape = &escape_json_slot}, std::move(segment));
    }
    return end;
  }

  TextDocument& document_;
  std::string_view bytes_;
  std::vector<Level> levels_;
};

}  // namespace

std::string json_escaped(std::string_view text) {
  const std::string quoted = nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  return quoted.substr(1, quoted.size() - 2);
}

std::unique_ptr<Document> read_json_strings(std::string json, const std::string& where) {
  parse_json(std::string_view(json).substr(json.starts_with("\xef\xbb\xbf") ? 3 : 0), where);
  auto document = std::make_unique<TextDocument>(std::move(json));
  JsonStrings(*document).run();
  return document;
}

}  // namespace tril::document
