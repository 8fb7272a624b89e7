#include "document/strings/apple_property_list.h"

#include <algorithm>
#include <array>
#include <set>

#include "base/error.h"
#include "base/line_of.h"
#include "base/printable.h"
#include "document/xml/xml_string.h"
#include "document/xml/xml_string_reader.h"

namespace tril::document {
namespace {

constexpr std::array<std::string_view, 6> plural_forms{"zero", "one", "two", "few", "many", "other"};
constexpr std::string_view format_key = "NSStringLocalizedFormatKey", width_rule = "NSStringVariableWidthRuleType",
                           device_rule = "NSStringDeviceSpecificRuleType", rule_key = "NSStringFormatSpecTypeKey",
                           value_key = "NSStringFormatValueTypeKey";

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

  [[noreturn]] void refuse(const pugi::xml_node& node, const std::string& what, const std::string& hint) const {
    fail(fmt::format("{}: line {}", options_.where, line_of(document_.bytes(), places_.whole(node).begin)), what, hint);
  }

  std::vector<Member> members_of(const pugi::xml_node& dictionary) const {
    std::vector<Member> members;
    std::set<std::string> keys;
    pugi::xml_node key;
    for (const pugi::xml_node node : dictionary.children()) {
      if (node.type() != pugi::node_element) continue;
      if (is_named(node, "key") == !key.empty())
        refuse(node, fmt::format("got <{}>, expected {}", printable(node.name(), 60), key ? "a value" : "<key>"),
               "a dictionary is a list of keys, each with its value");
      if (key) {
        members.push_back({key, node, xml_text_of(key)});
        if (!keys.insert(members.back().key).second)
          refuse(key, fmt::format("the key \"{}\" occurs twice in its dictionary", printable(members.back().key, 60)),
                 "remove one of the two");
      }
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

  // The members of a dictionary that are its variables.
  static bool is_variable(const Member& m) {
    return is_named(m.value, "dict") && m.key != format_key && m.key != width_rule && m.key != device_rule;
  }

  // A text with variables, or texts by width or device.
  void entry(const pugi::xml_node& dictionary) {
    const std::vector<Member> members = members_of(dictionary);
    std::set<std::string> variables;
    for (const Member& m : members)
      if (is_variable(m)) variables.insert(m.key);
    for (const Member& m : members) {
      if (m.key == format_key)
        format(m, variables);
      else if (m.key == width_rule || m.key == device_rule)
        rule(m, variables);
      else if (is_variable(m))
        variable(m, variables);
    }
  }

  // @param variables  those that the texts may name
  void rule(const Member& by, const std::set<std::string>& variables) {
    if (!is_named(by.value, "dict")) refuse(by.value, "expected <dict> as the value of " + by.key, "correct the file");
    for (const Member& m : members_of(by.value)) is_named(m.value, "dict") ? entry(m.value) : format(m, variables);
  }

  // A text that may name variables: %#@files@, %1$#@files@.
  void format(const Member& m, const std::set<std::string>& variables) {
    if (!is_named(m.value, "string"))
      refuse(m.value,
             fmt::format("expected <string> as the value of {}, got <{}>", printable(m.key, 60),
                         printable(m.value.name(), 60)),
             "correct the file");
    check_variables(m, variables);
    text(m);
  }

  void check_variables(const Member& m, const std::set<std::string>& variables) const {
    const std::string format = xml_text_of(m.value);
    for (std::size_t at = format.find('%'); at != std::string::npos; at = format.find('%', at)) {
      if (format[++at] == '%') {
        ++at;
        continue;
      }
      const std::size_t digits = std::min(format.find_first_not_of("0123456789", at), format.size());
      const std::size_t mark = digits > at && format[digits] == '$' ? digits + 1 : at;
      if (format.compare(mark, 2, "#@") != 0) continue;
      const std::size_t end = format.find('@', mark + 2);
      if (end == std::string::npos)
        refuse(m.value, fmt::format("\"{}\" is not closed", printable(format.substr(at - 1), 60)),
               "a variable is written %#@NAME@");
      const std::string name = format.substr(mark + 2, end - mark - 2);
      if (variables.count(name) == 0)
        refuse(
            m.value,
            fmt::format("the text names the variable \"{}\", which its dictionary does not have", printable(name, 60)),
            fmt::format("add <key>{}</key> with the variable's <dict>", printable(name, 60)));
      at = end + 1;
    }
  }

  void variable(const Member& named, const std::set<std::string>& variables) {
    const std::vector<Member> members = members_of(named.value);
    const auto member = [&](std::string_view key) {
      return std::find_if(members.begin(), members.end(), [&](const Member& m) { return m.key == key; });
    };
    const auto rule_type = member(rule_key);
    const std::string rule_name = rule_type == members.end() ? "" : xml_text_of(rule_type->value);
    if (rule_name != "NSStringPluralRuleType")
      refuse(named.value,
             fmt::format("the variable {} has the rule \"{}\", expected NSStringPluralRuleType",
                         printable(named.key, 60), printable(rule_name, 60)),
             "tril reads plural rules; leave the variable out");
    std::vector<std::string> present;
    for (const Member& m : members) {
      if (m.key == rule_key || m.key == value_key) continue;
      if (std::find(plural_forms.begin(), plural_forms.end(), m.key) == plural_forms.end())
        refuse(m.key_node,
               fmt::format("the variable {} has the plural category \"{}\", expected one of {}",
                           printable(named.key, 60), printable(m.key, 60), fmt::join(plural_forms, ", ")),
               "correct its name, or remove it");
      present.push_back(m.key);
      format(m, variables);
    }
    const auto other = member("other");
    if (other == members.end())
      refuse(named.value, fmt::format("the variable {} has no plural category \"other\"", printable(named.key, 60)),
             "add it: every language uses it, and other categories may be missing");
    add_forms(*other, members.back().value, present);
  }

  // Copies of a form, behind the last member of its dictionary.
  void add_forms(const Member& other, const pugi::xml_node& last, const std::vector<std::string>& present) {
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
