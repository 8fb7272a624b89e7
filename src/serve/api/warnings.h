// Warnings in a response about parts of the request that were ignored or not translated: "warnings" of the response's object.
#pragma once

#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

namespace tril::serve {

using Json = nlohmann::ordered_json;

/// How unknown fields of a request are handled.
enum class UnknownFields : std::uint8_t {
  refuse,  ///< the request gets 400
  warn,    ///< the response says so
  ignore   ///< silently
};
/// Their names in options.
const std::vector<std::pair<std::string, UnknownFields>>& unknown_fields_names();

class Warnings {
 public:
  explicit Warnings(UnknownFields on_unknown = UnknownFields::warn) : on_unknown_(on_unknown) {}

  /// Records that a part of the request has no effect: as a warning, or as an error if the server is configured so.
  /// @param parameter  the field, for an error
  /// @throws HttpError (400)
  void pass_over(const std::string& parameter, const std::string& message);
  /// Adds a warning in any case: "FIELD: message". One that is equal to an earlier one is not repeated.
  void tell(const std::string& message);
  /// Adds those of another response likewise.
  void add(const Warnings& others);
  /// pass_over() for each unknown key, suggesting the nearest known one. Null counts as absent, and api_key is always
  /// valid.
  /// @param within  the prefix of nested keys ("response_format."); empty: the request's own
  void check_keys(const Json& object, const std::vector<std::string>& known, const std::string& within = {});

  /// Adds "warnings", a list of texts, to a response's object, if there are any.
  void put_into(Json& answer) const;
  /// The list as JSON in ASCII, for the header X-Tril-Warnings of a response that is no object; "": there are none.
  std::string header() const;

 private:
  Json list() const;

  UnknownFields on_unknown_;
  std::vector<std::string> messages_;
  std::size_t left_out_ = 0;  ///< warnings beyond the limit
};

}  // namespace tril::serve
