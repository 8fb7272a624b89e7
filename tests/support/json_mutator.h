// Mutates JSON so that it stays JSON: random bytes are mostly rejected by the parser, and never reach the code that
// reads the values. One mutation in four changes bytes instead.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <nlohmann/json.hpp>
#include <random>
#include <string>
#include <string_view>
#include <vector>

namespace tril::test {

using Json = nlohmann::ordered_json;

class JsonMutator {
 public:
  /// Changes bytes at random; the result may have `most` bytes. @return its size
  using Bytes = std::function<std::size_t(std::uint8_t* data, std::size_t size, std::size_t most)>;

  /// @param texts  replacements for strings besides those in the document
  JsonMutator(unsigned seed, const std::vector<std::string>& texts, Bytes bytes)
      : random_(seed), texts_(texts), bytes_(std::move(bytes)) {}

  /// Mutates the text in place. @return its new size
  std::size_t operator()(std::uint8_t* data, std::size_t size, std::size_t most) {
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    if (one_in(4) || is_deep(text)) return bytes_(data, size, most);
    Json document = Json::parse(text, nullptr, /*allow_exceptions=*/false);
    if (document.is_discarded()) return bytes_(data, size, most);
    for (std::size_t n = 1 + below(3); n > 0; --n) mutate(document);
    const std::string changed = document.dump(-1, ' ', false, Json::error_handler_t::replace);
    if (changed.size() > most) return bytes_(data, size, most);
    std::copy(changed.begin(), changed.end(), data);
    return changed.size();
  }

 private:
  std::size_t below(std::size_t n) { return n == 0 ? 0 : random_() % n; }
  bool one_in(std::size_t n) { return below(n) == 0; }

  // The library's own traversals recurse.
  static bool is_deep(std::string_view text) {
    int depth = 0, deepest = 0;
    for (const char c : text) {
      depth += c == '[' || c == '{' ? 1 : c == ']' || c == '}' ? -1 : 0;
      deepest = std::max(deepest, depth);
    }
    return deepest > 64;
  }

  static void collect(Json& value, std::vector<Json*>& all) {
    all.push_back(&value);
    if (value.is_structured())
      for (Json& inner : value) collect(inner, all);
  }

  Json number() {
    static const std::array<Json, 30> edges{
        Json(0),         Json(1),          Json(2),          Json(3),           Json(-1),
        Json(-2),        Json(7),          Json(64),         Json(127),         Json(255),
        Json(1000),      Json(1001),       Json(4096),       Json(65535),       Json(65536),
        Json(1 << 24),   Json(2147483647), Json(2147483648), Json(4294967295u), Json(std::int64_t{1} << 40),
        Json(INT64_MAX), Json(INT64_MIN),  Json(UINT64_MAX), Json(0.5),         Json(-0.0),
        Json(1e-320),    Json(1e-40),      Json(1e39),       Json(1e300),       Json(-1e300)};
    return edges[below(edges.size())];
  }

  Json scalar(const std::vector<Json*>& others) {
    switch (below(7)) {
      case 0:
        return nullptr;
      case 1:
        return one_in(2);
      case 2:
        return texts_.empty() ? Json("") : Json(texts_[below(texts_.size())]);
      case 3:
        return one_in(2) ? Json::array() : Json::object();
      case 4:
        return Json(*others[below(others.size())]);
      default:
        return number();
    }
  }

  void mutate(Json& document) {
    std::vector<Json*> all;
    collect(document, all);
    Json& value = *all[below(all.size())];
    if (value.is_number() && !one_in(4)) {
      if (value.is_number_integer() && one_in(3))
        value = static_cast<std::int64_t>(value.get<std::uint64_t>() + below(5) - 2);
      else
        value = number();
    } else if (value.is_string() && !one_in(3)) {
      std::string text = value.get<std::string>();
      const std::size_t size = text.size(), room = size + 16;
      text.resize(room);
      text.resize(bytes_(reinterpret_cast<std::uint8_t*>(text.data()), size, room));
      value = text;
    } else if (value.is_structured() && !value.empty() && !one_in(4)) {
      mutate_members(value, all);
    } else {
      Json other = scalar(all);  // may be a copy of what contains `value`
      value = std::move(other);
    }
  }

  void mutate_members(Json& value, const std::vector<Json*>& all) {
    const std::size_t at = below(value.size());
    auto member = value.begin();
    std::advance(member, static_cast<std::ptrdiff_t>(at));
    Json other = scalar(all);
    if (one_in(2)) {
      value.erase(member);
    } else if (value.is_array()) {
      value.insert(member, std::move(other));
    } else {
      std::string key = member.key();
      if (!texts_.empty() && one_in(2)) key = texts_[below(texts_.size())];
      value[key] = std::move(other);
    }
  }

  std::mt19937 random_;
  const std::vector<std::string>& texts_;
  Bytes bytes_;
};

}  // namespace tril::test
