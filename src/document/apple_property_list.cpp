#include "document/apple_property_list.h"

#include <algorithm>
#include <array>

#include "base/error.h"
#include "base/line_of.h"
#include "base/printable.h"
#include "document/xml_string.h"
#include "document/xml_string_reader.h"

namespace tril::document {
namespace {

constexpr std::array<std::string_view, 6> plural_forms{"zero", "one", "two", "few", "many", "other"};

bool is_named(const pugi::xml_node& element, std::string_view name) {
  return element.name() == name;
}

XmlRole role_of_property(const pugi::xml_node&) {
  return {XmlRole::point};
}

class PropertyListReader : XmlStringReader {
 public:
  using XmlStringReader::XmlStringReader;

  void run() {
    const pugi::xml_node plist = root("plist", "is it a property list of Apple in XML form?");
    const pugi::xml_node dictionary = plist.find_child([](const auto& n) { return n.type() == pugi::node_element; });
    if (!is_named(dictionary, "dict")) fail(options_.where, "its property list has no dictionary, expected <dict>");
    for (const Member& m : members_of(dictionary)) is_named(m.value, "dict") ? entry(m.value) : text(m);
  }

 private:
  struct Member {
    pugi::xml_node key_node, value;
    std::string key;
  };

  [[noreturn]] void refuse(const pugi::xml_node& node, const std::string& what, const char* hint) const {
    fail(fmt::format("{}: line {}", options_.where, line_of(document_.bytes(), places_.whole(node).begin)), what, hint);
  }

  std::vector<Member> members_of(const pugi::xml_node& dictionary) const {
    std::vector<Member> members;
    pugi::xml_node key;
    for (const pugi::xml_node node : dictionary.children()) {
      if (node.type() != pugi::node_element) continue;
      if (is_named(node, "key") == !key.empty())
        refuse(node, fmt::format("got <{}>, expected {}", printable(node.name(), 60), key ? "a value" : "<key>"),
               "a dictionary is a list of keys, each with its value");
      if (key) members.push_back({key, node, xml_text_of(key)});
      key = key ? pugi::xml_node() : node;
    }
    if (key) refuse(key, "a key has no value", "add its value, or remove it");
    return members;
  }

  std::vector<SlottedSegment> segments_of(const pugi::xml_node& value) const {
    return xml_segments(document_, value, xml_string_style(role_of_property));
  }
  void text(const Member& m) {
    if (is_named(m.value, "string")) add_segments(document_, segments_of(m.value));
  }

  // A text with variables, or texts by width or device.
  void entry(const pugi::xml_node& dictionary) {
    for (const Member& m : members_of(dictionary)) {
      if (m.key == "NSStringLocalizedFormatKey")
        text(m);
      else if (m.key == "NSStringVariableWidthRuleType" || m.key == "NSStringDeviceSpecificRuleType")
        rule(m);
      else if (is_named(m.value, "dict"))
        variable(m);
    }
  }

  void rule(const Member& by) {
    if (!is_named(by.value, "dict")) refuse(by.value, "expected <dict> as the value of " + by.key, "correct the file");
    for (const Member& m : members_of(by.value)) is_named(m.value, "dict") ? entry(m.value) : text(m);
  }

  void variable(const Member& named) {
    const std::vector<Member> members = members_of(named.value);
    const auto member = [&](std::string_view key) {
      return std::find_if(members.begin(), members.end(), [&](const Member& m) { return m.key == key; });
    };
    const auto rule_type = member("NSStringFormatSpecTypeKey");
    const std::string rule_name = rule_type == members.end() ? "" : xml_text_of(rule_type->value);
    if (rule_name != "NSStringPluralRuleType")
      refuse(named.value,
             fmt::format("the variable {} has the rule \"{}\", expected NSStringPluralRuleType",
                         printable(named.key, 60), printable(rule_name, 60)),
             "tril reads plural rules; leave the variable out");
    std::vector<std::string> present;
    for (const Member& m : members) {
      if (std::find(plural_forms.begin(), plural_forms.end(), m.key) == plural_forms.end()) continue;
      present.push_back(m.key);
      text(m);
    }
    if (const auto other = member("other"); other != members.end()) add_forms(*other, members.back().value, present);
  }

  // Copies of a form, behind the last member of its dictionary.
  void add_forms(const Member& other, const pugi::xml_node& last, const std::vector<std::string>& present) {
    if (!is_named(other.value, "string")) return;
    const std::size_t end = places_.whole(last).end;
    const std::string tag = opening(places_.text(places_.open_tag(other.value)));
    for (const std::string& form : missing_forms(present))
      add_copy(
          document_, segments_of(other.value),
          {.content = places_.content(other.value),
           .at = {end, end},
           .before = indentation_of(other.key_node) + "<key>" + form + "</key>" + indentation_of(other.value) + tag,
           .after = "</string>"});
  }
};

}  // namespace

std::unique_ptr<Document> read_apple_property_list(std::string bytes, const DocumentOptions& options) {
  auto document = std::make_unique<TextDocument>(std::move(bytes));
  PropertyListReader(*document, options).run();
  return document;
}

}  // namespace tril::document
