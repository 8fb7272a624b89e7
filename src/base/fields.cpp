#include "base/fields.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>

#include "base/as_utf8.h"
#include "base/printable.h"
#include "base/utf8.h"

namespace tril {
namespace {

// The element type behind a slot: T of T*, of std::optional<T>* and of std::vector<T>*.
template <class T>
struct Element {
  using type = T;
};
template <class T>
struct Element<std::optional<T>> {
  using type = T;
};
template <class T>
struct Element<std::vector<T>> {
  using type = T;
};
template <class T>
inline constexpr bool is_optional_v = false;
template <class T>
inline constexpr bool is_optional_v<std::optional<T>> = true;
template <class T>
inline constexpr bool is_list_v = false;
template <class T>
inline constexpr bool is_list_v<std::vector<T>> = true;

template <class T>
std::string text_of(const T& value) {
  if constexpr (std::is_same_v<T, std::string>)
    return value;
  else
    return fmt::format("{}", value);  // the shortest text that reads back as the same number
}

// Parses all of `text` as a T; returns nothing if that fails.
template <class T>
std::optional<T> parse(std::string_view text) {
  if constexpr (std::is_same_v<T, bool>) {
    if (text == "true" || text == "yes" || text == "on") return true;
    if (text == "false" || text == "no" || text == "off") return false;
    return std::nullopt;
  } else if constexpr (std::is_same_v<T, std::string>) {
    return std::string(text);
  } else {
    if (text.starts_with('+')) text.remove_prefix(1);
    T value{};
    const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (problem != std::errc{} || end != text.data() + text.size()) return std::nullopt;
    if constexpr (std::is_floating_point_v<T>)
      if (!std::isfinite(value)) return std::nullopt;
    return value;
  }
}

template <class T>
std::string type_text() {
  if constexpr (std::is_same_v<T, bool>)
    return "true or false";
  else if constexpr (std::is_unsigned_v<T>)
    return "a non-negative integer";
  else if constexpr (std::is_integral_v<T>)
    return "an integer";
  else if constexpr (std::is_floating_point_v<T>)
    return "a number";
  else
    return "text";
}

std::string joined(const std::vector<std::string>& words, std::string_view by) {
  std::string all;
  for (const std::string& word : words) all.append(all.empty() ? "" : by).append(word);
  return all;
}

std::vector<std::string> names_of(const std::vector<std::pair<std::string, std::int64_t>>& choices) {
  std::vector<std::string> names;
  for (const auto& [name, value] : choices) names.push_back(name);
  return names;
}

std::int64_t read_choice(const std::string& text, const std::vector<std::pair<std::string, std::int64_t>>& choices,
                         const std::string& where) {
  for (const auto& [name, value] : choices)
    if (name == text) return value;
  const std::vector<std::string> names = names_of(choices);
  fail_usage(where, fmt::format("expected one of {}, got \"{}\"", joined(names, ", "), printable(text)),
             did_you_mean(text, names));
}

}  // namespace

std::vector<std::int64_t> read_choices(const std::vector<std::string>& texts,
                                       const std::vector<std::pair<std::string, std::int64_t>>& names,
                                       const std::string& where) {
  std::vector<std::int64_t> values;
  for (const std::string& text : texts)
    for (std::size_t begin = 0; begin <= text.size();) {
      const std::size_t end = std::min(text.find(',', begin), text.size());
      values.push_back(read_choice(text.substr(begin, end - begin), names, where));
      begin = end + 1;
    }
  return values;
}

std::string Range::text() const {
  const bool bounded_below = std::isfinite(least), bounded_above = std::isfinite(most);
  if (bounded_below && bounded_above && end == Least::included)
    return fmt::format("from {:.15g} to {:.15g}", least, most);
  std::string limits;
  if (bounded_below) limits = fmt::format("{} {:.15g}", end == Least::excluded ? "above" : "at least", least);
  if (bounded_above) limits += fmt::format("{}at most {:.15g}", limits.empty() ? "" : ", ", most);
  return limits;
}

void check_range(double value, const Range& range, std::string_view where) {
  check(range.has(value), where, "expected a number {}, got {}", range.text(), value);
}

Field::Field(std::string name, FieldSlot slot, std::string help, std::string group)
    : name_(std::move(name)), help_(std::move(help)), group_(std::move(group)), slot_(std::move(slot)) {
  value_name_ = holds_numbers() ? "N" : "TEXT";
  default_text_ = text();
}

Field& Field::at_least(double least) {
  range_.least = least;
  return *this;
}

Field& Field::at_most(double most) {
  range_.most = most;
  return *this;
}

Field& Field::above(double bound) {
  range_.least = bound;
  range_.end = Range::Least::excluded;
  return *this;
}

Field& Field::within(const Range& range) {
  range_ = range;
  return *this;
}

Field& Field::choices(std::vector<std::string> allowed) {
  choices_ = std::move(allowed);
  return *this;
}

Field& Field::exactly(std::size_t values) {
  exactly_ = values;
  return *this;
}

Field& Field::letter(char short_name) {
  letter_ = short_name;
  return *this;
}

Field& Field::value_name(std::string shown) {
  value_name_ = std::move(shown);
  return *this;
}

Field& Field::required() {
  required_ = true;
  return *this;
}

Field& Field::positional() {
  positional_ = true;
  return *this;
}

Field& Field::free_to_change() {
  free_to_change_ = true;
  return *this;
}

bool Field::names_files() const {
  constexpr std::array<std::string_view, 3> words{"FILE", "DIR", "PATH"};
  return std::any_of(words.begin(), words.end(),
                     [&](std::string_view word) { return value_name_.find(word) != std::string::npos; });
}

FieldKind Field::kind() const {
  return std::visit(
      [](const auto& slot) {
        using Slot = std::decay_t<decltype(slot)>;
        if constexpr (std::is_same_v<Slot, ChoiceSlot>) {
          return FieldKind::text;
        } else if constexpr (std::is_same_v<Slot, FormSlot>) {
          return slot.kind;
        } else {
          using Held = std::remove_pointer_t<Slot>;
          using T = typename Element<Held>::type;
          if constexpr (is_list_v<Held>)
            return FieldKind::list;
          else if constexpr (std::is_same_v<T, bool>)
            return FieldKind::boolean;
          else if constexpr (std::is_arithmetic_v<T>)
            return FieldKind::number;
          else
            return FieldKind::text;
        }
      },
      slot_);
}

bool Field::holds_numbers() const {
  return kind() == FieldKind::number || std::holds_alternative<std::vector<double>*>(slot_);
}

std::vector<std::string> Field::allowed() const {
  const auto* choice = std::get_if<ChoiceSlot>(&slot_);
  return choice ? names_of(choice->names) : choices_;
}

std::string Field::expected() const {
  if (const auto names = allowed(); !names.empty()) return "one of " + joined(names, ", ");
  std::string type = std::visit(
      [](const auto& slot) -> std::string {
        using Slot = std::decay_t<decltype(slot)>;
        if constexpr (std::is_pointer_v<Slot>)
          return type_text<typename Element<std::remove_pointer_t<Slot>>::type>();
        else
          return "text";
      },
      slot_);
  if (const std::string limits = range(); !limits.empty()) type += ", " + limits;
  return type;
}

std::vector<std::string> Field::texts() const {
  return std::visit(
      [](const auto& slot) -> std::vector<std::string> {
        using Slot = std::decay_t<decltype(slot)>;
        if constexpr (std::is_same_v<Slot, ChoiceSlot>) {
          const std::int64_t now = slot.get();
          for (const auto& [text, value] : slot.names)
            if (value == now) return {text};
          return {fmt::format("{}", now)};
        } else if constexpr (std::is_same_v<Slot, FormSlot>) {
          return slot.get();
        } else {
          using Held = std::remove_pointer_t<Slot>;
          if constexpr (is_list_v<Held>) {
            std::vector<std::string> texts;
            for (const auto& value : *slot) texts.push_back(text_of(value));
            return texts;
          } else if constexpr (is_optional_v<Held>) {
            return *slot ? std::vector{text_of(**slot)} : std::vector<std::string>{};
          } else {
            return {text_of(*slot)};
          }
        }
      },
      slot_);
}

std::string Field::text() const {
  return joined(texts(), " ");
}

void Field::check_text(const std::string& text, const std::string& where) const {
  const bool is_text = kind() == FieldKind::text || kind() == FieldKind::list;
  if (is_text && allowed().empty() && !names_files())
    check(is_utf8(text), where, "expected UTF-8, got \"{}\"", printable(text));
  if (!choices_.empty() && std::find(choices_.begin(), choices_.end(), text) == choices_.end())
    fail_usage(where, fmt::format("expected {}, got \"{}\"", expected(), printable(text)),
               did_you_mean(text, choices_));
}

void Field::set(const std::vector<std::string>& texts, const std::string& where) {
  for (const std::string& text : texts) check_text(text, where);

  check(is_list() || texts.size() <= 1, where, "expected one value, got {} ({})", texts.size(),
        printable(joined(texts, ", ")));
  check(exactly_ == 0 || texts.size() == exactly_, where, "expected {} values, got {}", exactly_, texts.size());
  std::visit(
      [&](auto& slot) {
        using Slot = std::decay_t<decltype(slot)>;
        if constexpr (std::is_pointer_v<Slot>) {
          using Held = std::remove_pointer_t<Slot>;
          using T = typename Element<Held>::type;
          const auto read = [&](const std::string& text) {
            const std::optional<T> value = parse<T>(text);
            check(value.has_value(), where, "expected {}, got \"{}\"", expected(), printable(text));
            if constexpr (std::is_arithmetic_v<T> && !std::is_same_v<T, bool>)
              check(range_.has(static_cast<long double>(*value)), where, "expected {}, got {}", expected(), text);
            return *value;
          };
          if constexpr (is_list_v<Held>) {
            Held values;
            for (const std::string& text : texts) values.push_back(read(text));
            *slot = std::move(values);
            return;
          } else {
            if constexpr (is_optional_v<Held>) {
              if (texts.empty()) {
                slot->reset();
                return;
              }
            }
            check(!texts.empty(), where, "expected {}, got nothing", expected());
            *slot = read(texts[0]);
          }
        } else {
          check(is_list() || !texts.empty(), where, "expected {}, got nothing", expected());
          if constexpr (std::is_same_v<Slot, ChoiceSlot>)
            slot.set(read_choice(texts[0], slot.names, where));
          else
            slot.set(texts, where);
        }
      },
      slot_);
  given_at_ = where.empty() ? name_ : where;
}

Field& Fields::append(Field field) {
  if (find(field.name())) fail(field.name(), "this option is declared twice");
  return fields_.emplace_back(std::move(field));
}

void Fields::include(const Fields& other) {
  for (const Field& field : other) append(field);
  relations_.insert(relations_.end(), other.relations_.begin(), other.relations_.end());
}

void Fields::include(const Fields& other, const std::vector<std::string>& names) {
  const auto chosen = [&](const std::string& name) {
    return std::find(names.begin(), names.end(), name) != names.end();
  };
  for (const std::string& name : names) other.at(name);  // throws if there is no such field
  for (const Field& field : other)
    if (chosen(field.name())) append(field);
  for (const Relation& r : other.relations_)
    if (chosen(r.a) && chosen(r.b)) relations_.push_back(r);
}

void Fields::excludes(std::string a, std::string b, std::string why) {
  at(a), at(b);
  relations_.push_back({std::move(a), std::move(b), std::move(why), true});
}

void Fields::needs(std::string a, std::string b, std::string why) {
  at(a), at(b);
  relations_.push_back({std::move(a), std::move(b), std::move(why), false});
}

const Field* Fields::find(std::string_view name) const {
  const auto at = std::find_if(fields_.begin(), fields_.end(), [&](const Field& f) { return f.name() == name; });
  return at == fields_.end() ? nullptr : &*at;
}

Field& Fields::at(std::string_view name, const std::string& where) {
  for (Field& field : fields_)
    if (field.name() == name) return field;
  fail_usage(where, fmt::format("{} is not an option", name), did_you_mean(name, names()));
}

const Field& Fields::at(std::string_view name) const {
  const Field* field = find(name);
  check(field != nullptr, name, "no option has this name");
  return *field;
}

void Fields::set_from_texts(std::string_view name, const std::vector<std::string>& texts, const std::string& where) {
  Field& field = at(name, where);
  field.set(texts, where.empty() ? field.name() : fmt::format("{}: {}", where, name));
}

void Fields::check_complete() const {
  for (const Field& field : fields_)
    check(!field.is_required() || field.given(), field.is_positional() ? field.shown_value() : field.name(),
          "this is required: {}", field.help());
  for (const Relation& r : relations_) {
    const Field &a = at(r.a), &b = at(r.b);
    if (r.excludes)
      check(!(a.given() && b.given()), a.given_at(), "cannot be combined with {}: {}", b.given_at(), r.why);
    else
      check(!a.given() || b.given(), a.given_at(), "needs `{}`: {}", r.b, r.why);
  }
}

std::vector<std::string> Fields::names() const {
  std::vector<std::string> all;
  for (const Field& field : fields_) all.push_back(field.name());
  return all;
}

std::string json_quoted(std::string_view text) {
  std::string out = "\"";
  for (const char c : as_utf8(text)) {
    if (c == '"' || c == '\\')
      (out += '\\') += c;
    else if (c == '\n')
      out += "\\n";
    else if (static_cast<unsigned char>(c) < 0x20)
      out += fmt::format("\\u{:04x}", static_cast<unsigned>(c));
    else
      out += c;
  }
  return out += '"';
}

std::string to_json(const Fields& fields) {
  std::string out = "{";
  for (const Field& field : fields) {
    out += fmt::format("{}\n  {}: ", out.size() > 1 ? "," : "", json_quoted(field.name()));
    const std::vector<std::string> texts = field.texts();
    if (field.is_list()) {
      std::vector<std::string> values = texts;
      if (!field.holds_numbers()) std::transform(texts.begin(), texts.end(), values.begin(), json_quoted);
      out += "[" + joined(values, ", ") + "]";
    } else if (texts.empty()) {
      out += "null";
    } else {
      out += field.kind() == FieldKind::text ? json_quoted(texts[0]) : texts[0];
    }
  }
  return out += "\n}\n";
}

namespace {

// A value as it is after a round trip through JSON, which replaces bytes that are not UTF-8.
std::vector<std::string> written(const Field& field) {
  std::vector<std::string> texts = field.texts();
  std::transform(texts.begin(), texts.end(), texts.begin(), [](const std::string& text) { return as_utf8(text); });
  return texts;
}

}  // namespace

std::vector<FieldDifference> differences(const Fields& was, const Fields& now) {
  std::vector<FieldDifference> list;
  for (const Field& field : now) {
    const Field* old = was.find(field.name());
    if (old && written(*old) != written(field))
      list.push_back({field.name(), old->text(), field.text(), field.is_free_to_change()});
  }
  return list;
}

std::string describe(const std::vector<FieldDifference>& list) {
  const auto shown = [](const std::string& text) { return text.empty() ? std::string("unset") : text; };
  std::vector<std::string> parts;
  for (const FieldDifference& d : list)
    parts.push_back(fmt::format("{} was {}, now {}", d.name, shown(d.was), shown(d.now)));
  return joined(parts, "; ");
}

}  // namespace tril
