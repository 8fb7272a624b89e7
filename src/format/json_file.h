// JSON that came from outside: parsed within limits, errors with file, line and column; and typed reading of its
// objects, where an error says which key of which file is what and should be what.
//
// Strict JSON [RFC 8259]: no comments, no NaN, no key twice in an object, valid UTF-8.
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

/// What a JSON text may ask of us: beyond any of these it is refused before memory is spent on it.
struct JsonLimits {
  std::uint64_t bytes = std::uint64_t{16} << 20;
  int depth = 64;                    ///< arrays and objects inside each other
  std::uint64_t values = 1'000'000;  ///< numbers, texts, arrays, objects, ... together
};

/// @param where  names the text in errors: "models/de/config.json"
nlohmann::json parse_json(std::string_view text, const std::string& where, const JsonLimits& limits = {});
nlohmann::json read_json(const std::string& path, const JsonLimits& limits = {});
/// The same with the keys of each object in the text's order, where that order says something.
nlohmann::ordered_json parse_ordered_json(std::string_view text, const std::string& where,
                                          const JsonLimits& limits = {});

/// What the file that an object was made from calls its keys, where that is not JSON: "hidden_size" is
/// "llama.embedding_length" in a GGUF file. A key that is not here is called what it is.
using KeyNames = std::map<std::string, std::string, std::less<>>;

/// Typed reading of one object. T is one of: bool, std::int64_t, double, std::string and std::vector of the last three.
/// null counts as absent, as Hugging Face's configs have it. Holds references: the json and the names must outlive it.
class JsonObject {
 public:
  /// @param where  names the object in errors: "config.json", "config.json: rope_parameters"
  /// @param names  what errors call its keys; null: by the keys themselves
  JsonObject(const nlohmann::json& object, std::string where, const KeyNames* names = nullptr);

  bool has(std::string_view key) const;  ///< there and not null

  template <class T>
  std::optional<T> find(std::string_view key) const;  ///< nothing where absent; Error where of another type
  template <class T>
  T get(std::string_view key) const;  ///< Error where absent, with the nearest key
  template <class T>
  T get(std::string_view key, T otherwise) const {
    const std::optional<T> found = find<T>(key);
    return found ? *found : otherwise;
  }

  /// A positive whole number below 2^31: sizes, counts of layers and heads.
  std::int64_t size(std::string_view key) const;
  std::int64_t size(std::string_view key, std::int64_t otherwise) const;
  std::optional<std::int64_t> find_size(std::string_view key) const;

  std::optional<JsonObject> find_object(std::string_view key) const;
  JsonObject object(std::string_view key) const;

  std::vector<std::string> keys() const;
  const nlohmann::json& json() const { return *object_; }
  const std::string& where() const { return where_; }
  std::string name_of(std::string_view key) const;   ///< "hidden_size", or what the file calls it
  std::string place_of(std::string_view key) const;  ///< "config.json: hidden_size"

  /// Throws Error(usage, where: key, text) for a value that is of the right type and still wrong.
  [[noreturn]] void fail_at(std::string_view key, const std::string& text, const std::string& hint = {}) const;

 private:
  const nlohmann::json* value(std::string_view key) const;
  [[noreturn]] void fail_missing(std::string_view key) const;
  [[noreturn]] void fail_type(std::string_view key, const nlohmann::json& value, std::string_view expected) const;

  const nlohmann::json* object_;
  std::string where_;
  const KeyNames* names_;
};

/// A token id of at least 0; with an `otherwise` of -1 the key may be absent or -1, which means none.
std::int32_t token_id_of(const JsonObject& object, std::string_view key, std::int64_t otherwise);
/// A count of layers, at most 1000: layers are made before the weights are compared with them, and a number in a small
/// file must not ask for all the memory.
std::int64_t layer_count(const JsonObject& object, std::string_view key);

struct UnknownKey {
  std::string key;
  std::string nearest;  ///< the known key that may have been meant, or ""
};

/// The keys of `object` that are not in `known`, in order.
std::vector<UnknownKey> unknown_keys(const JsonObject& object, const std::vector<std::string>& known);

/// Error that lists the unknown keys, each with the one that may have been meant.
void check_keys(const JsonObject& object, const std::vector<std::string>& known);

}  // namespace tril
