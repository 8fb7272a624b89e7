#include "unicode/character_map.h"

#include <fmt/format.h>

#include <cstdint>
#include <vector>

#include "base/error.h"
#include "format/protobuf.h"
#include "unicode/trim.h"

namespace tril {

namespace {

// Field numbers of sentencepiece_model.proto.
constexpr std::uint64_t normalizer_spec = 3, denormalizer_spec = 5, precompiled_charsmap = 2;

std::uint32_t little_endian(std::string_view bytes, std::size_t at) {
  std::uint32_t value = 0;
  for (std::size_t i = 4; i-- > 0;) value = value << 8 | static_cast<std::uint8_t>(bytes[at + i]);
  return value;
}

using Unit = CharacterMap::Unit;

std::string map_fault(std::string_view map) {
  if (map.empty()) return "";  // nothing is mapped
  if (map.size() <= 4) return fmt::format("it has {} bytes, expected at least 5", map.size());
  const std::size_t trie_bytes = little_endian(map, 0);
  if (trie_bytes == 0 || trie_bytes % 4 != 0 || trie_bytes >= map.size() - 4)
    return fmt::format("its trie of {} bytes does not fit its {} bytes", trie_bytes, map.size());
  const std::string_view strings = map.substr(4 + trie_bytes);
  if (strings.back() != '\0') return "its strings do not end in a NUL";
  if (!is_utf8(strings)) return "its strings are not UTF-8";

  const std::size_t count = trie_bytes / 4;
  const auto unit = [&](std::size_t i) { return Unit{little_endian(map, 4 + 4 * i)}; };
  // A byte of the text leads from a base to the unit `base ^ byte`, if that has the byte as its label. A unit's label therefore
  // gives its base. The units of each base form a list, so that not all 256 bytes need be tried at each base.
  std::vector<std::size_t> first(count, count), next(count, count);
  for (std::size_t i = count; i-- > 0;) {
    const std::size_t base = i ^ unit(i).label();
    if (unit(i).label() < 256 && base < count) next[i] = first[base], first[base] = i;
  }
  std::vector<bool> seen(count);
  std::vector<std::size_t> open{0};
  seen[0] = true;
  while (!open.empty()) {
    const std::size_t node = open.back();
    open.pop_back();
    const std::size_t base = node ^ unit(node).offset();
    if ((base | 255) >= count)  // a byte of the text selects among the 256 units around the base
      return fmt::format("unit {} of its trie leads to unit {} of {}", node, base, count);
    if (unit(node).has_leaf() && unit(base).value() >= strings.size())
      return fmt::format("unit {} of its trie names byte {} of {} of strings", base, unit(base).value(),
                         strings.size());
    for (std::size_t i = first[base]; i < count; i = next[i]) {
      if (seen[i]) continue;
      seen[i] = true;
      open.push_back(i);
    }
  }
  return "";
}

}  // namespace

CharacterMap::CharacterMap(std::string_view map, const std::string& where) {
  if (const std::string fault = map_fault(map); !fault.empty())
    fail(where, "its map of characters is damaged: " + fault, "download the file again");
  if (map.empty()) return;
  const std::size_t trie_bytes = little_endian(map, 0);
  for (std::size_t i = 0; i < trie_bytes / 4; ++i) units_.push_back({little_endian(map, 4 + 4 * i)});
  strings_ = map.substr(4 + trie_bytes);
}

CharacterMap::Match CharacterMap::find(std::string_view text, Want want) const {
  Match match;
  if (units_.empty()) return match;
  std::size_t node = units_[0].offset();
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<std::uint8_t>(text[i]);
    node ^= byte;
    const Unit unit = units_[node];
    if (unit.label() != byte) break;
    node ^= unit.offset();
    if (!unit.has_leaf()) continue;
    match = {i + 1, strings_.c_str() + units_[node].value()};
    if (want == Want::shortest) break;
  }
  return match;
}

std::string character_map_fault(std::string_view bytes) {
  std::string fault;
  const auto look_at_map = [&](const protobuf::Field& field) {
    if (field.wire == protobuf::Wire::bytes && field.number == precompiled_charsmap) fault = map_fault(field.bytes);
    return fault.empty();
  };
  const bool whole = protobuf::for_each_field(bytes, [&](const protobuf::Field& field) {
    const bool has_map =
        field.wire == protobuf::Wire::bytes && (field.number == normalizer_spec || field.number == denormalizer_spec);
    return !has_map || protobuf::for_each_field(field.bytes, look_at_map);
  });
  if (!fault.empty()) return "its map of characters is damaged: " + fault;
  return whole ? "" : "it is truncated or damaged";
}

}  // namespace tril
