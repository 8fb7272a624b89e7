#include "cli/options/yaml_options.h"

#include <yaml-cpp/binary.h>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <cctype>
#include <set>
#include <sstream>

#include "base/streams.h"
#include "base/utf8.h"

namespace tril::cli {
namespace {

constexpr std::uint64_t largest_file = 1 << 20;  // bytes: a thousand times as much as options need

std::string text_of(const YAML::Node& value, const std::string& where) {
  if (value.Tag() != "tag:yaml.org,2002:binary") return value.Scalar();
  const std::vector<unsigned char> bytes = YAML::DecodeBase64(value.Scalar());
  check(!bytes.empty() || value.Scalar().empty(), where, "expected base64 after !!binary");
  return {bytes.begin(), bytes.end()};
}

std::vector<std::string> texts_of(const YAML::Node& value, const std::string& where) {
  if (value.IsNull()) return {};
  if (value.IsScalar()) return {text_of(value, where)};
  check(value.IsSequence(), where, "expected a value or a list of values, got a map");
  std::vector<std::string> texts;
  for (const YAML::Node& item : value) {
    check(item.IsScalar(), where, "expected a list of plain values");
    texts.push_back(text_of(item, where));
  }
  return texts;
}

// Counts documents, and records where the latest begins.
struct Documents : YAML::EventHandler {
  int count = 0;
  int line = 0;
  void OnDocumentStart(const YAML::Mark& mark) override { ++count, line = mark.line + 1; }
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark&, YAML::anchor_t) override {}
  void OnAlias(const YAML::Mark&, YAML::anchor_t) override {}
  void OnScalar(const YAML::Mark&, const std::string&, YAML::anchor_t, const std::string&) override {}
  void OnSequenceStart(const YAML::Mark&, const std::string&, YAML::anchor_t, YAML::EmitterStyle::value) override {}
  void OnSequenceEnd() override {}
  void OnMapStart(const YAML::Mark&, const std::string&, YAML::anchor_t, YAML::EmitterStyle::value) override {}
  void OnMapEnd() override {}
};

// The only document of a file; YAML::Load() ignores further ones. (YAML::LoadAll() may never end.)
YAML::Node only_document(const std::string& text, const std::string& path) {
  const YAML::Node root = YAML::Load(text);
  std::istringstream stream(text);
  YAML::Parser parser(stream);
  Documents documents;
  for (int i = 0; i < 2; ++i) parser.HandleNextDocument(documents);
  if (documents.count > 1)
    fail_usage(fmt::format("{}: line {}", path, documents.line), "a second document begins, expected only one",
               "put all options into the first");
  return root;
}

// Plain if YAML reads it as the same text, otherwise quoted; a name that is not UTF-8 as YAML's binary type.
std::string yaml_text(const std::string& text) {
  if (!is_utf8(text))
    return std::string("!!binary ") +
           YAML::EncodeBase64(reinterpret_cast<const unsigned char*>(text.data()), text.size());
  const bool plain =
      !text.empty() && text != "null" && text != "Null" && text != "NULL" &&
      std::all_of(text.begin(), text.end(),
                  [](unsigned char c) {
                    return c < 0x80 && (std::isalnum(c) || c == '_' || c == '.' || c == '/' || c == '+' || c == '-');
                  }) &&
      text[0] != '-';
  return plain ? text : json_quoted(text);
}

}  // namespace

std::vector<GivenValue> read_yaml(const std::string& path, const Fields& fields) {
  const std::string text = read_any_text(path, largest_file);
  YAML::Node root;
  try {
    root = only_document(text, path);
  } catch (const YAML::Exception& problem) {
    fail_usage(fmt::format("{}: line {}", path, problem.mark.line + 1), "this is not YAML: " + problem.msg);
  }
  if (root.IsNull()) return {};
  check(root.IsMap(), path, "expected one `option: value` per line");

  std::vector<GivenValue> given;
  std::set<std::string> seen;
  for (const auto& entry : root) {
    const std::string line = fmt::format("{}: line {}", path, entry.first.Mark().line + 1);
    check(entry.first.IsScalar(), line, "expected the name of an option");
    const std::string& name = entry.first.Scalar();
    const Field* const field = fields.find(name);
    if (!field) fail_usage(line, name + " is not an option", did_you_mean(name, fields.names()));
    const std::string where = line + ": " + name;
    check(seen.insert(name).second, where, "this option occurs twice in the file");
    given.push_back({name, texts_of(entry.second, where), where});
    const std::vector<std::string>& texts = given.back().texts;
    check(!field->is_list() || !field->names_files() || std::find(texts.begin(), texts.end(), "") == texts.end(), where,
          "one of its values is empty, expected {}", field->shown_value());
  }
  return given;
}

std::string to_yaml(const Fields& fields) {
  std::string out, group;
  for (const Field& field : fields) {
    if (field.group() != group) {
      group = field.group();
      out += fmt::format("{}# {}\n", out.empty() ? "" : "\n", group);
    }
    const std::vector<std::string> texts = field.texts();
    std::string value;
    if (field.is_list() && !texts.empty()) {
      for (const std::string& text : texts) value += (value.empty() ? "[" : ", ") + yaml_text(text);
      value += "]";
    } else if (!texts.empty() && !(field.kind() == FieldKind::text && texts[0].empty())) {
      value = yaml_text(texts[0]);
    }
    out += value.empty() ? fmt::format("# {}:", field.name()) : fmt::format("{}: {}", field.name(), value);
    out += fmt::format("  # {}\n", field.help());
  }
  return out;
}

}  // namespace tril::cli
