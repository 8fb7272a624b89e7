// The methods of strings that chat templates may call. Those of markup return markup, and escape their arguments.
#include <fmt/format.h>
#include <unicode/uchar.h>

#include <algorithm>
#include <array>

#include "chat/template_call.h"
#include "chat/template_format.h"
#include "chat/template_functions.h"
#include "chat/template_markup.h"
#include "chat/template_text.h"
#include "unicode/characters.h"
#include "unicode/letter_case.h"

namespace tril::chat {
namespace {

// The subject of the method.
const std::string& text_of_value(const Call& c) {
  return *c.value.get<std::string>();
}
Value like(const Call& c, std::string_view s) {
  return Value::text_like(c.value, std::string(s));
}
List all_like(const Call& c, const std::vector<std::string_view>& parts) {
  List list;
  for (std::string_view part : parts) list.push_back(like(c, part));
  return list;
}

template <Ends ends>
Value strip(const Call& c) {
  return like(c, stripped(text_of_value(c), argument(c.arguments, 0, "chars"), ends, c.budget));
}

template <std::string (*map)(std::string_view)>
Value string_in_case(const Call& c) {
  c.budget.pay(8 * text_of_value(c).size());
  return like(c, map(text_of_value(c)));
}

template <bool from_right>
Value split(const Call& c) {
  return all_like(c, split(text_of_value(c), argument(c.arguments, 0, "sep"),
                           number_argument(c.arguments, 1, "maxsplit", -1), from_right, c.budget));
}

Value split_lines(const Call& c) {
  return all_like(c, lines_of(text_of_value(c), flag_argument(c.arguments, 0, "keepends", false), c.budget));
}

// The part between arguments 1 and 2, in which argument 0 is searched.
std::optional<Part> searched(const Call& c) {
  c.budget.pay(4 * text_of_value(c).size());
  return part_of(text_of_value(c), argument(c.arguments, 1, "start"), argument(c.arguments, 2, "end"));
}

Value count_in_string(const Call& c) {
  const std::string& what = c.given_text(0, "sub");
  const std::optional<Part> part = searched(c);
  if (!part) return std::int64_t{0};
  if (what.empty()) return length_of(part->text) + 1;
  std::int64_t n = 0;
  for (std::size_t at = find_text(part->text, what, 0, c.budget); at != std::string::npos; ++n)
    at = find_text(part->text, what, at + what.size(), c.budget);
  return n;
}

// find and index, rfind and rindex: positions in characters.
template <bool last, bool must_be>
Value place(const Call& c) {
  const std::string& what = c.given_text(0, "sub");
  if (const std::optional<Part> part = searched(c)) {
    const std::size_t at = last ? find_last_text(part->text, what, c.budget) : find_text(part->text, what, 0, c.budget);
    if (at != std::string::npos) return part->begin + length_of(part->text.substr(0, at));
  }
  if (must_be) refuse(fmt::format("{}(): the text was not found", c.name));
  return std::int64_t{-1};
}

// startswith and endswith accept one text or a tuple of texts.
template <bool at_start>
Value has_end(const Call& c) {
  const std::optional<Part> part = searched(c);
  const auto has = [&](const Value& one) {
    const std::string& end = text_of(one, c.name);
    c.budget.pay_text(end.size());
    return part && (at_start ? part->text.starts_with(end) : part->text.ends_with(end));
  };
  const Value& what = c.given(0, "prefix");
  if (!what.is_tuple()) return has(what);
  const List& any = *what.get<List>();
  return std::any_of(any.begin(), any.end(), has);
}

Value join_by_string(const Call& c) {
  List parts = elements(c.given(0, "iterable"), c.budget);
  for (Value& part : parts)
    if (c.value.is_markup())
      part = to_markup(part, c.budget);
    else
      text_of(part, "join");
  return like(c, joined(parts, text_of_value(c), c.budget));
}

Value replace_in_string(const Call& c) {
  const std::string to = text_for(c.value, c.given(1, "new"), "replace", c.budget);
  return like(c, replaced(text_of_value(c), c.given_text(0, "old"), to, number_argument(c.arguments, 2, "count", -1),
                          c.budget));
}

template <bool last>
Value partition(const Call& c) {
  const std::string& sign = c.given_text(0, "sep");
  if (sign.empty()) refuse("partition: the separator is empty");
  const std::string_view s = text_of_value(c);
  const std::size_t at = last ? find_last_text(s, sign, c.budget) : find_text(s, sign, 0, c.budget);
  if (at == s.npos) return Value::tuple(last ? all_like(c, {"", "", s}) : all_like(c, {s, "", ""}));
  return Value::tuple(all_like(c, {s.substr(0, at), sign, s.substr(at + sign.size())}));
}

// ljust, rjust, center
Value justify(const Call& c) {
  const auto width = c.given(0, "width").integer();
  if (!width) refuse(fmt::format("{}() takes a width", c.name));
  const Value* given = argument(c.arguments, 1, "fillchar");
  const std::string with = given ? text_for(c.value, *given, c.name, c.budget) : " ";
  if (length_of(with) != 1) refuse(fmt::format("{}() takes one fill character", c.name));
  if (c.is("center")) return like(c, centered(text_of_value(c), *width, with, c.budget));
  const std::int64_t room = room_in(*width, text_of_value(c));
  return like(c, padded(text_of_value(c), c.is("rjust") ? room : 0, c.is("ljust") ? room : 0, with, c.budget));
}

Value zero_fill(const Call& c) {
  const auto width = c.given(0, "width").integer();
  if (!width) refuse("zfill() takes a width");
  const std::string_view s = text_of_value(c);
  const std::size_t sign = s.starts_with('-') || s.starts_with('+') ? 1 : 0;
  return like(c, std::string(s.substr(0, sign)) + padded(s.substr(sign), room_in(*width, s), 0, "0", c.budget));
}

Value expand_tabs(const Call& c) {
  const std::int64_t each = number_argument(c.arguments, 0, "tabsize", 8);
  if (each > 1000) refuse("expandtabs: more than 1000 blanks are not supported");
  std::string out;
  std::int64_t column = 0;
  for (std::string_view one : characters(text_of_value(c))) {
    if (one == "\t") {
      const std::int64_t blanks = each > 0 ? each - column % each : 0;
      c.budget.pay(static_cast<std::size_t>(blanks));
      out.append(static_cast<std::size_t>(blanks), ' ');
      column += blanks;
    } else {
      out += one;
      column = one == "\n" || one == "\r" ? 0 : column + 1;
    }
    if (out.size() > longest_text) refuse("expandtabs: the string becomes too long");
  }
  return like(c, out);
}

std::string swapped_case(std::string_view s) {
  std::string out;
  for (std::string_view one : characters(s)) {
    if (one == "Σ") refuse("swapcase of a capital sigma is not supported");
    out += is_upper_case(one) ? lower_case(one) : is_lower_case(one) ? upper_case(one) : std::string(one);
  }
  return out;
}

Value remove_prefix(const Call& c) {
  const std::string& end = c.given_text(0, "prefix");
  return like(c, text_of_value(c).starts_with(end) ? text_of_value(c).substr(end.size()) : text_of_value(c));
}
Value remove_suffix(const Call& c) {
  const std::string& end = c.given_text(0, "suffix");
  return like(c, text_of_value(c).ends_with(end) ? text_of_value(c).substr(0, text_of_value(c).size() - end.size())
                                                 : text_of_value(c));
}

template <bool (*holds)(std::string_view)>
Value is_cased(const Call& c) {
  c.budget.pay(8 * text_of_value(c).size());  // looks up each character's case
  return holds(text_of_value(c));
}

// Whether the text is not empty and all its characters satisfy `holds`.
template <bool (*holds)(UChar32)>
Value is_all(const Call& c) {
  c.budget.pay(8 * text_of_value(c).size());
  const std::vector<std::string_view> all = characters(text_of_value(c));
  return !all.empty() && std::all_of(all.begin(), all.end(), [](std::string_view one) {
    const Character character = character_at(one, 0);
    return character.code != Character::not_utf8 && holds(static_cast<UChar32>(character.code));
  });
}

int numeric_type(UChar32 c) {
  return u_getIntPropertyValue(c, UCHAR_NUMERIC_TYPE);
}
bool is_letter(UChar32 c) {
  return (U_GET_GC_MASK(c) & U_GC_L_MASK) != 0;
}
bool is_decimal(UChar32 c) {
  return numeric_type(c) == U_NT_DECIMAL;
}
bool is_digit(UChar32 c) {  // in any script, including small and circled digits
  return is_decimal(c) || numeric_type(c) == U_NT_DIGIT;
}
bool is_numeric(UChar32 c) {
  return numeric_type(c) != U_NT_NONE;
}
bool is_letter_or_number(UChar32 c) {
  return is_letter(c) || is_numeric(c);
}
bool is_space(UChar32 c) {
  return is_python_space(static_cast<char32_t>(c));
}

bool is_title_case(std::string_view s) {
  bool in_word = false, any = false;
  for (std::string_view one : characters(s)) {
    const Character c = character_at(one, 0);
    const bool title = c.code != Character::not_utf8 && u_charType(static_cast<UChar32>(c.code)) == U_TITLECASE_LETTER;
    const bool upper = title || is_upper_case(one), lower = !upper && is_lower_case(one);
    if ((upper && in_word) || (lower && !in_word)) return false;
    in_word = upper || lower;
    any = any || in_word;
  }
  return any;
}

bool is_ascii(std::string_view s) {
  return std::all_of(s.begin(), s.end(), [](char c) { return static_cast<unsigned char>(c) < 0x80; });
}

constexpr auto methods = std::to_array<Callee>({
    {"strip", "chars /", strip<both>},
    {"lstrip", "chars /", strip<left>},
    {"rstrip", "chars /", strip<right>},
    {"split", "sep maxsplit", split<false>},
    {"rsplit", "sep maxsplit", split<true>},
    {"splitlines", "keepends", split_lines},
    {"partition", "sep /", partition<false>},
    {"rpartition", "sep /", partition<true>},
    {"startswith", "prefix start end /", has_end<true>},
    {"endswith", "suffix start end /", has_end<false>},
    {"upper", "", string_in_case<upper_case>},
    {"lower", "", string_in_case<lower_case>},
    {"title", "", string_in_case<title_case>},
    {"capitalize", "", string_in_case<capital_case>},
    {"casefold", "", string_in_case<folded_case>},
    {"swapcase", "", string_in_case<swapped_case>},
    {"islower", "", is_cased<is_lower_case>},
    {"isupper", "", is_cased<is_upper_case>},
    {"istitle", "", is_cased<is_title_case>},
    {"isascii", "", is_cased<is_ascii>},
    {"isalpha", "", is_all<is_letter>},
    {"isalnum", "", is_all<is_letter_or_number>},
    {"isdigit", "", is_all<is_digit>},
    {"isdecimal", "", is_all<is_decimal>},
    {"isnumeric", "", is_all<is_numeric>},
    {"isspace", "", is_all<is_space>},
    {"replace", "old new count /", replace_in_string},
    {"find", "sub start end /", place<false, false>},
    {"rfind", "sub start end /", place<true, false>},
    {"index", "sub start end /", place<false, true>},
    {"rindex", "sub start end /", place<true, true>},
    {"count", "sub start end /", count_in_string},
    {"join", "iterable /", join_by_string},
    {"center", "width fillchar /", justify},
    {"ljust", "width fillchar /", justify},
    {"rjust", "width fillchar /", justify},
    {"zfill", "width /", zero_fill},
    {"expandtabs", "tabsize", expand_tabs},
    {"removeprefix", "prefix /", remove_prefix},
    {"removesuffix", "suffix /", remove_suffix},
    {"format", "...", [](const Call& c) { return brace_format(c.value, c.arguments, c.budget); }},
});

}  // namespace

Value find_string_method(const Value& value, std::string_view name, Budget& budget) {
  return bound_method(methods, value, name, budget);
}

}  // namespace tril::chat
