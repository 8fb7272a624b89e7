#include "serve/api/body_reading.h"

#include <algorithm>

#include "base/error.h"
#include "base/printable.h"
#include "format/json_file.h"
#include "serve/api/form_body.h"
#include "serve/api/request_fields.h"
#include "serve/http/content_coding.h"
#include "serve/http/http_error.h"
#include "unicode/trim.h"

namespace tril::serve {
namespace {

constexpr std::size_t largest_small_body = std::size_t{16} << 10;

bool is_key(std::string_view name, ErrorStyle style) {
  return name == "api_key" || (!key_field(style).empty() && lower(name) == lower(key_field(style)));
}

std::string key_in(const PartsSoFar& parts, ErrorStyle style) {
  for (const FormPart& part : parts.complete)
    if (is_key(part.name, style) && !part.file_name) return std::string(part.value);
  return "";
}

}  // namespace

bool unpack_if_small(HttpRequest& request, std::size_t most) {
  if (request.body.size() > largest_small_body) return false;
  if (most > largest_small_body) return unpack_body_within(request, largest_small_body);
  unpack_body(request, most);
  return true;
}

void check_where_fields_are(const HttpRequest& request, ErrorStyle style, Warnings& warnings) {
  const bool as_form = is_read_as_form(request), forms = takes_forms(style);
  if (reads_address(style) || (forms && as_form)) return;
  // A body that is a form only by a client's default (`curl -d '{...}'`) is JSON.
  if (as_form && is_form(request.header("content-type").value_or("")) && !trim(request.body).starts_with('['))
    throw HttpError(415, "this route takes JSON, but the body is a form");
  for (const auto& [key, value] : request.query) {
    if (key == "api_key" || key == key_field(style)) continue;
    const std::string name = printable(key, 64);
    warnings.pass_over(
        name, fmt::format("{}: is in the query string, {}", name,
                          forms ? "where fields are read only if the body is a form or empty; put it into the body"
                                : "where this route reads no fields; put it into the body"));
  }
}

std::string key_of_head(const HttpRequest& request, ErrorStyle style) {
  if (const auto given = request.header("authorization"))
    for (const std::string_view scheme : {"bearer ", "deepl-auth-key "})
      if (given->size() > scheme.size() && lower(given->substr(0, scheme.size())) == scheme)
        return given->substr(scheme.size());
  for (const char* name : {"x-api-key", "x-goog-api-key", "ocp-apim-subscription-key"})
    if (auto key = request.header(name)) return *std::move(key);
  for (const auto& [name, value] : request.query)
    if (is_key(name, style)) return value;
  return "";
}

std::string key_of_body(const HttpRequest& request, ErrorStyle style) {
  const auto has = [&](std::string_view name) { return request.body.find(name) != std::string::npos; };
  const std::string_view own = key_field(style);
  if (!has("api_key") && (own.empty() || !has(own))) return "";
  try {
    if (const std::string type = request.header("content-type").value_or(""); is_multipart(type))
      return key_in(parts_so_far(type, request.body), style);
    const Json body = body_of(request);
    for (const auto& [name, value] : body.items())
      if (is_key(name, style) && value.is_string()) return value.get<std::string>();
  } catch (const HttpError&) {
  }
  return "";
}

KeySoFar key_so_far(const HttpRequest& request, ErrorStyle style) {
  const std::string type = request.header("content-type").value_or("");
  if (!is_multipart(type) || request.header("content-encoding")) return {.key = "", .is_final = true};
  const PartsSoFar parts = parts_so_far(type, request.body);
  return {.key = key_in(parts, style), .is_final = parts.reach_file};
}

Json fields_of_request(const HttpRequest& request, ErrorStyle style, const Json& properties, bool reads_address) {
  const bool none = request.body.empty() && request.query_text.empty();
  Json fields = none && reads_address ? Json::object() : body_of(request, properties);
  if (reads_address && !request.body.empty() && !is_read_as_form(request)) {
    const Json more = json_of_form(read_url_encoded(request.query_text), properties);
    for (const auto& [name, value] : more.items())
      if (!fields.contains(name)) fields[name] = value;
  }
  fields.erase(std::string(key_field(style)));
  return fields;
}

std::string body_without_key(const HttpRequest& request, ErrorStyle style) {
  const auto has = [&](std::string_view part) { return request.body.find(part) != std::string::npos; };
  const std::string_view own = key_field(style);
  // In any spelling of the name.
  if (!has("api_key") && (own.empty() || !has(own)) && !has("%") && !has("\\u")) return request.body;
  bool found = false;
  const auto hide = [&](Json& object) {
    for (auto& [name, value] : object.items())
      if (is_key(name, style)) value = "...", found = true;
  };
  try {
    Json body =
        style == ErrorStyle::microsoft ? parse_ordered_json(request.body, "the body", {.depth = 8}) : body_of(request);
    if (body.is_object()) hide(body);
    if (body.is_array())
      for (Json& one : body)
        if (one.is_object()) hide(one);
    return found ? json_text(body) : request.body;
  } catch (const HttpError&) {
    return "";  // it may still contain a key
  } catch (const Error&) {
    return "";
  }
}

}  // namespace tril::serve
