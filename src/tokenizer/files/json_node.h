// A part of a JSON file that knows its place in it, for errors.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>

#include "base/error.h"
#include "base/printable.h"
#include "unicode/characters.h"

namespace tril {

/// The path is, for example, "pre_tokenizer.pretokenizers[1]". All readers throw an Error that begins with it.
class JsonNode {
 public:
  JsonNode(const nlohmann::json& json, std::string where) : json_(&json), where_(std::move(where)) {}

  const nlohmann::json& json() const { return *json_; }
  const std::string& where() const { return where_; }
  bool is_null() const { return json_->is_null(); }

  [[noreturn]] void refuse(std::string_view what, const std::string& hint = {}) const {
    fail(where_, std::string(what), hint);
  }
  [[noreturn]] void unsupported(std::string_view kind, const std::string& type, std::string_view supported) const {
    refuse(fmt::format("{} \"{}\" is not supported", kind, printable(type)), fmt::format("supported: {}", supported));
  }

  /// A member of an object; null if missing.
  JsonNode operator[](const char* key) const {
    static const nlohmann::json null;
    return {json_->is_object() && json_->contains(key) ? (*json_)[key] : null, where_ + "." + key};
  }
  template <class Use>
  void for_each(const Use& use) const {
    if (!json_->is_array()) refuse("is not a list");
    for (std::size_t i = 0; i < json_->size(); ++i) use(JsonNode((*json_)[i], fmt::format("{}[{}]", where_, i)));
  }

  std::string text() const {
    if (!json_->is_string()) refuse("is not a string");
    return json_->get<std::string>();
  }
  std::string text_or(const std::string& otherwise) const { return is_null() ? otherwise : text(); }
  bool flag_or(bool otherwise) const {
    if (is_null()) return otherwise;
    if (!json_->is_boolean()) refuse("is neither true nor false");
    return json_->get<bool>();
  }
  std::int64_t whole(std::int64_t least, std::int64_t most) const {
    const bool fits = json_->is_number_integer() && json_->get<double>() >= static_cast<double>(least) &&
                      json_->get<double>() <= static_cast<double>(most);
    if (!fits) refuse(fmt::format("is not an integer from {} to {}", least, most));
    return json_->get<std::int64_t>();
  }
  std::int32_t id() const { return static_cast<std::int32_t>(whole(0, 1 << 27)); }
  std::string character() const {
    std::string one = text();
    if (one.empty() || character_at(one, 0).length != one.size()) refuse("is not one character");
    return one;
  }

 private:
  const nlohmann::json* json_;
  std::string where_;
};

}  // namespace tril
