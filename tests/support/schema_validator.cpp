#include "support/schema_validator.h"

#include <fmt/format.h>

#include <cmath>
#include <regex>

namespace tril::search::testing {
namespace {

using nlohmann::json;

std::wstring wide(const std::string& text) {
  std::wstring out;
  for (std::size_t i = 0; i < text.size();) {
    const auto lead = static_cast<unsigned char>(text[i]);
    const std::size_t n = lead < 0x80 ? 1 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
    std::uint32_t point = n == 1 ? lead : lead & (0x7fu >> n);
    for (std::size_t k = 1; k < n; ++k) point = point << 6 | (static_cast<unsigned char>(text.at(i + k)) & 0x3f);
    out += static_cast<wchar_t>(point);
    i += n;
  }
  return out;
}

bool is_whole(const json& v) {
  return v.is_number_integer() || (v.is_number_float() && std::floor(v.get<double>()) == v.get<double>());
}

bool is_type(const json& v, const std::string& type) {
  if (type == "integer") return is_whole(v);
  if (type == "number") return v.is_number();
  return type == v.type_name();
}

bool is_date(const std::string& text) {
  static const std::regex form("(\\d{4})-(\\d\\d)-(\\d\\d)");
  std::smatch m;
  if (!std::regex_match(text, m, form)) return false;
  const int y = std::stoi(m[1]), month = std::stoi(m[2]), d = std::stoi(m[3]);
  const bool leap = (y % 4 == 0 && y % 100 != 0) || y % 400 == 0;
  const int days[] = {31, leap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
  return y >= 1 && month >= 1 && month <= 12 && d >= 1 && d <= days[month - 1];
}

bool is_time(const std::string& text) {
  static const std::regex form("(\\d\\d):(\\d\\d):(\\d\\d)(\\.\\d+)?(Z|[+-](\\d\\d):(\\d\\d))");
  std::smatch m;
  if (!std::regex_match(text, m, form)) return false;
  const auto below = [&](int part, int bound) { return !m[part].matched || std::stoi(m[part]) < bound; };
  return below(1, 24) && below(2, 60) && below(3, 60) && below(6, 24) && below(7, 60);
}

bool has_format(const std::string& text, const std::string& format) {
  const auto is = [&](const char* regex) { return std::regex_match(text, std::regex(regex)); };
  if (format == "date") return is_date(text);
  if (format == "time") return is_time(text);
  if (format == "date-time")
    return text.size() > 11 && is_date(text.substr(0, 10)) && text[10] == 'T' && is_time(text.substr(11));
  if (format == "duration") return is("P(\\d+W|\\d+D(T\\d+H(\\d+M(\\d+S)?)?)?|T\\d+H(\\d+M)?)");
  if (format == "uuid") return is("[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}");
  if (format == "email") return is("[^@ ]+@[^@ .]+(\\.[^@ .]+)+");
  if (format == "hostname")
    return text.size() < 254 && is("([a-z0-9]([a-z0-9-]*[a-z0-9])?)(\\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)*");
  if (format == "uri") return is("[a-z]+://[^ <>\"]+");
  if (format == "ipv6") return is("[0-9a-f]{1,4}(:[0-9a-f]{1,4}){7}");
  if (format == "ipv4") {
    if (!is("\\d{1,3}(\\.\\d{1,3}){3}")) return false;
    std::istringstream parts(text);
    for (std::string part; std::getline(parts, part, '.');)
      if (std::stoi(part) > 255 || (part.size() > 1 && part[0] == '0')) return false;
    return true;
  }
  return true;  // unknown keywords are annotations
}

std::string fault_of_object(const json& value, const json& s, const json& root, const std::string& at) {
  for (const json& name : s.value("required", json::array()))
    if (!value.contains(name.get<std::string>())) return fmt::format("{} lacks {}", at, name.dump());
  if (s.contains("minProperties") && value.size() < s["minProperties"].get<std::size_t>())
    return at + ": minProperties";
  if (s.contains("maxProperties") && value.size() > s["maxProperties"].get<std::size_t>())
    return at + ": maxProperties";
  const json dependent = s.value("dependentRequired", json::object());
  for (const auto& [name, others] : dependent.items())
    for (const json& other : others)
      if (value.contains(name) && !value.contains(other.get<std::string>()))
        return fmt::format("{} has {} and lacks {}", at, name, other.dump());
  const json patterns = s.value("patternProperties", json::object());
  for (const auto& [name, member] : value.items()) {
    bool known = false;
    const std::string inside = at + "." + name;
    if (s.contains("propertyNames"))
      if (std::string f = fault_of(json(name), s["propertyNames"], root, inside + " (name)"); !f.empty()) return f;
    if (s.contains("properties") && s["properties"].contains(name)) {
      known = true;
      if (std::string f = fault_of(member, s["properties"][name], root, inside); !f.empty()) return f;
    }
    for (const auto& [pattern, schema] : patterns.items())
      if (std::regex_search(wide(name), std::wregex(wide(pattern)))) {
        known = true;
        if (std::string f = fault_of(member, schema, root, inside); !f.empty()) return f;
      }
    if (!known && s.contains("additionalProperties"))
      if (std::string f = fault_of(member, s["additionalProperties"], root, inside); !f.empty()) return f;
  }
  return "";
}

std::string fault_of_array(const json& value, const json& s, const json& root, const std::string& at) {
  if (s.contains("minItems") && value.size() < s["minItems"].get<std::size_t>()) return at + ": minItems";
  if (s.contains("maxItems") && value.size() > s["maxItems"].get<std::size_t>()) return at + ": maxItems";
  if (s.value("uniqueItems", false))
    for (std::size_t i = 0; i < value.size(); ++i)
      for (std::size_t k = 0; k < i; ++k)
        if (value[i] == value[k]) return fmt::format("{}: items {} and {} are the same", at, k, i);
  if (s.contains("contains")) {
    std::size_t found = 0;
    for (const json& item : value) found += fault_of(item, s["contains"], root, at).empty();
    if (found < s.value("minContains", std::size_t{1}) || found > s.value("maxContains", found))
      return fmt::format("{}: {} items are contained", at, found);
  }
  const json prefix = s.value("prefixItems", json::array());
  for (std::size_t i = 0; i < value.size(); ++i) {
    const json* schema = i < prefix.size() ? &prefix[i] : s.contains("items") ? &s["items"] : nullptr;
    if (!schema) continue;
    if (std::string f = fault_of(value[i], *schema, root, fmt::format("{}[{}]", at, i)); !f.empty()) return f;
  }
  return "";
}

}  // namespace

std::string fault_of(const json& value, const json& s, const json& root, const std::string& at) {
  if (s.is_boolean()) return s.get<bool>() ? "" : at + ": nothing is valid";
  if (s.contains("$ref")) {
    const std::string ref = s["$ref"];
    if (std::string f = fault_of(value, root.at(json::json_pointer(ref.substr(1))), root, at); !f.empty()) return f;
  }
  for (const json& part : s.value("allOf", json::array()))
    if (std::string f = fault_of(value, part, root, at); !f.empty()) return f;
  for (const char* word : {"anyOf", "oneOf"}) {
    if (!s.contains(word)) continue;
    int valid = 0;
    for (const json& part : s[word]) valid += fault_of(value, part, root, at).empty();
    if (valid == 0 || (word[0] == 'o' && valid > 1)) return fmt::format("{}: {} alternatives of {}", at, valid, word);
  }
  if (s.contains("not") && fault_of(value, s["not"], root, at).empty()) return at + ": not";
  if (s.contains("if")) {
    const char* const branch = fault_of(value, s["if"], root, at).empty() ? "then" : "else";
    if (s.contains(branch))
      if (std::string f = fault_of(value, s[branch], root, at); !f.empty()) return f;
  }
  if (s.contains("const") && value != s["const"]) return at + ": const";
  if (s.contains("enum") && std::find(s["enum"].begin(), s["enum"].end(), value) == s["enum"].end())
    return at + ": enum";
  if (s.contains("type")) {
    const json types = s["type"].is_array() ? s["type"] : json::array({s["type"]});
    bool any = false;
    for (const json& t : types) any = any || is_type(value, t.get<std::string>());
    if (!any) return fmt::format("{}: {} is no {}", at, value.dump(), s["type"].dump());
  }
  if (value.is_object()) return fault_of_object(value, s, root, at);
  if (value.is_array()) return fault_of_array(value, s, root, at);
  if (value.is_string()) {
    const std::string text = value;
    const std::size_t length = wide(text).size();
    if (s.contains("minLength") && length < s["minLength"].get<std::size_t>()) return at + ": minLength";
    if (s.contains("maxLength") && length > s["maxLength"].get<std::size_t>()) return at + ": maxLength";
    if (s.contains("pattern") && !std::regex_search(wide(text), std::wregex(wide(s["pattern"]))))
      return fmt::format("{}: {} does not match {}", at, value.dump(), s["pattern"].dump());
    if (s.contains("format") && !has_format(text, s["format"]))
      return fmt::format("{}: {} is no {}", at, value.dump(), s["format"].dump());
  }
  if (value.is_number()) {
    const double x = value;
    if (s.contains("minimum") && x < s["minimum"].get<double>()) return fmt::format("{}: {} below minimum", at, x);
    if (s.contains("maximum") && x > s["maximum"].get<double>()) return fmt::format("{}: {} above maximum", at, x);
    if (s.contains("exclusiveMinimum") && x <= s["exclusiveMinimum"].get<double>())
      return fmt::format("{}: {} exclusiveMinimum", at, x);
    if (s.contains("exclusiveMaximum") && x >= s["exclusiveMaximum"].get<double>())
      return fmt::format("{}: {} exclusiveMaximum", at, x);
    if (s.contains("multipleOf") && std::fmod(x, s["multipleOf"].get<double>()) != 0)
      return fmt::format("{}: {} multipleOf", at, x);
  }
  return "";
}

namespace {

using Json = nlohmann::ordered_json;

int between(RandomSequence& r, int least, int most) {
  return least + static_cast<int>(r.below(static_cast<std::uint64_t>(most - least + 1)));
}
bool one_in(RandomSequence& r, std::uint64_t n) {
  return r.below(n) == 0;
}

Json random_value(RandomSequence& r) {
  switch (r.below(7)) {
    case 0:
      return nullptr;
    case 1:
      return one_in(r, 2);
    case 2:
      return between(r, -50, 50);
    case 3:
      return between(r, -500, 500) / 8.0;
    case 4:
      return Json::array({between(r, 0, 9), "x"});
    case 5:
      return Json{{"k", between(r, 0, 9)}};
    default:
      return std::vector<std::string>{
          "", "red", "a \"b\"", "\\", "\u00e9t\u00e9", "line\nend", "\U0001f600"}[r.below(7)];
  }
}

Json random_string(RandomSequence& r) {
  Json s{{"type", "string"}};
  const std::vector<std::string> patterns{
      "^[a-z]{2,5}$", "^(foo|ba[rz])+$", "\\d{3}", "^\\w+-\\w+$", "^[^\"x]*$", "^[\\u00e0-\\u00ff]{1,3}$",
      "a.b",          "^\\s?$|^q+$",     "\\\\",   "^.{2,4}$"};
  const std::vector<std::string> formats{"date",     "time", "date-time", "duration", "email",
                                         "hostname", "ipv4", "ipv6",      "uri",      "uuid"};
  const auto kind = r.below(6);
  if (kind == 0) s["pattern"] = patterns[r.below(patterns.size())];
  if (kind == 1) s["format"] = formats[r.below(formats.size())];
  if (kind == 2) s["minLength"] = between(r, 0, 6), s["maxLength"] = s["minLength"].get<int>() + between(r, 0, 5);
  if (kind == 3) s["maxLength"] = between(r, 0, 12);
  if (one_in(r, 5)) s["not"] = one_in(r, 2) ? Json{{"enum", {"2024-02-01", "foo", "a"}}} : Json{{"pattern", "^(b|1)"}};
  if (kind == 4) s["pattern"] = "^[a-c]*$", s["minLength"] = between(r, 1, 4), s["maxLength"] = between(r, 4, 8);
  return s;
}

Json random_number(RandomSequence& r) {
  const bool whole = one_in(r, 2);
  Json s{{"type", whole ? "integer" : "number"}};
  const double scale = std::vector<double>{1, 10, 1000, 100000}[r.below(4)];
  const double low = between(r, -20, 20) * scale / (whole ? 1 : 16),
               high = low + between(r, 1, 40) * scale / (whole ? 1 : 7);
  const auto kind = r.below(6);
  if (kind == 0 || kind == 2) s[one_in(r, 3) ? "exclusiveMinimum" : "minimum"] = low;
  if (kind == 1 || kind == 2) s[one_in(r, 3) ? "exclusiveMaximum" : "maximum"] = high + 2;
  if (whole && kind == 3) s["multipleOf"] = between(r, 1, 12);
  if (whole && kind == 4) s["multipleOf"] = between(r, 2, 9), s["minimum"] = low, s["maximum"] = low + 30;
  return s;
}

Json random_array(RandomSequence& r, int depth) {
  Json s{{"type", "array"}};
  if (one_in(r, 6)) {  // all different
    s["items"] = one_in(r, 2) ? Json{{"enum", {"a", 1, "b", nullptr, 2}}} : Json{{"type", "string"}};
    s["uniqueItems"] = true, s["minItems"] = between(r, 0, 3);
    return s;
  }
  if (one_in(r, 6)) {
    s["items"] = Json{{"type", Json::array({"integer", "null", "string"})}};
    s["contains"] = Json{{"type", Json::array({"null", "string"})}};
    s["minContains"] = between(r, 0, 2);
    if (one_in(r, 2)) s["maxContains"] = s["minContains"].get<int>() + between(r, 1, 2);
    return s;
  }
  const auto kind = r.below(4);
  if (kind != 0) s["items"] = random_schema(r, depth + 1);
  if (kind == 2) s["minItems"] = between(r, 0, 3);
  if (kind == 3) s["maxItems"] = between(r, 0, 4);
  if (kind == 1 && one_in(r, 2)) s["minItems"] = between(r, 1, 2), s["maxItems"] = between(r, 2, 4);
  if (one_in(r, 4)) {
    s["prefixItems"] = Json::array({random_schema(r, depth + 1), random_schema(r, depth + 1)});
    if (one_in(r, 2)) s["items"] = false, s.erase("minItems");
  }
  return s;
}

Json random_object(RandomSequence& r, int depth) {
  Json s{{"type", "object"}};
  const std::vector<std::string> names{"name", "n", "na", "\u00e9", "a b", "tags", "x\"y", "value"};
  const int count = between(r, 0, 4);
  for (int i = 0; i < count; ++i) s["properties"][names[r.below(names.size())]] = random_schema(r, depth + 1);
  const Json properties = s.value("properties", Json::object());
  for (const auto& [name, property] : properties.items())
    if (one_in(r, 2)) s["required"].push_back(name);
  switch (r.below(7)) {
    case 0:
      s["additionalProperties"] = false;
      break;
    case 1:
      s["additionalProperties"] = random_schema(r, depth + 1);
      break;
    case 2:
      s["additionalProperties"] = true;
      break;
    case 3:
      s["patternProperties"]["^z[0-9]+$"] = random_schema(r, depth + 1);
      s["additionalProperties"] = false;
      break;
    case 4:
      if (properties.empty()) s["propertyNames"] = Json{{"pattern", "^[a-f]{1,3}$"}};
      break;
    default:
      break;
  }
  if (count >= 2 && one_in(r, 4))
    s["dependentRequired"][properties.begin().key()] = Json::array({std::prev(properties.end()).key()});
  if (one_in(r, 4) && !s.contains("dependentRequired"))
    s["maxProperties"] = std::max<std::size_t>(s.value("required", Json::array()).size(), 1) + r.below(3);
  if (one_in(r, 4)) s["minProperties"] = std::min<std::size_t>(properties.size(), 1 + r.below(2));
  if (s.contains("minProperties") && s.contains("maxProperties") && s["minProperties"] > s["maxProperties"])
    s.erase("maxProperties");
  return s;
}

}  // namespace

Json random_schema(RandomSequence& r, int depth) {
  const auto kind = r.below(depth >= 3 ? 5 : 12);
  switch (kind) {
    case 0:
      return random_string(r);
    case 1:
      return random_number(r);
    case 2:
      return one_in(r, 2) ? Json{{"type", "boolean"}} : Json{{"type", "null"}};
    case 3: {
      Json values = Json::array();
      for (int i = between(r, 1, 4); i > 0; --i) values.push_back(random_value(r));
      return one_in(r, 4) ? Json{{"const", values[0]}} : Json{{"enum", values}};
    }
    case 4:
      return one_in(r, 6)
                 ? Json(true)
                 : Json{{"type", Json::array({"string", "integer", "null"})}, {"maxLength", 5}, {"maximum", 9}};
    case 5:
    case 6:
      return random_array(r, depth);
    case 7: {
      Json parts = Json::array();
      for (int i = between(r, 1, 3); i > 0; --i) parts.push_back(random_schema(r, depth + 1));
      return Json{{"anyOf", parts}};
    }
    case 8: {  // told apart by a constant
      Json parts = Json::array();
      for (const char* tag : {"a", "b", "c"}) {
        Json object = random_object(r, depth + 1);
        for (const char* word : {"maxProperties", "minProperties", "propertyNames"}) object.erase(word);
        object["properties"]["kind"] = Json{{"const", tag}};
        object["required"].push_back("kind");
        parts.push_back(object);
      }
      return Json{{"oneOf", parts}};
    }
    case 9: {  // a list, and a tree
      if (depth > 0) return random_object(r, depth);
      Json node{{"type", "object"},
                {"properties",
                 {{"v", random_schema(r, 3)},
                  {"next", {{"anyOf", Json::array({Json{{"$ref", "#/$defs/node"}}, Json{{"type", "null"}}})}}}}},
                {"required", Json::array({"v", "next"})},
                {"additionalProperties", false}};
      if (one_in(r, 2))
        node["properties"]["next"] = Json{{"type", "array"}, {"items", {{"$ref", "#/$defs/node"}}}, {"maxItems", 2}};
      return Json{{"$ref", "#/$defs/node"}, {"$defs", {{"node", node}}}};
    }
    case 10: {
      Json a = random_object(r, depth + 1), b = random_object(r, depth + 1);
      for (Json* one : {&a, &b})
        for (const char* word :
             {"maxProperties", "minProperties", "propertyNames", "patternProperties", "additionalProperties"})
          one->erase(word);
      Json renamed = Json::object();
      const Json properties = b.value("properties", Json::object());
      for (const auto& [name, property] : properties.items()) renamed["b_" + name] = property;
      b["properties"] = renamed;
      b.erase("required");
      return Json{{"allOf", Json::array({a, b})}, {"title", "both"}};
    }
    default:
      return random_object(r, depth);
  }
}

}  // namespace tril::search::testing
