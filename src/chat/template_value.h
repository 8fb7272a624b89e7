// Runtime values of a chat template: Python's values as Jinja sees them, as far as templates need them.
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
/// In insertion order. Keys are values that == compares: no lists, no mappings.
using Dict = std::vector<std::pair<Value, Value>>;

/// Positional and named arguments.
struct Arguments {
  List positional;
  std::vector<std::pair<std::string, Value>> named;
};

/// A macro, a bound method, a global function; or an object with members of its own.
struct Callable {
  std::string name;
  std::function<Value(const Arguments&)> call;         ///< empty: not callable
  std::function<Value(std::string_view)> member = {};  ///< empty: no members
  std::function<std::string()> shown = {};             ///< what {{ it }} prints; empty: not printable
};

/// A name without a value: prints as nothing, is false, has no elements; any other use is an error.
struct Undefined {
  std::string name;
};
struct None {};
/// The mutable object that namespace() makes.
struct Namespace {
  Dict members;
};

/// An iterator that makes each value when it is asked for: Python's generators and iterators.
class Generator {
 public:
  using Next = std::function<std::optional<Value>()>;
  explicit Generator(Next next);
  std::optional<Value> next();

 private:
  Next next_;
};

/// The kinds of values that are stored as lists.
enum class Sequence : std::uint8_t {
  list,
  tuple,
  group,  ///< a tuple with two named members: grouper, list
  range,
  keys,  ///< the views keys(), values() and items() of a mapping: not indexable
  values,
  items,
};

class Value {
 public:
  Value() : data_(None{}) {}
  Value(Undefined v) : data_(std::move(v)) {}           // NOLINT: here and below, conversions are meant to be implicit
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

  static Value sequence(List v, Sequence kind);
  static Value tuple(List v) { return sequence(std::move(v), Sequence::tuple); }
  /// Text that is HTML: text that is added to it is escaped first.
  static Value markup(std::string v);
  /// A text of the same kind as `like`.
  static Value text_like(const Value& like, std::string v);
  static Value generator(Generator::Next next);
  /// This value, which also keeps `held` alive.
  /// @throws Error if `held` is nested too deep
  Value&& holding(const Value& held) &&;

  /// The value as this type; nullptr if it has another.
  template <class T>
  const T* get() const;

  bool is_undefined() const { return get<Undefined>() != nullptr; }
  bool is_none() const { return get<None>() != nullptr; }
  /// true and false count as 1 and 0; nothing if it is not a number.
  std::optional<double> number() const;
  std::optional<std::int64_t> integer() const;

  bool truth() const;
  std::string_view type_name() const;  ///< "a string", "a mapping", ... for messages
  /// Whether it contains a namespace or a function: no namespace may hold such a value, so that there are no reference
  /// cycles and nothing outlives what it refers to.
  bool is_bound() const { return bound_; }
  bool is_markup() const { return markup_; }
  Sequence sequence() const { return sequence_; }
  bool is_tuple() const { return sequence_ == Sequence::tuple || sequence_ == Sequence::group; }
  bool is_plain_list() const { return get<List>() && sequence_ <= Sequence::group; }  ///< or a tuple
  bool is_range() const { return sequence_ == Sequence::range; }
  bool is_view() const { return sequence_ >= Sequence::keys; }
  /// The work of writing or comparing the whole value: the number of its values, each as often as it occurs, and of
  /// every 16 bytes of text. A namespace within a list counts as one, since its members are not written.
  std::size_t weight() const;

 private:
  void take(const Value& member);
  void add_weight(std::uint32_t more);

  std::variant<Undefined, None, bool, std::int64_t, double, std::shared_ptr<const std::string>,
               std::shared_ptr<const List>, std::shared_ptr<const Dict>, std::shared_ptr<Namespace>,
               std::shared_ptr<const Callable>, std::shared_ptr<Generator>>
      data_;
  std::uint32_t weight_ = 1;  // at most largest_weight
  std::uint8_t depth_ = 0;    // nesting of lists and mappings
  bool bound_ = false, markup_ = false;
  Sequence sequence_ = Sequence::list;
};

/// Python's == : values of different kinds are unequal, but all numbers are one kind.
bool equal(const Value& a, const Value& b);
/// The most that equal() costs, in units of a Budget.
std::size_t cost_of_equal(const Value& a, const Value& b);
/// Python's < . @throws Error for values without an order
bool less(const Value& a, const Value& b);

/// The most that find() and put() cost, in units of a Budget.
std::size_t cost_of_find(const Dict& dict, const Value& key);
/// A member of a dict, or nullptr.
const Value* find(const Dict& dict, const Value& key);
const Value* find(const Dict& dict, std::string_view key);
/// Sets a member. @throws Error for an invalid key
void put(Dict& dict, const Value& key, Value value);
/// @throws Error if a value cannot be a mapping's key or a set's member
void check_key(const Value& value);

/// @throws Error for JSON that is nested too deep
Value from_json(const nlohmann::ordered_json& json);

}  // namespace tril::chat
