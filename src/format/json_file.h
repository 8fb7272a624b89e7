// JSON from outside: parsing within limits, errors with file, line and column; and typed access to objects, with
// errors that name the file, the key and the expected type.
//
// Strict JSON [RFC 8259]: no comments, no NaN, no duplicate keys in an object, valid UTF-8.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tril {

/// Limits of a JSON text: a larger one is refused before memory is spent on it.
struct JsonLimits {
  std::uint64_t bytes = std::uint64_t{16} << 20;
  int depth = 64;                    ///< arrays and objects inside each other
  std::uint64_t values = 1'000'000;  ///< numbers, texts, arrays, objects, ... together
};

/// @param where  names the text in errors: "models/de/config.json"
nlohmann::json parse_json(std::string_view text, const std::string& where, const JsonLimits& limits = {});
nlohmann::json read_json(const std::string& path, const JsonLimits& limits = {});
/// Likewise a file that Python has written: an Infinity among its values, which JSON does not have, becomes
/// {"__float__": "Infinity"}, the form of version 5 of `transformers`.
nlohmann::json read_python_json(const std::string& path, const JsonLimits& limits = {});
/// The same with each object's keys in the order of the text, if that order matters.
nlohmann::ordered_json parse_ordered_json(std::string_view text, const std::string& where,
                                          const JsonLimits& limits = {});

/// The names of keys in the source file if that is not JSON: "hidden_size" is "llama.embedding_length" in a GGUF
/// file. A key that is not listed has its own name.
using KeyNames = std::map<std::string, std::string, std::less<>>;

/// Typed access to one object. T is bool, std::int64_t, double, std::string, or std::vector of the last three. null
/// counts as absent, as in Hugging Face's configs. Holds references: the json and the names must outlive it.
class JsonObject {
 public:
  /// @param where  names the object in errors: "config.json", "config.json: rope_parameters"
  /// @param names  the names of keys in errors; null: the keys themselves
  JsonObject(const nlohmann::json& object, std::string where, const KeyNames* names = nullptr);

  bool has(std::string_view key) const;  ///< present and not null

  template <class T>
  std::optional<T> find(std::string_view key) const;  ///< nothing if absent; Error if of another type
  template <class T>
  T get(std::string_view key) const;  ///< Error with the nearest key if absent
  template <class T>
  T get(std::string_view key, T otherwise) const {
    const std::optional<T> found = find<T>(key);
    return found ? *found : otherwise;
  }

  /// A positive integer below 2^31: sizes, numbers of layers and heads.
  std::int64_t size(std::string_view key) const;
  std::int64_t size(std::string_view key, std::int64_t otherwise) const;
  std::optional<std::int64_t> find_size(std::string_view key) const;

  std::optional<JsonObject> find_object(std::string_view key) const;
  JsonObject object(std::string_view key) const;

  std::vector<std::string> keys() const;
  const nlohmann::json& json() const { return *object_; }
  const std::string& where() const { return where_; }
  std::string name_of(std::string_view key) const;   ///< "hidden_size", or the file's name for it
  std::string place_of(std::string_view key) const;  ///< "config.json: hidden_size"

  /// Throws Error(usage, where: key, text) for a value of the right type that is still wrong.
  [[noreturn]] void fail_at(std::string_view key, const std::string& text, const std::string& hint = {}) const;

 private:
  const nlohmann::json* value(std::string_view key) const;
  [[noreturn]] void fail_missing(std::string_view key) const;
  [[noreturn]] void fail_type(std::string_view key, const nlohmann::json& value, std::string_view expected) const;

  const nlohmann::json* object_;
  std::string where_;
  const KeyNames* names_;
};

/// A token id of at least 0; if `otherwise` is -1, the key may be absent or -1, which means none.
std::int32_t token_id_of(const JsonObject& object, std::string_view key, std::int64_t otherwise);
/// A number of layers, at most 1000: layers are created before the weights are checked, so a number in a small file
/// must not claim all memory.
std::int64_t layer_count(const JsonObject& object, std::string_view key);

struct UnknownKey {
  std::string key;
  std::string nearest;  ///< the known key that was probably meant, or ""
};

/// The keys of `object` that are not in `known`, in order.
std::vector<UnknownKey> unknown_keys(const JsonObject& object, const std::vector<std::string>& known);

/// Throws an Error that lists the unknown keys, each with the key that was probably meant.
void check_keys(const JsonObject& object, const std::vector<std::string>& known);

}  // namespace tril
