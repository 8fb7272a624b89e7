// The options of a command, declared once: from one list of fields come its flags, its YAML keys, its help, its dump,
// the form in which a model directory keeps them, and the report of what changed since.
//
//   struct VocabOptions { std::int64_t size = 8000; std::vector<std::string> train_sets; };
//   Fields fields_of(VocabOptions& o) {
//     Fields f;
//     f.group("Data");
//     f.add("train-sets", &o.train_sets, "text to learn from").value_name("FILE").required();
//     f.add("size", &o.size, "number of pieces").at_least(10).at_most(1'000'000);
//     return f;
//   }
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "base/error.h"

namespace tril {

/// Limits of a number; infinite if there is none.
struct Range {
  enum class Least : std::uint8_t { included, excluded };
  double least = -std::numeric_limits<double>::infinity(), most = std::numeric_limits<double>::infinity();
  Least end = Least::included;

  bool has(long double x) const { return (end == Least::included ? x >= least : x > least) && x <= most; }
  /// "from 0 to 1", "above 0, at most 1", "at least 1", or "".
  std::string text() const;
};

/// Throws Error(usage) if the value is outside. @param where  the name of the field
void check_range(double value, const Range& range, std::string_view where);

/// An enum with its table of names, with its type erased.
struct ChoiceSlot {
  std::function<std::int64_t()> get;
  std::function<void(std::int64_t)> set;
  std::vector<std::pair<std::string, std::int64_t>> names;
};

/// How a value of a type unknown to Fields is read from text and written as text (an amount: "30e").
template <class T>
struct TextForm {
  /// @throws Error(usage) that begins with `where` and says what was expected
  std::function<T(const std::string& text, const std::string& where)> read;
  std::function<std::string(const T&)> write;  ///< what `read` reads back as the same value
};

/// Likewise for a type whose values are lists of texts.
template <class T>
struct ListForm {
  std::function<T(const std::vector<std::string>& texts, const std::string& where)> read;
  std::function<std::vector<std::string>(const T&)> write;
};

/// The type of a value in JSON and YAML.
enum class FieldKind { boolean, number, text, list };

/// A value with its TextForm or ListForm, its type erased.
struct FormSlot {
  FieldKind kind;
  std::function<std::vector<std::string>()> get;
  std::function<void(const std::vector<std::string>& texts, const std::string& where)> set;
};

/// Where a value lives. A std::optional that holds nothing is "unset": it prints as nothing and dumps as null.
using FieldSlot = std::variant<bool*, std::int32_t*, std::int64_t*, std::uint64_t*, float*, double*, std::string*,
                               std::vector<std::string>*, std::vector<double>*, std::optional<bool>*,
                               std::optional<std::int64_t>*, std::optional<std::uint64_t>*, std::optional<float>*,
                               std::optional<double>*, std::optional<std::string>*, ChoiceSlot, FormSlot>;

/// The numbers of an enum's names in a list of texts, each of which may be several names with commas between them.
/// @throws Error(usage) that names `where`, the unknown name and the nearest known one
std::vector<std::int64_t> read_choices(const std::vector<std::string>& texts,
                                       const std::vector<std::pair<std::string, std::int64_t>>& names,
                                       const std::string& where);

/// One option: its name, the variable with its value, the allowed values, and its help.
class Field {
 public:
  Field(std::string name, FieldSlot slot, std::string help, std::string group);

  /// Limits of a number, both inclusive; `above` excludes the limit.
  Field& at_least(double least);
  Field& at_most(double most);
  Field& above(double bound);
  Field& within(const Range& range);
  /// The only texts allowed (for an enum, pass its table of names to Fields::add instead).
  Field& choices(std::vector<std::string> allowed);
  /// How many values a list takes (2 for a source and a target).
  Field& exactly(std::size_t values);
  /// A short form: `-i` for `--input`.
  Field& letter(char short_name);
  /// What help shows for the value: FILE, DIR, N. A name with FILE, DIR or PATH in it means file names, which may
  /// be any bytes; all other texts are UTF-8.
  Field& value_name(std::string shown);
  /// Must be given, on the command line or in the YAML file.
  Field& required();
  /// May be given without its name: `tril inspect DIR`.
  Field& positional();
  /// May change when a run is resumed: number of threads, length of training, frequency of reports.
  Field& free_to_change();

