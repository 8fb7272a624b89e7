#include "format/json_file.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <type_traits>
#include <unordered_set>

#include "base/error.h"
#include "base/file.h"
#include "base/line_of.h"
#include "base/printable.h"

namespace tril {
namespace {

using Json = nlohmann::json;

// "line 3, column 7" of the byte at `offset`; columns count bytes from 1.
std::string place_in(std::string_view text, std::size_t offset) {
  const std::string_view before = text.substr(0, std::min(offset, text.size()));
  const std::size_t newline = before.rfind('\n');
  return fmt::format("line {}, column {}", line_of(text, offset),
                     before.size() - (newline == before.npos ? 0 : newline + 1) + 1);
}

// Builds the document from the parser's events, and stops at the first violation of a limit. The parser itself does
// not recurse.
template <class Document>
class Builder {
 public:
  Builder(std::string_view text, const std::string& where, const JsonLimits& limits)
      : text_(text), where_(where), limits_(limits) {}

  Document take() { return std::move(root_); }

  bool null() { return put(Document()); }
  bool boolean(bool value) { return put(Document(value)); }
  bool number_integer(typename Document::number_integer_t value) { return put(Document(value)); }
  bool number_unsigned(typename Document::number_unsigned_t value) { return put(Document(value)); }
  bool number_float(typename Document::number_float_t value, const std::string&) { return put(Document(value)); }
  bool string(std::string& value) { return put(Document(std::move(value))); }
  bool binary(typename Document::binary_t&) { fail(where_, "binary values are not part of JSON"); }
  bool start_object(std::size_t) { return open(Document::object()); }
  bool start_array(std::size_t) { return open(Document::array()); }
  bool end_object() { return close(); }
  bool end_array() { return close(); }

  bool key(std::string& name) {
    auto& object = open_.back()->template get_ref<typename Document::object_t&>();
    const auto fail_twice = [&] {
      fail(where_, fmt::format("the key \"{}\" occurs twice in the same object", printable(name)));
    };
    if constexpr (std::is_same_v<Document, nlohmann::ordered_json>) {
      // An ordered object is a list that is searched from its beginning: a hostile one would take forever.
      if (!names_.back().insert(name).second) fail_twice();
      slot_ = &object.emplace_back(name, Document()).second;
    } else {
      if (object.contains(name)) fail_twice();
      slot_ = &object[std::move(name)];
    }
    return true;
  }

  bool parse_error(std::size_t position, const std::string&, const nlohmann::detail::exception& error) {
    // `position` counts the bytes read, the last of which is the wrong one. The library's message begins with
    // its own name for the error and the same place.
    const std::string place = fmt::format("{}: {}", where_, place_in(text_, position == 0 ? 0 : position - 1));
    if (dynamic_cast<const typename Document::out_of_range*>(&error))
      fail(place, "has a number that is too large for 64 bits", "write a smaller one");
    std::string_view reason = error.what();
    if (const std::size_t after = reason.find(": "); after != reason.npos) reason.remove_prefix(after + 2);
    fail(place, fmt::format("is not valid JSON: {}", printable(reason, 200)));
  }

