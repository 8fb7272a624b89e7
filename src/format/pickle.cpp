#include "format/pickle.h"

#include <array>
#include <bit>
#include <cstring>
#include <optional>
#include <unordered_map>

#include "base/error.h"
#include "base/printable.h"
#include "format/byte_cursor.h"

namespace tril {
namespace {

constexpr std::string_view part_of_pickle = "the pickle";
constexpr std::size_t most_values = 5'000'000;  // 400 MB of values; a tensor takes some 20 of them
constexpr int highest_protocol = 5;

// The opcodes by their byte values.
enum class Opcode : std::uint8_t {
  mark = '(',
  stop = '.',
  pop = '0',
  pop_mark = '1',
  duplicate = '2',
  binary_float = 'G',
  int32 = 'J',
  uint8 = 'K',
  uint16 = 'M',
  none = 'N',
  persistent_id = 'Q',
  reduce = 'R',
  short_string = 'U',
  string = 'T',
  unicode = 'X',
  append = 'a',
  build = 'b',
  global = 'c',
  appends = 'e',
  get = 'h',
  long_get = 'j',
  put = 'q',
  long_put = 'r',
  set_item = 's',
  tuple = 't',
  set_items = 'u',
  empty_dict = '}',
  empty_list = ']',
  empty_tuple = ')',
  bytes = 'B',
  short_bytes = 'C',
  protocol = 0x80,
  new_object = 0x81,
  tuple1 = 0x85,
  tuple2 = 0x86,
  tuple3 = 0x87,
  yes = 0x88,
  no = 0x89,
  long1 = 0x8a,
  long4 = 0x8b,
  short_unicode = 0x8c,
  unicode8 = 0x8d,
  bytes8 = 0x8e,
  stack_global = 0x93,
  memoize = 0x94,
  frame = 0x95,
  bytearray8 = 0x96,
};

}  // namespace

std::string_view name_of(PickleValue::Kind kind) {
  constexpr std::array<std::string_view, 13> names{
      "None",           "a bool", "an integer", "an integer of more than 64 bits",
      "a float",        "a str",  "bytes",      "a tuple",
      "a list",         "a dict", "a global",   "a call",
      "a persistent id"};
  return names[kind];
}

class PickleMachine {
 public:
  PickleMachine(std::span<const std::byte> bytes, const std::string& where,
                const std::function<bool(std::string_view)>& allowed)
      : bytes_(bytes, where), where_(where), allowed_(allowed) {}

  Pickle run() {
    for (;;) {
      opcode_at_ = bytes_.position();
      const auto opcode = static_cast<Opcode>(take<std::uint8_t>());
      if (opcode == Opcode::stop) break;
      step(opcode);
    }
    pickle_.root_ = pop();
    pickle_.size_ = bytes_.position();
    return std::move(pickle_);
  }

 private:
  using Kind = PickleValue::Kind;

  [[noreturn]] void refuse(const std::string& what, const std::string& hint = {}) const {
    fail(fmt::format("{}: byte {}", where_, opcode_at_), what, hint);
  }

  std::string_view take_bytes(std::uint64_t count) { return bytes_.characters(count, part_of_pickle); }

  template <class T>
  T take() {
    return bytes_.number<T>(part_of_pickle);
  }

  std::string_view take_line() {
    const std::string_view rest(reinterpret_cast<const char*>(bytes_.rest().data()), bytes_.left());
    const std::size_t length = rest.find('\n');
    if (length == std::string_view::npos) refuse("the name of a global has no end");
    return take_bytes(length + 1).substr(0, length);
  }

  // Little-endian two's complement.
  void push_long(std::uint64_t length) {
    const std::string_view digits = take_bytes(length);
    if (digits.size() > 8) return push_text(Kind::long_integer, digits);
    const bool negative = !digits.empty() && static_cast<std::int8_t>(digits.back()) < 0;
    std::int64_t value = negative ? -1 : 0;
    std::memcpy(&value, digits.data(), digits.size());
    push_integer(value);
  }

  PickleIndex add(PickleValue value) {
    if (pickle_.values_.size() >= most_values) refuse(fmt::format("the pickle has more than {} values", most_values));
    pickle_.values_.push_back(std::move(value));
    return static_cast<PickleIndex>(pickle_.values_.size() - 1);
  }
  void push(PickleValue value) { stack_.push_back(add(std::move(value))); }
  void push_kind(Kind kind) { stack_.push_back(add({.kind = kind})); }
  void push_text(Kind kind, std::string_view text) { push({.kind = kind, .text_bytes = text}); }
  void push_integer(std::int64_t number) { push({.kind = Kind::integer, .number = number}); }

