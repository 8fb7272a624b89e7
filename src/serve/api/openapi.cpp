// The API's description in OpenAPI 3, generated from the same table of routes that serves requests.
#include <fmt/format.h>

#include <algorithm>

#include "base/version.h"
#include "serve/api/service.h"

namespace tril::serve {
namespace {

// The parameters of a route: the names in its path, and the fields of its address.
Json parameters_of(const Route& route) {
  Json list = Json::array();
  for (std::size_t at = route.path.find('{'); at != std::string::npos; at = route.path.find('{', at + 1))
    list.push_back({{"name", route.path.substr(at + 1, route.path.find('}', at) - at - 1)},
                    {"in", "path"},
                    {"required", true},
                    {"schema", {{"type", "string"}}}});
  if (route.query_schema.is_null()) return list;
  const Json required = route.query_schema.value("required", Json::array());
  for (const auto& [name, schema] : route.query_schema["properties"].items()) {
    Json type = schema;
    type.erase("description");
    list.push_back({{"name", name},
                    {"in", "query"},
                    {"description", schema.value("description", "")},
                    {"required", std::find(required.begin(), required.end(), name) != required.end()},
                    {"schema", std::move(type)}});
  }
  return list;
}

// What the description of a route says of its other path.
std::string alias_of(const Route& route) {
  if (route.alias.empty()) return "";
  return fmt::format("Also {} {}{}", route.method, route.alias,
                     route.alias_field.empty() ? "" : fmt::format(" with {} in the address", route.alias_field));
}

// The API that a route belongs to; tril's own routes have the errors of OpenAI's.
std::string_view tag_of(const Route& route) {
  return route.errors == ErrorStyle::openai && !route.path.starts_with("/v1/") ? "tril" : name_of(route.errors);
}

}  // namespace

Json Service::openapi() const {
  Json paths = Json::object();
  for (const Route& route : routes_) {
    Json one{{"summary", route.summary},
             {"tags", Json::array({tag_of(route)})},
             {"operationId", route.method + route.path},
             {"responses",
              {{"200", {{"description", route.response}, {"content", {{route.response_type, Json::object()}}}}},
               {"default",
                {{"description", "what is wrong with the request"},
                 {"content", {{"application/json", {{"schema", error_schema(route.errors)}}}}}}}}}};
    if (!route.request_schema.is_null()) {
      std::vector<std::string> types{"application/json"};
      if (takes_forms(route.errors))
        types.insert(types.end(), {"application/x-www-form-urlencoded", "multipart/form-data"});
      if (route.takes_file) types = {"multipart/form-data"};
      one["requestBody"]["required"] = true;
      for (const std::string& type : types) one["requestBody"]["content"][type] = {{"schema", route.request_schema}};
    }
    if (Json parameters = parameters_of(route); !parameters.empty()) one["parameters"] = std::move(parameters);
    if (const std::string also = alias_of(route); !also.empty()) one["description"] = also;
    if (route.who == Route::Who::anybody) one["security"] = Json::array();
    paths[route.path][lower(route.method)] = std::move(one);
  }
  return {{"openapi", "3.0.3"},
          {"info", {{"title", "tril"}, {"version", std::string(version)}}},
          {"components", {{"securitySchemes", {{"key", {{"type", "http"}, {"scheme", "bearer"}}}}}}},
          {"security", Json::array({Json{{"key", Json::array()}}})},
          {"paths", paths}};
}

}  // namespace tril::serve
