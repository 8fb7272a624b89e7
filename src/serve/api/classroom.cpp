#include "serve/api/classroom.h"

#include <algorithm>
#include <array>

namespace tril::serve {

bool is_for_classroom(std::string_view path) {
  constexpr std::array paths{
      "/",       "/inside", "/trace",   "/search",      "/score", "/v1/models", "/v1/models/{model}",
      "/health", "/ready",  "/metrics", "/openapi.json"};
  return std::find(paths.begin(), paths.end(), path) != paths.end();
}

ServiceOptions for_classroom(ServiceOptions o) {
  constexpr std::size_t texts = 16, characters = 8000, body_bytes = std::size_t{256} << 10;
  o.classroom = true;
  o.most_operations = std::min(o.most_operations, most_operations / 16);  // some seconds on one core
  o.most_texts = std::min(o.most_texts, texts);
  o.most_characters = std::min(o.most_characters, characters);
  o.most_body_bytes = std::min(o.most_body_bytes, body_bytes);
  return o;
}

}  // namespace tril::serve
