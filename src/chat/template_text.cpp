#include "chat/template_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <limits>

#include "chat/template_lists.h"
#include "chat/template_markup.h"
#include "tokenizer/pipeline/piece_decoder.h"
#include "unicode/characters.h"
#include "unicode/letter_case.h"

namespace tril::chat {
namespace {

// The line ends of str.splitlines().
bool ends_line(char32_t c) {
  return (c >= 0x0a && c <= 0x0d) || (c >= 0x1c && c <= 0x1e) || c == 0x85 || c == 0x2028 || c == 0x2029;
}

}  // namespace

bool is_python_space(char32_t c) {
  return (c >= 0x1c && c <= 0x1f) || (CharacterKinds::table()(c) & kind_space) != 0;
}

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

// Removes the characters of `which` (by default white space) from the ends.
std::string stripped(std::string_view s, const Value* which, Ends ends, Budget& budget) {
  const bool any_space = !which || which->is_none();
  const std::string set = any_space ? "" : text_of(*which, "strip");
  const auto goes = [&](std::string_view one) {
    budget.pay_text(set.size());
    return any_space ? is_python_space(character_at(one, 0).code) : set.find(one) != set.npos;
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
    return is_python_space(c.code) ||
           (c.code < 0x80 && std::string_view("-({[<").find(s[at]) != std::string_view::npos);
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

std::size_t find_text(std::string_view s, std::string_view what, std::size_t from, Budget& budget) {
  if (from > s.size()) return s.npos;
  const void* const found = ::memmem(s.data() + from, s.size() - from, what.data(), what.size());
  const std::size_t at = found ? static_cast<std::size_t>(static_cast<const char*>(found) - s.data()) : s.npos;
  // About ten nanoseconds a byte, ten times a copy's, if nearly every place of `s` looks like `what`.
  budget.pay(1 + what.size() + (found ? at : s.size()) - from);
  return at;
}

std::size_t find_last_text(std::string_view s, std::string_view what, Budget& budget) {
  // Both are reversed and searched from the left, since find_text() takes time linear in the sum of their lengths.
  const std::string turned(s.rbegin(), s.rend()), turned_what(what.rbegin(), what.rend());
  budget.pay_text(s.size() + what.size());
  const std::size_t found = find_text(turned, turned_what, 0, budget);
  return found == s.npos ? s.npos : s.size() - found - what.size();
}

std::optional<Part> part_of(std::string_view s, const Value* from, const Value* to) {
  const std::int64_t n = length_of(s);
  const auto place = [&](const Value* v, std::int64_t otherwise) {
    if (!v || v->is_none()) return otherwise;
    const auto i = v->integer();
    if (!i) refuse(fmt::format("a position in a string is {}, expected an integer", v->type_name()));
    return *i < 0 ? std::max<std::int64_t>(0, *i + n) : *i;
  };
  const std::int64_t begin = place(from, 0), end = std::min(place(to, n), n);
  if (begin > n || begin > end) return std::nullopt;
  std::size_t first = 0, last = 0;
  std::int64_t i = 0;
  for (; i < begin; ++i) first += character_at(s, first).length;
  for (last = first; i < end; ++i) last += character_at(s, last).length;
  return Part{s.substr(first, last - first), begin};
}

std::string replaced(std::string_view s, std::string_view from, std::string_view to, std::int64_t most,
                     Budget& budget) {
  most = std::max<std::int64_t>(most, -1);
  std::string out;
  const auto add = [&](std::string_view before) {
    out.append(before).append(to);
    budget.pay(4 + (before.size() + to.size()) / 8);
    if (out.size() > longest_text) refuse("replace: the string becomes too long");
  };
  if (from.empty()) {  // before each character, and at the end
    std::size_t at = 0;
    for (; at < s.size() && most != 0; --most) {
      add("");
      const std::size_t length = character_at(s, at).length;
      out.append(s.substr(at, length));
      at += length;
    }
    if (most != 0) add("");
    return out.append(s.substr(at));
  }
  std::size_t at = 0;
  for (std::size_t found = find_text(s, from, 0, budget); found != s.npos && most != 0;
       found = find_text(s, from, at, budget), --most) {
    add(s.substr(at, found - at));
    at = found + from.size();
  }
  return out.append(s.substr(at));
}

namespace {

std::vector<std::string_view> split_at_space(std::string_view s, std::int64_t most, bool from_right, Budget& budget) {
  std::vector<std::string_view> parts;
  const auto strip = [&](Ends ends) {
    while (!s.empty()) {
      const std::size_t at = ends == left ? 0 : last_character(s, s.size());
      const Character c = character_at(s, at);
      if (!is_python_space(c.code)) break;
      ends == left ? s.remove_prefix(c.length) : s.remove_suffix(c.length);
    }
  };
  for (strip(from_right ? right : left); !s.empty(); strip(from_right ? right : left), --most) {
    std::size_t at = from_right ? s.size() : 0;
    if (most == 0) {
      parts.push_back(s);  // with its white space on the far side
      break;
    }
    if (from_right)
      while (at > 0 && !is_python_space(character_at(s, last_character(s, at)).code)) at = last_character(s, at);
    else
      while (at < s.size() && !is_python_space(character_at(s, at).code)) at += character_at(s, at).length;
    parts.push_back(from_right ? s.substr(at) : s.substr(0, at));
    budget.pay(8 + parts.back().size() / 8);
    from_right ? s.remove_suffix(s.size() - at) : s.remove_prefix(at);
  }
  return parts;
}

}  // namespace

std::vector<std::string_view> split(std::string_view s, const Value* by, std::int64_t most, bool from_right,
                                    Budget& budget) {
  most = std::max<std::int64_t>(most, -1);
  std::vector<std::string_view> parts;
  const auto add = [&](std::string_view part) {
    budget.pay(8 + part.size() / 8);
    parts.push_back(part);
  };
  if (!by || by->is_none()) {
    parts = split_at_space(s, most, from_right, budget);
    if (from_right) std::reverse(parts.begin(), parts.end());
    return parts;
  }
  const std::string& sign = text_of(*by, "split");
  if (sign.empty()) refuse("split: the separator is empty");
  if (from_right) {
    // Both are reversed and searched from the left, since find_text() takes time linear in the sum of their lengths.
    budget.pay_text(s.size() + sign.size());
    const std::string turned(s.rbegin(), s.rend()), turned_sign(sign.rbegin(), sign.rend());
    std::string_view rest = turned;
    for (std::size_t found = find_text(rest, turned_sign, 0, budget); found != rest.npos && most != 0;
         found = find_text(rest, turned_sign, 0, budget), --most) {
      add(s.substr(s.size() - found));
      s.remove_suffix(found + sign.size());
      rest.remove_prefix(found + sign.size());
    }
    add(s);
    std::reverse(parts.begin(), parts.end());
    return parts;
  }
  for (std::size_t found = find_text(s, sign, 0, budget); found != s.npos && most != 0;
       found = find_text(s, sign, 0, budget), --most) {
    add(s.substr(0, found));
    s.remove_prefix(found + sign.size());
  }
  add(s);
  return parts;
}

std::vector<std::string_view> lines_of(std::string_view s, bool keep_ends, Budget& budget) {
  std::vector<std::string_view> lines;
  for (std::size_t at = 0; at < s.size();) {
    std::size_t end = at, next = s.size();
    for (; end < s.size(); end += character_at(s, end).length) {
      const Character c = character_at(s, end);
      if (!ends_line(c.code)) continue;
      next = end + (s.substr(end).starts_with("\r\n") ? 2 : c.length);
      break;
    }
    budget.pay(8 + (next - at));
    lines.push_back(s.substr(at, (keep_ends ? next : end) - at));
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
    if (out.size() > longest_text) refuse("join: the string becomes too long");
  }
  return out;
}

std::int64_t room_in(std::int64_t width, std::string_view s) {
  return std::max<std::int64_t>(width, 0) - length_of(s);
}

std::string padded(std::string_view s, std::int64_t before, std::int64_t after, std::string_view with, Budget& budget) {
  const auto room = static_cast<std::int64_t>(longest_text);
  if (before > room || after > room || std::max<std::int64_t>(before, 0) + std::max<std::int64_t>(after, 0) > room)
    refuse("a string becomes too long");
  std::string out;
  budget.pay_text(static_cast<std::size_t>(std::max<std::int64_t>(0, before) + std::max<std::int64_t>(0, after)) * 8);
  for (; before > 0; --before) out += with;
  out += s;
  for (; after > 0; --after) out += with;
  return out;
}

std::string centered(std::string_view s, std::int64_t width, std::string_view with, Budget& budget) {
  const std::int64_t room = room_in(width, s);
  if (room <= 0) return std::string(s);
  const std::int64_t before = room / 2 + (room & width & 1);  // the odd one goes where CPython puts it
  return padded(s, before, room - before, with, budget);
}

std::string indented(std::string_view s, const Arguments& a, Budget& budget) {
  const Value* width = argument(a, 0, "width");
  const std::int64_t blanks = width && width->get<std::string>() ? 0 : number_argument(a, 0, "width", 4);
  const std::string by = width && width->get<std::string>()
                             ? *width->get<std::string>()
                             : std::string(static_cast<std::size_t>(std::clamp<std::int64_t>(blanks, 0, 101)), ' ');
  if (by.size() > 100) refuse("indent: more than 100 characters are not supported");
  const bool first = flag_argument(a, 1, "first", false), blank = flag_argument(a, 2, "blank", false);
  std::string out = first ? by : "";
  const std::string whole = std::string(s) + "\n";
  bool later = false;
  for (std::string_view line : lines_of(whole, false, budget)) {
    if (later) out.append("\n").append(blank || !line.empty() ? by : "");
    out += line;
    later = true;
    if (out.size() > longest_text) refuse("indent: the string becomes too long");
  }
  return out;
}

Value truncated(const Value& value, const Arguments& a, Budget& budget) {
  const std::int64_t length = number_argument(a, 0, "length", 255), leeway = whole_argument(a, 3, "leeway", 5);
  const Value* given = argument(a, 2, "end");
  const std::string end = given ? text_of(*given, "truncate") : "...";
  if (length < length_of(end)) refuse(fmt::format("truncate: the length is {}, less than that of the end", length));
  if (leeway < 0) refuse("truncate: the leeway is below 0");
  constexpr std::int64_t half = std::numeric_limits<std::int64_t>::max() / 2;  // no text is that long
  const std::int64_t kept_whole = std::min(length, half) + std::min(leeway, half);
  const auto* s = value.get<std::string>();
  if (!s && (value.is_undefined() || value.get<List>() || value.get<Dict>()) &&
      *length_value(value).integer() <= kept_whole)
    return value;
  if (!s) refuse(fmt::format("truncate takes a string, not {}", value.type_name()));
  if (length_of(*s) <= kept_whole) return value;
  const Value zero = std::int64_t{0}, most = length - length_of(end);
  std::string_view kept = part_of(*s, &zero, &most)->text;
  if (!flag_argument(a, 1, "killwords", false)) {
    const std::size_t blank = kept.rfind(' ');
    if (blank != kept.npos) kept = kept.substr(0, blank);
  }
  return sum_of_texts(Value::text_like(value, std::string(kept)), given ? *given : Value(end), budget);
}

std::int64_t count_words(std::string_view s) {
  std::int64_t n = 0;
  bool within = false;
  for (std::size_t at = 0; at < s.size();) {
    const Character c = character_at(s, at);
    const bool word = c.code == '_' || (c.code != Character::not_utf8 &&
                                        (CharacterKinds::table()(c.code) & (kind_letter | kind_number)) != 0);
    n += word && !within ? 1 : 0;
    within = word;
    at += c.length;
  }
  return n;
}

}  // namespace tril::chat
