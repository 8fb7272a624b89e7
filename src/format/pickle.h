// Python's pickles, read as data: nothing in them is run, and no object is built but the values below.
//
// A pickle is a program for a small stack machine: opcodes push constants, join them to tuples, lists and dicts, and keep values
// in a memo to push them again. A GLOBAL names something of Python, a REDUCE calls it. Here a global is a name, which the caller
// must allow, and a call is a value that holds what would be called and its arguments. Read are the opcodes that Python's pickler
// writes by protocols 2 to 5, for values without buffers out of band. Every value takes at least one byte of the pickle, so
// memory is bounded by its size. Source: the comments of pickletools.py in Python's library.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tril {

/// A value by its number in a Pickle.
using PickleIndex = std::uint32_t;

struct PickleValue {
  enum Kind : std::uint8_t {
    none,
    boolean,
    integer,
    long_integer,  ///< of more than 64 bits; text_bytes: little-endian, two's complement
    real,
    text,   ///< UTF-8 is not checked
    bytes,  ///< bytes, bytearray
    tuple,
    list,
    dict,    ///< items: key, value, key, value, ...
    global,  ///< text_bytes: "module.name"
    call,    ///< items: what is called, the tuple of its arguments; then key, value, ... that were set in its result
    persistent,  ///< items: the id by which the file names a value of its own
  } kind = none;
  bool has_state = false;   ///< of calls: attributes were set in the result, which are not kept
  std::int64_t number = 0;  ///< of booleans and integers
  double real_number = 0;
  std::string_view text_bytes = {};  ///< points into the pickle
  std::vector<PickleIndex> items = {};
};

class Pickle {
 public:
  /// Reads the pickle that `bytes`, which must outlive it, begins with.
  /// @param allowed  whether a global may occur, by its name "module.name"
  /// @throws Error(failure) that names `where`, the byte and the global or opcode that is not read
  static Pickle read(std::span<const std::byte> bytes, const std::string& where,
                     const std::function<bool(std::string_view)>& allowed);

  PickleIndex root() const { return root_; }
  const PickleValue& at(PickleIndex i) const { return values_[i]; }
  /// The value, whose kind must be this one; null otherwise.
  const PickleValue* find(PickleIndex i, PickleValue::Kind kind) const {
    return values_[i].kind == kind ? &values_[i] : nullptr;
  }
  std::size_t size() const { return size_; }  ///< bytes that it took

 private:
  friend class PickleMachine;

  std::vector<PickleValue> values_;
  std::deque<std::string> names_;  // of globals
  PickleIndex root_ = 0;
  std::size_t size_ = 0;
};

std::string_view name_of(PickleValue::Kind kind);  ///< "a list"

}  // namespace tril