 private:
  Document* put(Document value, std::nullptr_t) {
    if (++values_ > limits_.values)
      fail(where_, fmt::format("has more than the {} values allowed for such a file", limits_.values));
    if (open_.empty()) return &(root_ = std::move(value));
    Document& parent = *open_.back();
    if (parent.is_object()) return &(*slot_ = std::move(value));
    parent.push_back(std::move(value));
    return &parent.back();
  }
  bool put(Document value) {
    put(std::move(value), nullptr);
    return true;
  }
  bool open(Document empty) {
    if (static_cast<int>(open_.size()) >= limits_.depth)
      fail(where_, fmt::format("has arrays and objects nested more than {} deep", limits_.depth));
    open_.push_back(put(std::move(empty), nullptr));
    names_.emplace_back();
    return true;
  }
  bool close() {
    open_.pop_back();
    names_.pop_back();
    return true;
  }
  std::string_view text_;
  const std::string& where_;
  const JsonLimits& limits_;
  Document root_;
  std::vector<Document*> open_;  // from the root to the innermost unclosed one; only the innermost grows
  std::vector<std::unordered_set<std::string>> names_;  // the keys of each of these, if ordered
  Document* slot_ = nullptr;                            // the place of the last key's value
  std::uint64_t values_ = 0;
};

std::string describe(const Json& value) {
  switch (value.type()) {
    case Json::value_t::null:
      return "null";
    case Json::value_t::object:
      return "an object";
    case Json::value_t::array:
      return fmt::format("an array of {}", value.size());
    case Json::value_t::string:
      return fmt::format("the string \"{}\"", printable(value.get_ref<const std::string&>(), 40));
    default:
      return value.dump();
  }
}

template <class T>
struct Reader;  // expected: the type's name for messages; read: nothing if the value has another type

template <>
struct Reader<bool> {
  static constexpr std::string_view expected = "true or false";
  static std::optional<bool> read(const Json& v) {
    return v.is_boolean() ? std::optional(v.get<bool>()) : std::nullopt;
  }
};

template <>
struct Reader<std::int64_t> {
  static constexpr std::string_view expected = "an integer";
  static std::optional<std::int64_t> read(const Json& v) {
    if (v.is_number_unsigned() && v.get<std::uint64_t>() > std::uint64_t{std::numeric_limits<std::int64_t>::max()})
      return std::nullopt;
    if (v.is_number_integer()) return v.get<std::int64_t>();
    // 1e4 and 512.0 are whole numbers too, within the range in which doubles represent every integer.
    const double x = v.is_number_float() ? v.get<double>() : 0.5;
    if (x != std::floor(x) || std::abs(x) > 0x1p53) return std::nullopt;
    return static_cast<std::int64_t>(x);
  }
};

template <>
struct Reader<double> {
  static constexpr std::string_view expected = "a number";
  static std::optional<double> read(const Json& v) {
    return v.is_number() ? std::optional(v.get<double>()) : std::nullopt;
  }
};

template <>
struct Reader<std::string> {
  static constexpr std::string_view expected = "a string";
  static std::optional<std::string> read(const Json& v) {
    return v.is_string() ? std::optional(v.get<std::string>()) : std::nullopt;
  }
};

template <class T>
struct Reader<std::vector<T>> {
  static constexpr std::string_view expected = std::is_same_v<T, std::string> ? "an array of strings"
                                               : std::is_same_v<T, double>    ? "an array of numbers"
                                                                              : "an array of integers";
  static std::optional<std::vector<T>> read(const Json& v) {
    if (!v.is_array()) return std::nullopt;
    std::vector<T> all;
    for (const Json& element : v) {
      std::optional<T> one = Reader<T>::read(element);
      if (!one) return std::nullopt;
      all.push_back(std::move(*one));
    }
    return all;
  }
};

template <class Document>
Document parsed(std::string_view text, const std::string& where, const JsonLimits& limits) {
  if (text.size() > limits.bytes)
    fail(where, fmt::format("has {} bytes, at most {} are allowed for such a file", text.size(), limits.bytes));
  // The library takes a NUL byte for the end of the text and would ignore the rest.
  if (const std::size_t nul = text.find('\0'); nul != text.npos)
    fail(fmt::format("{}: {}", where, place_in(text, nul)), "is not valid JSON: a NUL byte");
  Builder<Document> builder(text, where, limits);
  Document::sax_parse(text.begin(), text.end(), &builder);  // never false: Builder throws instead
  return builder.take();
}

}  // namespace

Json parse_json(std::string_view text, const std::string& where, const JsonLimits& limits) {
  return parsed<Json>(text, where, limits);
}

nlohmann::ordered_json parse_ordered_json(std::string_view text, const std::string& where, const JsonLimits& limits) {
  return parsed<nlohmann::ordered_json>(text, where, limits);
}

Json read_json(const std::string& path, const JsonLimits& limits) {
  return parse_json(read_text(path, limits.bytes), printable(path, 400), limits);
}

namespace {

constexpr std::string_view kInfinity = "Infinity";

// Replaces each Infinity outside of strings.
std::string without_infinity(std::string_view text) {
  std::string out;
  bool in_string = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (!in_string && text.substr(i).starts_with(kInfinity)) {
      out += R"({"__float__": "Infinity"})";
      i += kInfinity.size() - 1;
      continue;
    }
    out += c;
    if (c == '"') in_string = !in_string;
    if (in_string && c == '\\' && i + 1 < text.size()) out += text[++i];
  }
  return out;
}

}  // namespace

Json read_python_json(const std::string& path, const JsonLimits& limits) {
  const std::string text = read_text(path, limits.bytes), where = printable(path, 400);
  return parse_json(text.find(kInfinity) == text.npos ? text : without_infinity(text), where, limits);
}

JsonObject::JsonObject(const Json& object, std::string where, const KeyNames* names)
    : object_(&object), where_(std::move(where)), names_(names) {
  if (!object.is_object()) fail(where_, fmt::format("is {}, expected an object {{...}}", describe(object)));
}

const Json* JsonObject::value(std::string_view key) const {
  const auto found = object_->find(key);
  return found == object_->end() || found->is_null() ? nullptr : &*found;
}

bool JsonObject::has(std::string_view key) const {
  return value(key) != nullptr;
}

template <class T>
std::optional<T> JsonObject::find(std::string_view key) const {
  const Json* const found = value(key);
  if (!found) return std::nullopt;
  std::optional<T> result = Reader<T>::read(*found);
  if (!result) fail_type(key, *found, Reader<T>::expected);
  return result;
}

template <class T>
T JsonObject::get(std::string_view key) const {
  std::optional<T> found = find<T>(key);
  if (!found) fail_missing(key);
  return std::move(*found);
}