  const std::string& name() const { return name_; }
  const std::string& help() const { return help_; }
  const std::string& group() const { return group_; }
  const std::string& shown_value() const { return value_name_; }
  const std::string& default_text() const { return default_text_; }
  char short_name() const { return letter_; }
  std::size_t exact_values() const { return exactly_; }  ///< 0: any number
  bool is_required() const { return required_; }
  bool is_positional() const { return positional_; }
  bool is_free_to_change() const { return free_to_change_; }
  FieldKind kind() const;
  bool is_flag() const { return kind() == FieldKind::boolean; }
  bool is_list() const { return kind() == FieldKind::list; }
  /// Whether its text, or each of its texts, is a number.
  bool holds_numbers() const;
  /// Whether values are names of files, which may be any bytes and are not empty: help calls them FILE, [NAME=]DIR or
  /// PATH.
  bool names_files() const;
  /// The allowed texts if they are few and known; else empty.
  std::vector<std::string> allowed() const;
  /// "at least 1", "from 0 to 1", or "": the limits of a number.
  std::string range() const { return range_.text(); }
  /// "a whole number, at least 1", "one of fp32, bf16": what an error says was expected.
  std::string expected() const;

  /// The value as text: one entry, or one for each element of a list, or none if unset.
  std::vector<std::string> texts() const;
  /// The same on one line.
  std::string text() const;
  /// Reads the value from text. @param where  named in an error: "--size", "run.yml: line 3: size".
  void set(const std::vector<std::string>& texts, const std::string& where);

  /// Whether the user gave this value, and where ("--size", "run.yml: line 3: size"); false for a default.
  bool given() const { return !given_at_.empty(); }
  const std::string& given_at() const { return given_at_; }
  void forget_given() { given_at_.clear(); }

 private:
  void check_text(const std::string& text, const std::string& where) const;

  std::string name_, help_, group_, value_name_, default_text_, given_at_;
  FieldSlot slot_;
  Range range_;
  bool required_ = false, positional_ = false, free_to_change_ = false;
  std::size_t exactly_ = 0;
  char letter_ = 0;
  std::vector<std::string> choices_;
};

/// The fields of one struct. They point into the struct, which must outlive them and not move.
class Fields {
 public:
  /// Fields added from here on appear under this heading in help and dumps.
  void group(std::string heading) { heading_ = std::move(heading); }

