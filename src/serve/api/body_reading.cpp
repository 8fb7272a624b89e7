#include "serve/api/body_reading.h"

#include <algorithm>

#include "base/printable.h"
#include "serve/api/form_body.h"
#include "serve/api/request_fields.h"
#include "serve/http/content_coding.h"
#include "serve/http/http_error.h"
#include "unicode/trim.h"

namespace tril::serve {
namespace {

constexpr std::size_t largest_small_body = std::size_t{16} << 10;

}  // namespace

bool unpack_if_small(HttpRequest& request, std::size_t most) {
  if (request.body.size() > largest_small_body) return false;
  if (most > largest_small_body) return unpack_body_within(request, largest_small_body);
  unpack_body(request, most);
  return true;
}

void check_where_fields_are(const HttpRequest& request, bool takes_forms, Warnings& warnings) {
  const bool as_form = is_read_as_form(request);
  if (takes_forms && as_form) return;
  // A body that is a form only by a client's default (`curl -d '{...}'`) is JSON.
  if (as_form && is_form(request.header("content-type").value_or("")) && !trim(request.body).starts_with('['))
    throw HttpError(415, "this route takes JSON, but the body is a form");
  for (const auto& [key, value] : request.query) {
    if (key == "api_key") continue;
    const std::string name = printable(key, 64);
    warnings.pass_over(
        name,
        fmt::format("{}: is in the query string, {}", name,
                    takes_forms ? "where fields are read only if the body is a form or empty; put it into the body"
                                : "where this route reads no fields; put it into the body"));
  }
}

std::string key_of_head(const HttpRequest& request) {
  if (const auto bearer = request.header("authorization"))
    if (bearer->size() > 7 && lower(bearer->substr(0, 7)) == "bearer ") return bearer->substr(7);
  if (const auto key = request.header("x-api-key")) return *key;
  const auto key = request.query.find("api_key");
  return key == request.query.end() ? "" : key->second;
}

std::string key_of_body(const HttpRequest& request) {
  if (request.body.find("api_key") == std::string::npos) return "";
  try {
    if (const std::string type = request.header("content-type").value_or(""); is_multipart(type)) {
      for (const FormPart& part : read_parts(type, request.body))
        if (part.name == "api_key" && !part.file_name) return std::string(part.value);
      return "";
    }
    const Json body = body_of(request);
    const auto key = body.find("api_key");
    return key != body.end() && key->is_string() ? key->get<std::string>() : "";
  } catch (const HttpError&) {
    return "";
  }
}

std::string body_without_key(const HttpRequest& request) {
  const auto has = [&](std::string_view part) { return request.body.find(part) != std::string::npos; };
  if (!has("api_key") && !has("%") && !has("\\u")) return request.body;  // in any spelling of the name
  try {
    Json body = body_of(request);
    if (!body.contains("api_key")) return request.body;
    body["api_key"] = "...";
    return json_text(body);
  } catch (const HttpError&) {
    return "";  // it may still contain a key
  }
}

}  // namespace tril::serve
