#include "format/yaml_file.h"

#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/mark.h>
#include <yaml-cpp/parser.h>

#include <charconv>
#include <cmath>
#include <nlohmann/json.hpp>
#include <sstream>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/printable.h"
#include "base/utf8.h"

namespace tril {
namespace {

template <class Number>
bool is_whole(std::string_view text, Number& number) {
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), number);
  return problem == std::errc() && end == text.data() + text.size();
}

nlohmann::json plain_value(const std::string& text) {
  if (text == "true" || text == "True" || text == "TRUE") return true;
  if (text == "false" || text == "False" || text == "FALSE") return false;
  std::int64_t integer = 0;
  if (is_whole(text, integer)) return integer;
  double number = 0;
  if (is_whole(text, number) && std::isfinite(number)) return number;
  return text;
}

// Builds JSON from the parser's events.
class JsonBuilder : public YAML::EventHandler {
 public:
  JsonBuilder(const std::string& where, const JsonLimits& limits) : where_(where), limits_(limits) {}

  nlohmann::json take() { return std::move(root_); }

  void OnDocumentStart(const YAML::Mark& mark) override {
    if (has_document_) refuse(mark, "a second document begins, expected only one");
    has_document_ = true;
  }
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    check_anchor(mark, anchor);
    if (expects_key())
      key(mark, "null");
    else
      put(mark, nullptr);
  }
  void OnAlias(const YAML::Mark& mark, YAML::anchor_t) override { refuse(mark, "aliases are not supported"); }
  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& value) override {
    check_anchor(mark, anchor);
    if (tag != "?" && tag != "!") refuse(mark, fmt::format("the tag {} is not supported", printable(tag, 60)));
    if (!is_utf8(value)) refuse(mark, "a scalar is not UTF-8");
    if (expects_key())
      key(mark, value);
    else
      put(mark, tag == "?" ? plain_value(value) : nlohmann::json(value));
  }
  void OnSequenceStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value) override {
    check_anchor(mark, anchor);
    open(mark, nlohmann::json::array());
  }
  void OnSequenceEnd() override { close(); }
  void OnMapStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value) override {
    check_anchor(mark, anchor);
    open(mark, nlohmann::json::object());
  }
  void OnMapEnd() override { close(); }

 private:
  struct Level {
    nlohmann::json* collection;  // null: its content is ignored
    std::string key;
    bool has_key = false;
    bool is_map = false;
  };

  [[noreturn]] void refuse(const YAML::Mark& mark, const std::string& why) const {
    fail(fmt::format("{}: line {}", where_, mark.line + 1), why);
  }
  void check_anchor(const YAML::Mark& mark, YAML::anchor_t anchor) const {
    if (anchor != YAML::NullAnchor) refuse(mark, "anchors are not supported");
  }
  bool expects_key() const { return !levels_.empty() && levels_.back().is_map && !levels_.back().has_key; }
  void count(const YAML::Mark& mark) {
    if (++values_ > limits_.values) refuse(mark, fmt::format("has more than {} values", limits_.values));
  }
  void key(const YAML::Mark& mark, const std::string& text) {
    count(mark);
    levels_.back().key = text;
    levels_.back().has_key = true;
  }
  // Where to put the value; null if the value is ignored.
  nlohmann::json* put(const YAML::Mark& mark, nlohmann::json value) {
    count(mark);
    if (levels_.empty()) return &(root_ = std::move(value));
    Level& level = levels_.back();
    level.has_key = false;
    if (!level.collection) return nullptr;
    if (!level.is_map) return &level.collection->emplace_back(std::move(value));
    const auto [at, is_new] = level.collection->emplace(level.key, std::move(value));
    return is_new ? &*at : nullptr;
  }
  void open(const YAML::Mark& mark, nlohmann::json collection) {
    if (expects_key()) refuse(mark, "a key is not a scalar");
    if (std::cmp_greater_equal(levels_.size(), limits_.depth))
      refuse(mark, fmt::format("is nested more than {} levels deep", limits_.depth));
    const bool is_map = collection.is_object();
    nlohmann::json* const place = put(mark, std::move(collection));
    levels_.push_back({.collection = place, .key = {}, .is_map = is_map});
  }
  void close() { levels_.pop_back(); }

  const std::string& where_;
  const JsonLimits& limits_;
  nlohmann::json root_;
  std::vector<Level> levels_;
  std::uint64_t values_ = 0;
  bool has_document_ = false;
};

}  // namespace

nlohmann::json parse_yaml(std::string_view text, const std::string& where, const JsonLimits& limits) {
  if (text.size() > limits.bytes)
    fail(where, fmt::format("has {} bytes, expected at most {}", text.size(), limits.bytes));
  JsonBuilder builder(where, limits);
  try {
    std::istringstream stream{std::string(text)};
    YAML::Parser parser(stream);
    while (parser.HandleNextDocument(builder)) {
    }
  } catch (const YAML::Exception& e) {
    fail(fmt::format("{}: line {}", where, e.mark.line + 1), "is not valid YAML: " + printable(e.msg, 200));
  }
  return builder.take();
}

}  // namespace tril
