#include "document/strings/yaml_strings.h"

#include <yaml-cpp/depthguard.h>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/mark.h>
#include <yaml-cpp/parser.h>

#include <optional>
#include <sstream>
#include <vector>

#include "base/error.h"
#include "base/printable.h"
#include "document/segments/document_languages.h"
#include "document/segments/string_segment.h"
#include "document/strings/yaml_scalar.h"
#include "language/code.h"

namespace tril::document {
namespace {

// Takes the strings from the parser's events.
class YamlStrings : public YAML::EventHandler {
 public:
  YamlStrings(TextDocument& document, const DocumentOptions& options)
      : document_(document), bytes_(document.bytes()), options_(options) {
    line_end_ = bytes_.find("\r\n") != std::string_view::npos ? "\r\n" : "\n";
    first_ = bytes_.starts_with("\xef\xbb\xbf") ? 3 : 0;
  }

  void OnDocumentStart(const YAML::Mark& mark) override {
    // yaml-cpp does not go past a token that begins no node, such as "]", and would give empty documents for ever.
    if (mark.pos == document_begin_)
      fail(fmt::format("{}: line {}", options_.where, mark.line + 1), "is not valid YAML: a value was expected");
    document_begin_ = mark.pos;
    candidate_.reset(), root_key_.reset(), root_keys_ = 0, levels_.clear();
  }
  void OnDocumentEnd() override {
    if (root_keys_ != 1 || !root_key_ || options_.target_language.empty()) return;
    const std::string code = written_language(options_.target_language);
    document_.replace(root_key_->at, yaml_text(*root_key_, code, false, line_end_));
  }
  void OnNull(const YAML::Mark&, YAML::anchor_t) override { next(); }
  void OnAlias(const YAML::Mark&, YAML::anchor_t) override { next(); }
  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t, const std::string& value) override {
    const bool is_root_key = levels_.size() == 1 && levels_[0].is_map && levels_[0].at_key;
    if (next()) {
      if (levels_.empty() || !levels_.back().in_key) string(mark, tag, value);
    } else if (is_root_key && root_keys_ == 1 && is_source_language(value)) {
      candidate_ = find_yaml_scalar(bytes_, place(mark), value);
    }
  }
  void OnSequenceStart(const YAML::Mark&, const std::string&, YAML::anchor_t,
                       YAML::EmitterStyle::value style) override {
    open(false, style);
  }
  void OnSequenceEnd() override { levels_.pop_back(); }
  void OnMapStart(const YAML::Mark&, const std::string&, YAML::anchor_t, YAML::EmitterStyle::value style) override {
    if (levels_.size() == 1 && !levels_[0].at_key && root_keys_ == 1) root_key_ = candidate_;
    open(true, style);
  }
  void OnMapEnd() override { levels_.pop_back(); }

 private:
  struct Level {
    bool is_map, at_key, flow;
    bool in_key;  ///< within a key that is a map or a sequence
  };

  std::size_t place(const YAML::Mark& mark) const { return first_ + static_cast<std::size_t>(mark.pos); }
  bool is_source_language(const std::string& key) const {
    if (!options_.source_language.empty()) return is_same_language(key, options_.source_language);
    return find_language(key).has_value();
  }

  // Goes past a key or a value. @return whether it was a value
  bool next() {
    if (levels_.empty() || !levels_.back().is_map) return true;
    if (levels_.size() == 1 && levels_[0].at_key) ++root_keys_;
    levels_.back().at_key = !levels_.back().at_key;
    return levels_.back().at_key;
  }
  void open(bool is_map, YAML::EmitterStyle::value style) {
    const bool in_key = !levels_.empty() && (levels_.back().in_key || (levels_.back().is_map && levels_.back().at_key));
    next();
    const bool flow = style == YAML::EmitterStyle::Flow || (!levels_.empty() && levels_.back().flow);
    levels_.push_back({is_map, true, flow, in_key});
  }

  void string(const YAML::Mark& mark, const std::string& tag, const std::string& value) {
    if (tag != "?" && tag != "!" && tag != "tag:yaml.org,2002:str") return;
    const std::optional<YamlScalar> scalar = find_yaml_scalar(bytes_, place(mark), value);
    if (!scalar || scalar->at.begin < done_ ||
        (scalar->style == YamlStyle::plain && tag == "?" && !is_yaml_string(value)))
      return;
    const bool is_block = scalar->style == YamlStyle::literal || scalar->style == YamlStyle::folded;
    std::string_view text = value;
    while (is_block && text.starts_with('\n')) text.remove_prefix(1);
    while (is_block && text.ends_with('\n')) text.remove_suffix(1);
    Segment segment = string_segment(text, [](std::string_view s) { return std::string(s); });
    if (!is_worth_translating(segment)) return;
    done_ = scalar->at.end;
    const bool flow = !levels_.empty() && levels_.back().flow;
    document_.add({.at = scalar->at,
                   .finish = [scalar = *scalar, flow,
                              end = line_end_](const std::string& s) { return yaml_text(scalar, s, flow, end); }},
                  std::move(segment));
  }

  TextDocument& document_;
  std::string_view bytes_;
  const DocumentOptions& options_;
  std::string line_end_;
  std::size_t first_ = 0;  ///< behind the byte order mark
  int document_begin_ = -1;
  std::size_t done_ = 0;  ///< the end of the last string
  std::vector<Level> levels_;
  std::optional<YamlScalar> candidate_, root_key_;
  std::size_t root_keys_ = 0;  ///< that have begun, of the current document
};

}  // namespace

std::unique_ptr<Document> read_yaml_strings(std::string bytes, const DocumentOptions& options) {
  auto document = std::make_unique<TextDocument>(std::move(bytes));
  YamlStrings strings(*document, options);
  try {
    std::istringstream stream{document->bytes()};
    YAML::Parser parser(stream);
    while (parser.HandleNextDocument(strings)) {
    }
  } catch (const YAML::DeepRecursion& e) {  // whose own message is "bad file"
    fail(fmt::format("{}: line {}", options.where, e.mark.line + 1), "its lists and mappings are nested too deeply",
         "is the file damaged?");
  } catch (const YAML::Exception& e) {
    fail(fmt::format("{}: line {}", options.where, e.mark.line + 1), "is not valid YAML: " + printable(e.msg, 200));
  }
  return document;
}

}  // namespace tril::document
