#include "serve/api/request_fields.h"

#include <algorithm>

#include "format/json_file.h"
#include "serve/api/form_body.h"
#include "serve/http/http_error.h"
#include "unicode/trim.h"

namespace tril::serve {
namespace {

constexpr int most_depth = 64;

std::string key_of(const Field& field) {
  std::string key = field.name();
  std::replace(key.begin(), key.end(), '-', '_');
  return key;
}

[[noreturn]] void refuse(const std::string& key, const std::string& expected) {
  throw field_error(key, fmt::format("expected {}", expected));
}

// A value as text for Field::set().
std::string text_of(const Field& field, const std::string& key, const Json& value) {
  const std::string expected = field.expected();
  switch (field.kind()) {
    case FieldKind::boolean:
      if (!value.is_boolean()) refuse(key, "true or false");
      return value.get<bool>() ? "true" : "false";
    case FieldKind::number:
      if (!value.is_number()) refuse(key, expected);
      if (value.is_number_float()) {  // many clients send integers as 5.0
        const double x = value.get<double>();
        const auto whole = static_cast<std::int64_t>(std::clamp(x, -1e15, 1e15));
        if (x == static_cast<double>(whole)) return std::to_string(whole);
      }
      return value.dump();
    default:
      if (value.is_number() || value.is_boolean()) return value.dump();
      if (!value.is_string()) refuse(key, expected);
      return value.get<std::string>();
  }
}

}  // namespace

Json parse_object(const std::string& body) {
  Json object;
  try {
    object = parse_ordered_json(body, "the body", {.bytes = std::uint64_t{64} << 20, .depth = most_depth});
  } catch (const Error& error) {
    throw HttpError(400, error.what());
  }
  if (!object.is_object()) throw HttpError(400, "the body is not a JSON object");
  return object;
}

void read_fields(const Json& object, Fields& fields) {
  for (const auto& [key, value] : object.items()) {
    std::string name = key;
    std::replace(name.begin(), name.end(), '_', '-');
    const Field* const known = fields.find(name);
    if (!known || value.is_null() || key.find('-') != std::string::npos) continue;
    const Field& field = *known;
    std::vector<std::string> texts;
    if (field.is_list() && value.is_array())
      for (const Json& one : value) texts.push_back(text_of(field, key, one));
    else
      texts.push_back(text_of(field, key, value));
    try {
      fields.at(name, key).set(texts, key);
    } catch (const Error& error) {
      throw HttpError(400, error.what()).of_field(key);
    }
  }
}

std::vector<std::string> keys_of(const Fields& fields) {
  std::vector<std::string> keys;
  for (const Field& field : fields) keys.push_back(key_of(field));
  return keys;
}

void read_all_fields(const Json& object, Fields& fields, Warnings& warnings, const std::vector<std::string>& also) {
  read_fields(object, fields);
  std::vector<std::string> known = keys_of(fields);
  known.insert(known.end(), also.begin(), also.end());
  warnings.check_keys(object, known);
  for (const Field& field : fields)
    if (field.is_required() && !field.given()) throw field_error(key_of(field), "is missing");
}

Json schema_of(const Fields& fields) {
  Json properties = Json::object(), required = Json::array();
  for (const Field& field : fields) {
    Json one{{"description", field.help()}};
    switch (field.kind()) {
      case FieldKind::boolean:
        one["type"] = "boolean";
        break;
      case FieldKind::number:
        one["type"] = "number";
        break;
      case FieldKind::list:
        one["oneOf"] =
            Json::array({Json{{"type", "string"}}, Json{{"type", "array"}, {"items", {{"type", "string"}}}}});
        break;
      default:
        one["type"] = "string";
    }
    if (const auto allowed = field.allowed(); !allowed.empty() && field.kind() == FieldKind::text)
      one["enum"] = allowed;
    if (const std::string range = field.range(); !range.empty()) one["description"] = field.help() + " (" + range + ")";
    properties[key_of(field)] = std::move(one);
    if (field.is_required()) required.push_back(key_of(field));
  }
  Json schema{{"type", "object"}, {"properties", std::move(properties)}};
  if (!required.empty()) schema["required"] = std::move(required);
  return schema;
}

bool is_read_as_form(const HttpRequest& request) {
  if (request.body.empty() && !request.query_text.empty()) return true;
  return is_form(request.header("content-type").value_or("")) && !trim(request.body).starts_with('{');
}

Json body_of(const HttpRequest& request, const Json& properties) {
  if (!is_read_as_form(request)) return parse_object(request.body);
  return json_of_form(read_form(request), properties);
}

}  // namespace tril::serve
