#include "grammar/expressions/char_set.h"

#include <algorithm>

#include "base/error.h"

namespace tril::search {

CharSet all_chars() {
  return {{0, 0xd7ff}, {0xe000, last_char}};
}

CharSet normalized(CharSet ranges) {
  std::sort(ranges.begin(), ranges.end(), [](const CharRange& a, const CharRange& b) { return a.least < b.least; });
  CharSet set;
  for (const CharRange& r : ranges)
    if (!set.empty() && r.least <= set.back().most + 1)
      set.back().most = std::max(set.back().most, r.most);
    else
      set.push_back(r);
  return set;
}

CharSet intersection(const CharSet& a, const CharSet& b) {
  CharSet both;
  for (auto x = a.begin(), y = b.begin(); x != a.end() && y != b.end();) {
    const char32_t least = std::max(x->least, y->least), most = std::min(x->most, y->most);
    if (least <= most) both.push_back({least, most});
    x->most < y->most ? void(++x) : void(++y);
  }
  return both;
}

CharSet complement(const CharSet& a) {
  CharSet gaps;
  char32_t next = 0;
  for (const CharRange& r : a) {
    if (r.least > next) gaps.push_back({next, r.least - 1});
    next = r.most + 1;
  }
  if (next <= last_char) gaps.push_back({next, last_char});
  return intersection(gaps, all_chars());
}

std::u32string code_points(std::string_view text, std::string_view what) {
  std::u32string points;
  for (std::size_t i = 0; i < text.size();) {
    const auto lead = static_cast<unsigned char>(text[i]);
    const std::size_t n = lead < 0x80 ? 1 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
    char32_t point = n == 1 ? lead : lead & (0x7fu >> n);
    bool good = lead < 0x80 || (lead >= 0xc2 && lead < 0xf5);
    for (std::size_t k = 1; good && k < n; ++k) {
      good = i + k < text.size() && (static_cast<unsigned char>(text[i + k]) & 0xc0) == 0x80;
      if (good) point = point << 6 | (static_cast<unsigned char>(text[i + k]) & 0x3f);
    }
    constexpr char32_t least_of[] = {0, 0, 0x80, 0x800, 0x10000};
    good = good && point >= least_of[n] && point <= last_char && (point < 0xd800 || point > 0xdfff);
    check(good, what, "byte {} is not part of a UTF-8 character", i + 1);
    points.push_back(point);
    i += n;
  }
  return points;
}

}  // namespace tril::search
