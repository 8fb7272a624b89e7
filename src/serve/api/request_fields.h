// Fields of a JSON request, declared once like the program's options (base/fields.h): one list defines how they are
// read and checked, and their schema in the API's description. A field "length-penalty" is "length_penalty" here.
#pragma once

#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/fields.h"
#include "format/json_text.h"
#include "serve/api/warnings.h"
#include "serve/http/http.h"

namespace tril::serve {

/// Parses the body as a JSON object of limited depth, with its keys in order. @throws HttpError (400)
Json parse_object(const std::string& body);

/// The body of a request that may be a form, as LibreTranslate's clients may send (form_body.h); a body that looks like
/// a JSON object is read as one, whatever its content type.
/// @param properties  of schema_of(): the types of a form's fields
/// @throws HttpError (400, and 415 for an unsupported form)
Json body_of(const HttpRequest& request, const Json& properties = Json::object());

/// Whether such a request is read as a form, including the fields in its address, instead of as JSON.
bool is_read_as_form(const HttpRequest& request);

/// Sets the fields that the object has; null counts as absent. A list may be given as a single text. Unknown keys are
/// ignored; Warnings::check_keys() handles them.
/// @throws HttpError (400) naming a field with an invalid value
void read_fields(const Json& object, Fields& fields);

/// Likewise, and checks unknown keys and required fields.
void read_all_fields(const Json& object, Fields& fields, Warnings& warnings, const std::vector<std::string>& also);

/// The fields' names in requests.
std::vector<std::string> keys_of(const Fields& fields);

/// A reusable form for requests of one kind: declaring the fields costs more than reading the few that most requests
/// have. Use one per thread.
template <class Request>
class RequestForm {
 public:
  /// @param also  further valid names, which other code reads
  explicit RequestForm(const std::function<Fields(Request&)>& fields_of, const std::vector<std::string>& also = {})
      : fields_(fields_of(request_)), known_(keys_of(fields_)) {
    known_.insert(known_.end(), also.begin(), also.end());
  }
  RequestForm(const RequestForm&) = delete;
  RequestForm& operator=(const RequestForm&) = delete;

  /// @param warnings  receives unknown fields
  /// @throws HttpError like read_fields() and Warnings::check_keys()
  Request read(const Json& object, Warnings& warnings) {
    request_ = {};
    fields_.forget_given();
    read_fields(object, fields_);
    warnings.check_keys(object, known_);
    return std::move(request_);
  }
  /// Whether the last request had this field.
  bool given(std::string_view name) const { return fields_.given(name); }

 private:
  Request request_;
  Fields fields_;
  std::vector<std::string> known_;
};

/// {"type": "object", "properties": ...}
Json schema_of(const Fields& fields);

/// The schema of a request whose fields fields_of() declares.
template <class Request>
Json schema_of_request() {
  Request request;
  return schema_of(fields_of(request));
}

/// Reads such a request. @param also  further valid names, which other code reads
/// @throws HttpError like read_fields() and Warnings::check_keys(), and for a missing field
template <class Request>
Request read_request(const Json& object, Warnings& warnings, const std::vector<std::string>& also = {}) {
  Request request;
  Fields fields = fields_of(request);
  read_all_fields(object, fields, warnings, also);
  return request;
}

}  // namespace tril::serve