template std::optional<bool> JsonObject::find(std::string_view) const;
template std::optional<std::int64_t> JsonObject::find(std::string_view) const;
template std::optional<double> JsonObject::find(std::string_view) const;
template std::optional<std::string> JsonObject::find(std::string_view) const;
template std::optional<std::vector<std::int64_t>> JsonObject::find(std::string_view) const;
template std::optional<std::vector<double>> JsonObject::find(std::string_view) const;
template std::optional<std::vector<std::string>> JsonObject::find(std::string_view) const;
template bool JsonObject::get(std::string_view) const;
template std::int64_t JsonObject::get(std::string_view) const;
template double JsonObject::get(std::string_view) const;
template std::string JsonObject::get(std::string_view) const;
template std::vector<std::int64_t> JsonObject::get(std::string_view) const;
template std::vector<double> JsonObject::get(std::string_view) const;
template std::vector<std::string> JsonObject::get(std::string_view) const;

std::optional<std::int64_t> JsonObject::find_size(std::string_view key) const {
  const Json* const found = value(key);
  if (!found) return std::nullopt;
  const std::optional<std::int64_t> result = Reader<std::int64_t>::read(*found);
  if (!result || *result <= 0) fail_type(key, *found, "a positive integer");
  if (*result > std::numeric_limits<std::int32_t>::max()) fail_type(key, *found, "a size below 2^31");
  return result;
}

std::int64_t JsonObject::size(std::string_view key) const {
  const std::optional<std::int64_t> found = find_size(key);
  if (!found) fail_missing(key);
  return *found;
}

std::int64_t JsonObject::size(std::string_view key, std::int64_t otherwise) const {
  return find_size(key).value_or(otherwise);
}

std::optional<JsonObject> JsonObject::find_object(std::string_view key) const {
  const Json* const found = value(key);
  if (!found) return std::nullopt;
  return JsonObject(*found, place_of(key));
}

JsonObject JsonObject::object(std::string_view key) const {
  std::optional<JsonObject> found = find_object(key);
  if (!found) fail_missing(key);
  return *found;
}

std::vector<std::string> JsonObject::keys() const {
  std::vector<std::string> names;
  for (const auto& item : object_->items()) names.push_back(item.key());
  return names;
}

std::string JsonObject::name_of(std::string_view key) const {
  const auto found = names_ ? names_->find(key) : KeyNames::const_iterator();
  return printable(names_ && found != names_->end() ? found->second : key);
}

std::string JsonObject::place_of(std::string_view key) const {
  return fmt::format("{}: {}", where_, name_of(key));
}

void JsonObject::fail_at(std::string_view key, const std::string& text, const std::string& hint) const {
  fail_usage(place_of(key), text, hint);
}

void JsonObject::fail_missing(std::string_view key) const {
  const auto there = object_->find(key);
  if (there != object_->end()) fail_at(key, "is null, but is required");
  fail_at(key, "is missing", did_you_mean(key, keys()));
}

void JsonObject::fail_type(std::string_view key, const Json& value, std::string_view expected) const {
  fail_at(key, fmt::format("is {}, expected {}", describe(value), expected));
}

std::int32_t token_id_of(const JsonObject& object, std::string_view key, std::int64_t otherwise) {
  const std::int64_t id = object.get<std::int64_t>(key, otherwise);
  if (id < std::min<std::int64_t>(otherwise, 0) || id > std::numeric_limits<std::int32_t>::max())
    object.fail_at(key, fmt::format("expected a token id of at least 0, got {}", id));
  return static_cast<std::int32_t>(id);
}

std::int64_t layer_count(const JsonObject& object, std::string_view key) {
  constexpr std::int64_t most = 1000;
  const std::int64_t n = object.size(key);
  if (n > most) object.fail_at(key, fmt::format("{} is above the supported maximum of {}", n, most));
  return n;
}

std::vector<UnknownKey> unknown_keys(const JsonObject& object, const std::vector<std::string>& known) {
  std::vector<UnknownKey> unknown;
  for (const std::string& key : object.keys())
    if (std::find(known.begin(), known.end(), key) == known.end()) unknown.push_back({key, nearest(key, known)});
  return unknown;
}

void check_keys(const JsonObject& object, const std::vector<std::string>& known) {
  constexpr std::size_t most_named = 10;
  const std::vector<UnknownKey> unknown = unknown_keys(object, known);
  if (unknown.empty()) return;
  std::string list;
  for (std::size_t i = 0; i < std::min(unknown.size(), most_named); ++i) {
    const auto& [key, meant] = unknown[i];
    list += fmt::format("{}{}{}", i ? ", " : "", printable(key),
                        meant.empty() ? "" : fmt::format(" (did you mean {}?)", meant));
  }
  if (unknown.size() > most_named) list += fmt::format(" and {} more", unknown.size() - most_named);
  fail_usage(object.where(), fmt::format("unknown {}: {}", unknown.size() == 1 ? "key" : "keys", list));
}

}  // namespace tril
