// The API's description in OpenAPI 3, generated from the same table of routes that serves requests.
#include "base/version.h"
#include "serve/api/service.h"

namespace tril::serve {
namespace {

// The schema of an error's answer.
Json error_schema(ErrorStyle style) {
  const Json text{{"type", "string"}}, text_or_null{{"type", "string"}, {"nullable", true}};
  const Json error{{"type", "object"},
                   {"properties", {{"message", text}, {"type", text}, {"param", text_or_null}, {"code", text_or_null}}},
                   {"required", {"message", "type", "param", "code"}}};
  return {{"type", "object"},
          {"properties", {{"error", style == ErrorStyle::openai ? error : text}}},
          {"required", Json::array({"error"})}};
}

}  // namespace

Json Service::openapi() const {
  Json paths = Json::object();
  for (const Route& route : routes_) {
    Json one{{"summary", route.summary},
             {"operationId", route.method + route.path},
             {"responses",
              {{"200", {{"description", route.response}, {"content", {{route.response_type, Json::object()}}}}},
               {"default",
                {{"description", "what is wrong with the request"},
                 {"content", {{"application/json", {{"schema", error_schema(route.errors)}}}}}}}}}};
    if (!route.request_schema.is_null()) {
      std::vector<std::string> types{"application/json"};
      if (route.errors == ErrorStyle::libretranslate)
        types.insert(types.end(), {"application/x-www-form-urlencoded", "multipart/form-data"});
      if (route.takes_file) types = {"multipart/form-data"};
      one["requestBody"]["required"] = true;
      for (const std::string& type : types) one["requestBody"]["content"][type] = {{"schema", route.request_schema}};
    }
    if (const std::size_t name = route.path.find('{'); name != std::string::npos)
      one["parameters"] = Json::array({Json{{"name", route.path.substr(name + 1, route.path.size() - name - 2)},
                                            {"in", "path"},
                                            {"required", true},
                                            {"schema", {{"type", "string"}}}}});
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
