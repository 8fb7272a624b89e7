// What an answer tells besides: of the request, what was passed over. "warnings" of the answer's object.
#pragma once

#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

namespace tril::serve {

using Json = nlohmann::ordered_json;

/// What becomes of a field of a request that nobody reads.
enum class UnknownFields : std::uint8_t {
  refuse,  ///< the request gets 400
  warn,    ///< the answer says so
  ignore   ///< nothing
};
/// The names by which options know them.
const std::vector<std::pair<std::string, UnknownFields>>& unknown_fields_names();

class Warnings {
 public:
  explicit Warnings(UnknownFields on_unknown = UnknownFields::warn) : on_unknown_(on_unknown) {}

  /// What of the request is not obeyed: said in the answer, or what refuses it, as the server is told to.
  /// @param parameter  the field, for an error
  /// @throws HttpError (400)
  void pass_over(const std::string& parameter, const std::string& message);
  /// What the answer says in any case: "FIELD: what there is to know".
  void tell(const std::string& message);
  /// The same as pass_over() of each key that is not among the known ones, with the one that may have been meant. Null is as if absent, and
  /// any request may bring its api_key.
  /// @param within  whose keys they are ("response_format."); empty: the request's own
  void check_keys(const Json& object, const std::vector<std::string>& known, const std::string& within = {});

  /// Gives an answer's object "warnings", a list of texts, where there are any.
  void put_into(Json& answer) const;

 private:
  UnknownFields on_unknown_;
  std::vector<std::string> messages_;
  std::size_t left_out_ = 0;  ///< that are beyond those which are told
};

}  // namespace tril::serve