  PickleIndex pop() {
    if (stack_.size() <= (marks_.empty() ? 0 : marks_.back()))
      refuse("an opcode needs a value, but the stack is empty");
    const PickleIndex top = stack_.back();
    stack_.pop_back();
    return top;
  }

  std::vector<PickleIndex> pop_many(std::size_t count) {
    if (stack_.size() - (marks_.empty() ? 0 : marks_.back()) < count)
      refuse("an opcode needs a value, but the stack is empty");
    std::vector<PickleIndex> values(stack_.end() - static_cast<std::ptrdiff_t>(count), stack_.end());
    stack_.resize(stack_.size() - count);
    return values;
  }

  std::vector<PickleIndex> pop_to_mark() {
    if (marks_.empty()) refuse("an opcode needs a mark, but there is none on the stack");
    std::vector<PickleIndex> values = pop_many(stack_.size() - marks_.back());
    marks_.pop_back();
    return values;
  }

  PickleValue& top() {
    if (stack_.size() <= (marks_.empty() ? 0 : marks_.back()))
      refuse("an opcode needs a value, but the stack is empty");
    return pickle_.values_[stack_.back()];
  }

  void push_global(std::string_view module, std::string_view name) {
    std::string full = std::string(module) + "." + std::string(name);
    if (!allowed_(full))
      refuse(fmt::format("refers to {} of Python, which is not supported: only tensors are read, and no code is run",
                         printable(full, 200)),
             "load the file with a program that you trust, and save the tensors as safetensors");
    push_text(Kind::global, pickle_.names_.emplace_back(std::move(full)));
  }

  void append_to(Kind kind, const std::vector<PickleIndex>& items) {
    PickleValue& container = top();
    const bool sets = kind == Kind::dict;
    if (container.kind != kind && !(sets && container.kind == Kind::call))
      refuse(fmt::format("items are added to {}", name_of(container.kind)));
    if (sets && items.size() % 2 != 0) refuse("a key has no value");
    container.items.insert(container.items.end(), items.begin(), items.end());
  }

  void remember(std::uint64_t key) {
    top();
    memo_[key] = stack_.back();
  }
  void recall(std::uint64_t key) {
    const auto found = memo_.find(key);
    if (found == memo_.end()) refuse(fmt::format("the memo has no value {}", key));
    stack_.push_back(found->second);
  }

  // Makes a value of the called global and its arguments.
  void call() {
    const std::vector<PickleIndex> pair = pop_many(2);
    if (!pickle_.find(pair[0], Kind::global)) refuse(fmt::format("calls {}", name_of(pickle_.at(pair[0]).kind)));
    if (!pickle_.find(pair[1], Kind::tuple)) refuse(fmt::format("calls with {}", name_of(pickle_.at(pair[1]).kind)));
    push({.kind = Kind::call, .items = pair});
  }

  double take_float() {  // big-endian
    auto bits = take<std::uint64_t>();
    bits = __builtin_bswap64(bits);
    return std::bit_cast<double>(bits);
  }

  void step(Opcode opcode) {
    if (!push_constant(opcode) && !change_stack(opcode)) make_of_values(opcode);
  }

  // Opcodes for the machine itself; returns false for others.
  bool change_stack(Opcode opcode) {
    switch (opcode) {
      case Opcode::protocol:
        if (const int protocol = take<std::uint8_t>(); protocol > highest_protocol)
          refuse(fmt::format("the pickle has protocol {}, expected at most {}", protocol, highest_protocol));
        return true;
      case Opcode::frame:
        take<std::uint64_t>();  // the size of a frame, which is not needed
        return true;
      case Opcode::mark:
        marks_.push_back(stack_.size());
        return true;
      case Opcode::pop:
        if (!marks_.empty() && marks_.back() == stack_.size())
          marks_.pop_back();
        else
          pop();
        return true;
      case Opcode::pop_mark:
        pop_to_mark();
        return true;
      case Opcode::duplicate:
        top();
        stack_.push_back(stack_.back());
        return true;
      case Opcode::put:
        remember(take<std::uint8_t>());
        return true;
      case Opcode::long_put:
        remember(take<std::uint32_t>());
        return true;
      case Opcode::memoize:
        remember(memo_.size());
        return true;
      case Opcode::get:
        recall(take<std::uint8_t>());
        return true;
      case Opcode::long_get:
        recall(take<std::uint32_t>());
        return true;
      default:
        return false;
    }
  }

