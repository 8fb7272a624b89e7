// The fields of a JSON request, declared once as the program's options are (base/fields.h): from one list come how they
// are read and checked, and their schema in the API's description. A field "length-penalty" is "length_penalty" here.
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

/// The body as a JSON object of moderate depth, its keys in their order. @throws HttpError (400)
Json parse_object(const std::string& body);

/// The body of a request that may be a form, as LibreTranslate's clients send it too (form_body.h); what looks like an object
/// is one, whatever its type is called.
/// @param properties  of schema_of(): what the fields of a form are
/// @throws HttpError (400, and 415 for a form that is not taken)
Json body_of(const HttpRequest& request, const Json& properties = Json::object());

/// Whether such a request is read as a form, the fields in its address included, and not as JSON.
bool is_read_as_form(const HttpRequest& request);

/// Sets the fields that the object has; null is as if absent. A list may be given as one text. What is no field is passed
/// over; Warnings::check_keys() says what becomes of it.
/// @throws HttpError (400) naming the field whose value is not what it should be
void read_fields(const Json& object, Fields& fields);

/// The fields' names as a request has them.
std::vector<std::string> keys_of(const Fields& fields);

/// Requests of one kind, whose fields are declared once: that costs more than reading those few that most requests have.
/// One for each thread that reads them.
template <class Request>
class RequestForm {
 public:
  /// @param also  names of what such a request may have besides, which others read
  explicit RequestForm(const std::function<Fields(Request&)>& fields_of, const std::vector<std::string>& also = {})
      : fields_(fields_of(request_)), known_(keys_of(fields_)) {
    known_.insert(known_.end(), also.begin(), also.end());
  }
  RequestForm(const RequestForm&) = delete;
  RequestForm& operator=(const RequestForm&) = delete;

  /// @param warnings  where it is told what of the request is no field
  /// @throws HttpError as read_fields() and Warnings::check_keys()
  Request read(const Json& object, Warnings& warnings) {
    request_ = {};
    fields_.forget_given();
    read_fields(object, fields_);
    warnings.check_keys(object, known_);
    return std::move(request_);
  }
  /// Whether the last one had this field.
  bool given(std::string_view name) const { return fields_.given(name); }

 private:
  Request request_;
  Fields fields_;
  std::vector<std::string> known_;
};

/// {"type": "object", "properties": ...}
Json schema_of(const Fields& fields);

}  // namespace tril::serve
