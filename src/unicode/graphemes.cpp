#include "unicode/graphemes.h"

#include <unicode/uchar.h>

#include "unicode/characters.h"

namespace tril {
namespace {

struct Part {
  int boundary;  // Grapheme_Cluster_Break
  bool pictographic;
};

Part part_of(char32_t c) {
  if (c == Character::not_utf8) return {U_GCB_CONTROL, false};
  if (c >= 0x20 && c < 0x7f) return {U_GCB_OTHER, false};
  const auto code = static_cast<UChar32>(c);
  return {u_getIntPropertyValue(code, UCHAR_GRAPHEME_CLUSTER_BREAK),
          u_hasBinaryProperty(code, UCHAR_EXTENDED_PICTOGRAPHIC) != 0};
}

bool is_control(int b) {
  return b == U_GCB_CONTROL || b == U_GCB_CR || b == U_GCB_LF;
}

// Whether two neighbours belong together, by the rules of UAX #29 that need no further context.
bool joins(int a, int b) {
  if (a == U_GCB_CR) return b == U_GCB_LF;                                                             // GB3
  if (is_control(a) || is_control(b)) return false;                                                    // GB4, GB5
  if (a == U_GCB_L && (b == U_GCB_L || b == U_GCB_V || b == U_GCB_LV || b == U_GCB_LVT)) return true;  // GB6
  if ((a == U_GCB_LV || a == U_GCB_V) && (b == U_GCB_V || b == U_GCB_T)) return true;                  // GB7
  if ((a == U_GCB_LVT || a == U_GCB_T) && b == U_GCB_T) return true;                                   // GB8
  return b == U_GCB_EXTEND || b == U_GCB_ZWJ || b == U_GCB_SPACING_MARK || a == U_GCB_PREPEND;         // GB9, 9a, 9b
}

}  // namespace

std::size_t end_of_grapheme(std::string_view text, std::size_t at) {
  Character c = character_at(text, at);
  Part last = part_of(c.code);
  bool picture = last.pictographic;                            // ExtPict Extend* so far
  bool lone_flag = last.boundary == U_GCB_REGIONAL_INDICATOR;  // an odd number of regional indicators so far
  for (at += c.length; at < text.size(); at += c.length) {
    c = character_at(text, at);
    const Part next = part_of(c.code);
    const bool joined_picture = picture && last.boundary == U_GCB_ZWJ && next.pictographic;  // GB11
    const bool joined_flag = lone_flag && next.boundary == U_GCB_REGIONAL_INDICATOR;         // GB12, GB13
    if (!joins(last.boundary, next.boundary) && !joined_picture && !joined_flag) break;
    picture = next.pictographic ||
              (picture && (next.boundary == U_GCB_EXTEND || next.boundary == U_GCB_ZWJ) && last.boundary != U_GCB_ZWJ);
    lone_flag = !joined_flag && next.boundary == U_GCB_REGIONAL_INDICATOR;
    last = next;
  }
  return at;
}

}  // namespace tril
