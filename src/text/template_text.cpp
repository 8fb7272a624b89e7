#include "text/template_text.h"

#include <algorithm>
#include <cstring>

#include "text/characters.h"
#include "text/letter_case.h"
#include "text/piece_decoder.h"

namespace tril::chat {
namespace {

// Python's white space.
bool is_space(char32_t c) {
  return (c >= 0x1c && c <= 0x1f) || (CharacterKinds::table()(c) & kind_space) != 0;
}

// What str.splitlines() takes for the end of a line.
bool ends_line(char32_t c) {
  return (c >= 0x0a && c <= 0x0d) || (c >= 0x1c && c <= 0x1e) || c == 0x85 || c == 0x2028 || c == 0x2029;
}

}  // namespace

std::vector<std::string_view> characters(std::string_view s) {
  std::vector<std::string_view> all;
  for (std::size_t at = 0; at < s.size();) {
    const std::size_t length = character_at(s, at).length;
    all.push_back(s.substr(at, length));
    at += length;
  }
  return all;
}

std::int64_t length_of(std::string_view s) {
  std::int64_t n = 0;
  for (std::size_t at = 0; at < s.size(); at += character_at(s, at).length) ++n;
  return n;
}

// Without the characters of `which` (white space where there is none) at its ends.
std::string stripped(std::string_view s, const Value* which, Ends ends, Budget& budget) {
  const bool any_space = !which || which->is_none();
  const std::string set = any_space ? "" : text_of(*which, "strip");
  const auto goes = [&](std::string_view one) {
    budget.pay_text(set.size());
    return any_space ? is_space(character_at(one, 0).code) : set.find(one) != set.npos;
  };
  while ((ends & left) && !s.empty()) {
    const std::string_view first = s.substr(0, character_at(s, 0).length);
    if (!goes(first)) break;
    s.remove_prefix(first.size());
  }
  while ((ends & right) && !s.empty()) {
    const std::size_t last = last_character(s, s.size());
    if (!goes(s.substr(last))) break;
    s = s.substr(0, last);
  }
  return std::string(s);
}

std::string titled(std::string_view s) {
  std::string out;
  const auto splits = [&](std::size_t at) {
    const Character c = character_at(s, at);
    return is_space(c.code) || (c.code < 0x80 && std::string_view("-({[<").find(s[at]) != std::string_view::npos);
  };
  for (std::size_t at = 0; at < s.size();) {
    const std::size_t first = at + character_at(s, at).length;
    std::size_t end = first;
    if (!splits(at))
      while (end < s.size() && !splits(end)) end += character_at(s, end).length;
    out.append(upper_case(s.substr(at, first - at))).append(lower_case(s.substr(first, end - first)));
    at = end;
  }
  return out;
}

std::size_t find_text(std::string_view s, std::string_view what, std::size_t from) {
  if (from > s.size()) return s.npos;
  const void* const found = ::memmem(s.data() + from, s.size() - from, what.data(), what.size());
  return found ? static_cast<std::size_t>(static_cast<const char*>(found) - s.data()) : s.npos;
}

std::string replaced(std::string_view s, std::string_view from, std::string_view to, std::int64_t most,
                     Budget& budget) {
  if (from.empty()) refuse("replace: the text to be replaced is empty");
  std::string out;
  std::size_t at = 0;
  for (std::size_t found = find_text(s, from); found != s.npos && most != 0; found = find_text(s, from, at), --most) {
    out.append(s.substr(at, found - at)).append(to);
    budget.pay(4 + (found - at + to.size()) / 8);
    at = found + from.size();
    if (out.size() > longest_text) refuse("replace: the text becomes too long");
  }
  return out.append(s.substr(at));
}

List split(std::string_view s, const Value* by, std::int64_t most, bool from_right, Budget& budget) {
  List parts;
  const auto add = [&](std::string_view part) {
    budget.pay(8 + part.size() / 8);
    parts.emplace_back(part);
  };
  if (!by || by->is_none()) {
    if (from_right && most >= 0) refuse("rsplit by white space with a limit is not supported");
    for (std::size_t at = 0; at < s.size();) {
      const Character c = character_at(s, at);
      if (is_space(c.code)) {
        at += c.length;
        continue;
      }
      if (most == 0) {
        parts.emplace_back(s.substr(at));
        break;
      }
      std::size_t end = at;
      while (end < s.size() && !is_space(character_at(s, end).code)) end += character_at(s, end).length;
      add(s.substr(at, end - at));
      at = end;
      --most;
    }
    return parts;
  }
  const std::string& sign = text_of(*by, "split");
  if (sign.empty()) refuse("split: the separator is empty");
  if (from_right) {
    // Both turned round are searched from the left, where find_text() takes time by their sum.
    budget.pay_text(s.size() + sign.size());
    const std::string turned(s.rbegin(), s.rend()), turned_sign(sign.rbegin(), sign.rend());
    std::string_view rest = turned;
    for (std::size_t found = find_text(rest, turned_sign); found != rest.npos && most != 0;
         found = find_text(rest, turned_sign), --most) {
      add(s.substr(s.size() - found));
      s.remove_suffix(found + sign.size());
      rest.remove_prefix(found + sign.size());
    }
    add(s);
    std::reverse(parts.begin(), parts.end());
    return parts;
  }
  for (std::size_t found = find_text(s, sign); found != s.npos && most != 0; found = find_text(s, sign), --most) {
    add(s.substr(0, found));
    s.remove_prefix(found + sign.size());
  }
  add(s);
  return parts;
}

List lines_of(std::string_view s, bool keep_ends, Budget& budget) {
  List lines;
  for (std::size_t at = 0; at < s.size();) {
    std::size_t end = at, next = s.size();
    for (; end < s.size(); end += character_at(s, end).length) {
      const Character c = character_at(s, end);
      if (!ends_line(c.code)) continue;
      next = end + (s.substr(end).starts_with("\r\n") ? 2 : c.length);
      break;
    }
    budget.pay(8 + (next - at));
    lines.emplace_back(s.substr(at, (keep_ends ? next : end) - at));
    at = next;
  }
  return lines;
}

std::string joined(const List& list, std::string_view by, Budget& budget) {
  std::string out;
  for (std::size_t i = 0; i < list.size(); ++i) {
    const std::string one = printed(list[i], budget);
    budget.pay_text(by.size());
    out.append(i > 0 ? by : "").append(one);
    if (out.size() > longest_text) refuse("join: the text becomes too long");
  }
  return out;
}

// startswith and endswith take one text or a tuple of them.
bool has_end(const std::string& s, const Value& what, bool at_start, Budget& budget) {
  if (const auto* list = what.get<List>(); list && what.is_tuple())
    return std::any_of(list->begin(), list->end(), [&](const Value& one) { return has_end(s, one, at_start, budget); });
  const std::string& end = text_of(what, at_start ? "startswith" : "endswith");
  budget.pay_text(std::min(s.size(), end.size()));
  return at_start ? s.starts_with(end) : s.ends_with(end);
}

std::string indented(std::string_view s, const Arguments& a, Budget& budget) {
  const Value* width = argument(a, 0, "width");
  const std::int64_t blanks = width && width->get<std::string>() ? 0 : whole_argument(a, 0, "width", 4);
  const std::string by = width && width->get<std::string>()
                             ? *width->get<std::string>()
                             : std::string(static_cast<std::size_t>(std::clamp<std::int64_t>(blanks, 0, 101)), ' ');
  if (by.size() > 100) refuse("indent: more than 100 characters are not supported");
  const bool first = flag_argument(a, 1, "first", false), blank = flag_argument(a, 2, "blank", false);
  std::string out = first ? by : "";
  const List lines = lines_of(std::string(s) + "\n", false, budget);
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const std::string& line = *lines[i].get<std::string>();
    if (i > 0) out.append("\n").append(blank || !line.empty() ? by : "");
    out += line;
    if (out.size() > longest_text) refuse("indent: the text becomes too long");
  }
  return out;
}

}  // namespace tril::chat