  /// @param name  kebab-case, as on the command line without its dashes
  /// @param help  one line, with the unit; no full stop
  template <class T>
  Field& add(std::string name, T* value, std::string help) {
    return append(Field(std::move(name), FieldSlot(value), std::move(help), heading_));
  }
  /// An enum, by its table of names.
  template <class E>
  requires std::is_enum_v<E> Field& add(std::string name, E* value, std::string help,
                                        const std::vector<std::pair<std::string, E>>& names) {
    ChoiceSlot slot{[value] { return static_cast<std::int64_t>(*value); },
                    [value](std::int64_t v) { *value = static_cast<E>(v); },
                    {}};
    for (const auto& [text, v] : names) slot.names.emplace_back(text, static_cast<std::int64_t>(v));
    return append(Field(std::move(name), FieldSlot(std::move(slot)), std::move(help), heading_));
  }
  /// A list of an enum's values: separate texts, or one with commas between the names.
  template <class E>
  requires std::is_enum_v<E> Field& add(std::string name, std::vector<E>* values, std::string help,
                                        const std::vector<std::pair<std::string, E>>& names) {
    std::vector<std::pair<std::string, std::int64_t>> numbers;
    for (const auto& [text, v] : names) numbers.emplace_back(text, static_cast<std::int64_t>(v));
    return add(std::move(name), values, std::move(help),
               ListForm<std::vector<E>>{[numbers](const std::vector<std::string>& texts, const std::string& where) {
                                          std::vector<E> read;
                                          for (const std::int64_t v : read_choices(texts, numbers, where))
                                            read.push_back(static_cast<E>(v));
                                          return read;
                                        },
                                        [names](const std::vector<E>& written) {
                                          std::vector<std::string> texts;
                                          for (const E value : written)
                                            for (const auto& [text, v] : names)
                                              if (v == value) texts.push_back(text);
                                          return texts;
                                        }});
  }
  /// A value of another type, by the form of its text.
  template <class T>
  Field& add(std::string name, T* value, std::string help, TextForm<T> form) {
    FormSlot slot{
        FieldKind::text, [value, write = std::move(form.write)] { return std::vector{write(*value)}; },
        [value, read = std::move(form.read)](const std::vector<std::string>& texts, const std::string& where) {
          check(texts.size() == 1, where, "expected one value, got {}", texts.size());
          *value = read(texts[0], where);
        }};
    return append(Field(std::move(name), FieldSlot(std::move(slot)), std::move(help), heading_));
  }
  template <class T>
  Field& add(std::string name, T* value, std::string help, ListForm<T> form) {
    FormSlot slot{FieldKind::list, [value, write = std::move(form.write)] { return write(*value); },
                  [value, read = std::move(form.read)](const std::vector<std::string>& texts,
                                                       const std::string& where) { *value = read(texts, where); }};
    return append(Field(std::move(name), FieldSlot(std::move(slot)), std::move(help), heading_));
  }
  /// All of another struct's fields (the model's within the trainer's).
  void include(const Fields& other);
  /// Adds only the fields of these names, in their order, with the rules between them.
  void include(const Fields& other, const std::vector<std::string>& names);

  /// The two options exclude each other, for the reason given: excludes("vocab", "vocab-size", "a vocabulary is
  /// either read or trained").
  void excludes(std::string a, std::string b, std::string why);
  /// The first option needs the second.
  void needs(std::string a, std::string b, std::string why);

  const Field* find(std::string_view name) const;
  /// The field of that name. @throws Error(usage) that names the nearest one
  Field& at(std::string_view name, const std::string& where);
  const Field& at(std::string_view name) const;
  bool given(std::string_view name) const { return at(name).given(); }

  /// Sets one value from one text, or a list from several. @param where  the place, "run.yml: line 3"; the key is
  /// added
  void set_from_texts(std::string_view name, const std::vector<std::string>& texts, const std::string& where);
  void set_from_text(std::string_view name, const std::string& text, const std::string& where) {
    set_from_texts(name, {text}, where);
  }

  /// Marks all fields as not given; values stay as they are.
  void forget_given() {
    for (Field& field : fields_) field.forget_given();
  }
  /// Checks required fields, exclusions and needs. @throws Error(usage)
  void check_complete() const;

  std::vector<std::string> names() const;
  auto begin() const { return fields_.begin(); }
  auto end() const { return fields_.end(); }
  std::size_t size() const { return fields_.size(); }

 private:
  struct Relation {
    std::string a, b, why;
    bool excludes;
  };
  Field& append(Field field);

  std::vector<Field> fields_;
  std::vector<Relation> relations_;
  std::string heading_ = "Options";
};

/// The values as a JSON object with one key per field, in order. Numbers and booleans are bare, lists are arrays,
/// unset is null.
std::string to_json(const Fields& fields);

struct FieldDifference {
  std::string name, was, now;  ///< values as one line of text
  bool free_to_change;
};

/// The differences between two sets of values of the same fields.
std::vector<FieldDifference> differences(const Fields& was, const Fields& now);

/// "max-tokens was 4096, now 8192; seed was 1, now 2".
std::string describe(const std::vector<FieldDifference>& list);

/// Text in double quotes with JSON's escapes; bytes that are not UTF-8 become U+FFFD.
std::string json_quoted(std::string_view text);

}  // namespace tril
