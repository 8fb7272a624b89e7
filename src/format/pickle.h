// Python's pickles, read as data: nothing in them is executed, and the only objects built are the values below.
//
// A pickle is a program for a small stack machine: opcodes push constants, join them to tuples, lists and dicts, and
// store values in a memo to push them again. A GLOBAL names a Python object, a REDUCE calls it. Here a global is a
// name, which the caller must allow, and a call is a value that holds the callee and the arguments. The supported
// opcodes are those that Python's pickler writes for protocols 2 to 5, without out-of-band buffers. Every value
// takes at least one byte of the pickle, so the pickle's size bounds the memory. Source: the comments of
// pickletools.py in Python's library.
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

/// The index of a value in a Pickle.
using PickleIndex = std::uint32_t;

struct PickleValue {
  enum Kind : std::uint8_t {
    none,
    boolean,
    integer,
    long_integer,  ///< more than 64 bits; text_bytes: little-endian, two's complement
    real,
    text,   ///< UTF-8 is not checked
    bytes,  ///< bytes, bytearray
    tuple,
    list,
    dict,        ///< items: key, value, key, value, ...
    global,      ///< text_bytes: "module.name"
    call,        ///< items: the callee, the tuple of arguments; then key, value, ... that were set in the result
    persistent,  ///< items: the id by which the file names an external object
  } kind = none;
  bool has_state = false;   ///< for calls: attributes were set in the result; they are not kept
  std::int64_t number = 0;  ///< of booleans and integers
  double real_number = 0;
  std::string_view text_bytes = {};  ///< points into the pickle
  std::vector<PickleIndex> items = {};
};

class Pickle {
 public:
  /// Reads the pickle at the beginning of `bytes`, which must outlive the result.
  /// @param allowed  returns true if a global may occur, given its name "module.name"
  /// @throws Error(failure) that names `where`, the byte and the unsupported global or opcode
  static Pickle read(std::span<const std::byte> bytes, const std::string& where,
                     const std::function<bool(std::string_view)>& allowed);

  PickleIndex root() const { return root_; }
  const PickleValue& at(PickleIndex i) const { return values_[i]; }
  /// The value if it has this kind; else null.
  const PickleValue* find(PickleIndex i, PickleValue::Kind kind) const {
    return values_[i].kind == kind ? &values_[i] : nullptr;
  }
  std::size_t size() const { return size_; }  ///< bytes of the pickle

 private:
  friend class PickleMachine;

  std::vector<PickleValue> values_;
  std::deque<std::string> names_;  // names of globals
  PickleIndex root_ = 0;
  std::size_t size_ = 0;
};

std::string_view name_of(PickleValue::Kind kind);  ///< "a list"

}  // namespace tril