  // Opcodes that push a constant; returns false for others.
  bool push_constant(Opcode opcode) {
    switch (opcode) {
      case Opcode::none:
        return push_kind(Kind::none), true;
      case Opcode::yes:
        return push({.kind = Kind::boolean, .number = 1}), true;
      case Opcode::no:
        return push({.kind = Kind::boolean, .number = 0}), true;
      case Opcode::int32:
        return push_integer(take<std::int32_t>()), true;
      case Opcode::uint8:
        return push_integer(take<std::uint8_t>()), true;
      case Opcode::uint16:
        return push_integer(take<std::uint16_t>()), true;
      case Opcode::long1:
        return push_long(take<std::uint8_t>()), true;
      case Opcode::long4:
        return push_long(take<std::uint32_t>()), true;
      case Opcode::binary_float:
        return push({.kind = Kind::real, .real_number = take_float()}), true;
      case Opcode::short_string:
        return push_text(Kind::text, take_bytes(take<std::uint8_t>())), true;
      case Opcode::string:
        return push_text(Kind::text, take_bytes(take<std::uint32_t>())), true;
      case Opcode::short_unicode:
        return push_text(Kind::text, take_bytes(take<std::uint8_t>())), true;
      case Opcode::unicode:
        return push_text(Kind::text, take_bytes(take<std::uint32_t>())), true;
      case Opcode::unicode8:
        return push_text(Kind::text, take_bytes(take<std::uint64_t>())), true;
      case Opcode::short_bytes:
        return push_text(Kind::bytes, take_bytes(take<std::uint8_t>())), true;
      case Opcode::bytes:
        return push_text(Kind::bytes, take_bytes(take<std::uint32_t>())), true;
      case Opcode::bytes8:
      case Opcode::bytearray8:
        return push_text(Kind::bytes, take_bytes(take<std::uint64_t>())), true;
      case Opcode::empty_dict:
        return push_kind(Kind::dict), true;
      case Opcode::empty_list:
        return push_kind(Kind::list), true;
      case Opcode::empty_tuple:
        return push_kind(Kind::tuple), true;
      default:
        return false;
    }
  }

  // Opcodes that make a value from other values.
  void make_of_values(Opcode opcode) {
    const auto push_tuple = [this](std::vector<PickleIndex> items) {
      push({.kind = Kind::tuple, .items = std::move(items)});
    };
    switch (opcode) {
      case Opcode::tuple:
        push_tuple(pop_to_mark());
        break;
      case Opcode::tuple1:
        push_tuple(pop_many(1));
        break;
      case Opcode::tuple2:
        push_tuple(pop_many(2));
        break;
      case Opcode::tuple3:
        push_tuple(pop_many(3));
        break;
      case Opcode::append:
        append_to(Kind::list, pop_many(1));
        break;
      case Opcode::appends:
        append_to(Kind::list, pop_to_mark());
        break;
      case Opcode::set_item:
        append_to(Kind::dict, pop_many(2));
        break;
      case Opcode::set_items:
        append_to(Kind::dict, pop_to_mark());
        break;
      case Opcode::persistent_id:
        push({.kind = Kind::persistent, .items = pop_many(1)});
        break;
      case Opcode::reduce:
      case Opcode::new_object:
        call();
        break;
      case Opcode::build:
        pop(), top().has_state = true;
        break;
      case Opcode::global: {
        const std::string_view module = take_line();
        push_global(module, take_line());
        break;
      }
      case Opcode::stack_global: {
        const std::vector<PickleIndex> names = pop_many(2);
        if (!pickle_.find(names[0], Kind::text) || !pickle_.find(names[1], Kind::text))
          refuse("a global's name is not text");
        push_global(pickle_.at(names[0]).text_bytes, pickle_.at(names[1]).text_bytes);
        break;
      }
      default:
        refuse(fmt::format("the opcode {:#04x} is not supported", static_cast<std::uint8_t>(opcode)),
               "the file is damaged, or not a pickle of protocol 2 to 5");
    }
  }

  ByteCursor bytes_;
  const std::string& where_;
  const std::function<bool(std::string_view)>& allowed_;
  std::size_t opcode_at_ = 0;
  Pickle pickle_;
  std::vector<PickleIndex> stack_;
  std::vector<std::size_t> marks_;  // stack sizes at the marks
  std::unordered_map<std::uint64_t, PickleIndex> memo_;
};

Pickle Pickle::read(std::span<const std::byte> bytes, const std::string& where,
                    const std::function<bool(std::string_view)>& allowed) {
  return PickleMachine(bytes, where, allowed).run();
}

}  // namespace tril
