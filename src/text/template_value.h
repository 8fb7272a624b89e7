// Values of a chat template while it runs: those of Python as Jinja sees them, as far as templates need them.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace tril::chat {

class Value;

using List = std::vector<Value>;
/// In the order in which its keys came.
using Dict = std::vector<std::pair<std::string, Value>>;

/// Positional arguments and those by name.
struct Arguments {
  List positional;
  std::vector<std::pair<std::string, Value>> named;
};

/// A macro, a method of a value, or a function of the template's surroundings.
struct Callable {
  std::string name;
  std::function<Value(const Arguments&)> call;
};

/// A name without a value: prints as nothing, is false, has no elements; whatever else is done to it is an error.
struct Undefined {
  std::string name;
};
struct None {};
/// The one value that changes: what namespace() makes.
struct Namespace {
  Dict members;
};

class Value {
 public:
  Value() : data_(None{}) {}
  Value(Undefined v) : data_(std::move(v)) {}           // NOLINT: here and below, values are what they hold
  Value(None) : data_(None{}) {}                        // NOLINT
  Value(bool v) : data_(v) {}                           // NOLINT
  Value(std::int64_t v) : data_(v) {}                   // NOLINT
  Value(double v) : data_(v) {}                         // NOLINT
  Value(std::string v);                                 // NOLINT
  Value(std::string_view v) : Value(std::string(v)) {}  // NOLINT
  Value(const char* v) : Value(std::string(v)) {}       // NOLINT
  Value(List v);                                        // NOLINT
  Value(Dict v);                                        // NOLINT
  Value(std::shared_ptr<Namespace> v);                  // NOLINT
  Value(Callable v);                                    // NOLINT

  /// A list that prints with round brackets, as Python's tuples do.
  static Value tuple(List v);
  /// What range() and a mapping's keys(), values() and items() give: goes as a list where it is gone over.
  static Value view(List v);

  /// What it holds, of this kind; nullptr where it is of another.
  template <class T>
  const T* get() const;

  bool is_undefined() const { return get<Undefined>() != nullptr; }
  bool is_none() const { return get<None>() != nullptr; }
  /// true and false count as 1 and 0; nothing for what is no number.
  std::optional<double> number() const;
  std::optional<std::int64_t> integer() const;

  bool truth() const;
  std::string_view type_name() const;  ///< "a string", "a mapping", ... for messages
  /// Whether a namespace or a function is in it: such are kept in no namespace, so that nothing holds itself and nothing
  /// outlives what it refers to.
  bool is_bound() const { return bound_; }
  bool is_tuple() const { return tuple_; }
  bool is_view() const { return view_; }
  /// How much there is to go over where the whole of it is written or compared: its values, each as often as it is in it,
  /// and every 16 bytes of text. A namespace within a list is one: it is not written there.
  std::size_t weight() const;

 private:
  void take(const Value& member);
  void add_weight(std::uint32_t more);

  std::variant<Undefined, None, bool, std::int64_t, double, std::shared_ptr<const std::string>,
               std::shared_ptr<const List>, std::shared_ptr<const Dict>, std::shared_ptr<Namespace>,
               std::shared_ptr<const Callable>>
      data_;
  std::uint32_t weight_ = 1;  // at most largest_weight
  std::uint8_t depth_ = 0;    // of lists and mappings within each other
  bool bound_ = false, tuple_ = false, view_ = false;
};

/// Python's == : of different kinds nothing is equal, but numbers are numbers.
bool equal(const Value& a, const Value& b);
/// Python's < . @throws Error for values that have no order
bool less(const Value& a, const Value& b);
/// A member of a dict, or nullptr.
const Value* find(const Dict& dict, std::string_view key);

/// What {{ value }} prints: Python's str().
std::string to_text(const Value& value);
/// Python's repr().
std::string to_repr(const Value& value);

struct JsonStyle {
  int indent = -1;             ///< -1: all in one line
  std::string item_separator;  ///< empty: ", ", or "," where each item has a line of its own
  std::string key_separator = ": ";
  bool sort_keys = false, ascii = false;
};
/// json.dumps. @throws Error for what JSON cannot say
std::string to_json(const Value& value, const JsonStyle& style);

/// @throws Error for JSON that is nested too deep
Value from_json(const nlohmann::ordered_json& json);

}  // namespace tril::chat
