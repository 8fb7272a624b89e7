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
/// In the order in which its keys came. Keys are what can be told apart by ==: no lists, no mappings.
using Dict = std::vector<std::pair<Value, Value>>;

/// Positional arguments and those by name.
struct Arguments {
  List positional;
  std::vector<std::pair<std::string, Value>> named;
};

/// A macro, a method of a value, a function of the template's surroundings; or an object that has members of its own.
struct Callable {
  std::string name;
  std::function<Value(const Arguments&)> call;         ///< empty: it cannot be called
  std::function<Value(std::string_view)> member = {};  ///< empty: it has none
  std::function<std::string()> shown = {};             ///< what {{ it }} prints; empty: nothing that could be told
};

/// A name without a value: prints as nothing, is false, has no elements; whatever else is done to it is an error.
struct Undefined {
  std::string name;
};
struct None {};
/// A value that changes: what namespace() makes.
struct Namespace {
  Dict members;
};

/// What is gone over once, one value after the other, each made when it is asked for: Python's generators and iterators.
class Generator {
 public:
  using Next = std::function<std::optional<Value>()>;
  explicit Generator(Next next);
  std::optional<Value> next();

 private:
  Next next_;
};

/// Of values that are lists here.
enum class Sequence : std::uint8_t {
  list,
  tuple,
  group,  ///< a tuple whose two have names: grouper, list
  range,
  keys,  ///< what a mapping's keys(), values() and items() give: nothing in them has a place
  values,
  items,
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

  static Value sequence(List v, Sequence kind);
  static Value tuple(List v) { return sequence(std::move(v), Sequence::tuple); }
  /// Text that is HTML: what is added to it is escaped first.
  static Value markup(std::string v);
  /// A text of the kind that `like` is.
  static Value text_like(const Value& like, std::string v);
  static Value generator(Generator::Next next);
  /// It itself, which keeps `held` as long as it is there.
  /// @throws Error where that is nested too deep
  Value&& holding(const Value& held) &&;

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
  bool is_markup() const { return markup_; }
  Sequence sequence() const { return sequence_; }
  bool is_tuple() const { return sequence_ == Sequence::tuple || sequence_ == Sequence::group; }
  bool is_plain_list() const { return get<List>() && sequence_ <= Sequence::group; }  ///< or a tuple
  bool is_range() const { return sequence_ == Sequence::range; }
  bool is_view() const { return sequence_ >= Sequence::keys; }
  /// How much there is to go over where the whole of it is written or compared: its values, each as often as it is in it,
  /// and every 16 bytes of text. A namespace within a list is one: it is not written there.
  std::size_t weight() const;

 private:
  void take(const Value& member);
  void add_weight(std::uint32_t more);

  std::variant<Undefined, None, bool, std::int64_t, double, std::shared_ptr<const std::string>,
               std::shared_ptr<const List>, std::shared_ptr<const Dict>, std::shared_ptr<Namespace>,
               std::shared_ptr<const Callable>, std::shared_ptr<Generator>>
      data_;
  std::uint32_t weight_ = 1;  // at most largest_weight
  std::uint8_t depth_ = 0;    // of lists and mappings within each other
  bool bound_ = false, markup_ = false;
  Sequence sequence_ = Sequence::list;
};

/// Python's == : of different kinds nothing is equal, but numbers are numbers.
bool equal(const Value& a, const Value& b);
/// What equal() costs at most, in units of a Budget.
std::size_t cost_of_equal(const Value& a, const Value& b);
/// Python's < . @throws Error for values that have no order
bool less(const Value& a, const Value& b);

/// What find() and put() cost at most, in units of a Budget.
std::size_t cost_of_find(const Dict& dict, const Value& key);
/// A member of a dict, or nullptr.
const Value* find(const Dict& dict, const Value& key);
const Value* find(const Dict& dict, std::string_view key);
/// Sets a member. @throws Error for a key that is none
void put(Dict& dict, const Value& key, Value value);
/// @throws Error where a value cannot be a mapping's key, or one of a set
void check_key(const Value& value);

/// @throws Error for JSON that is nested too deep
Value from_json(const nlohmann::ordered_json& json);

}  // namespace tril::chat
