#include "grammar/automata/grammar_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <numeric>
#include <vector>

#include "base/element.h"
#include "base/error.h"
#include "base/printable.h"
#include "grammar/expressions/pattern_of_regex.h"

namespace tril::search {
namespace {

std::string utf8(char32_t c) {
  const auto byte = [](std::uint32_t value) { return static_cast<char>(static_cast<unsigned char>(value)); };
  if (c < 0x80) return {byte(c)};
  if (c < 0x800) return {byte(0xc0 | c >> 6), byte(0x80 | (c & 0x3f))};
  if (c < 0x10000) return {byte(0xe0 | c >> 12), byte(0x80 | (c >> 6 & 0x3f)), byte(0x80 | (c & 0x3f))};
  return {byte(0xf0 | c >> 18), byte(0x80 | (c >> 12 & 0x3f)), byte(0x80 | (c >> 6 & 0x3f)), byte(0x80 | (c & 0x3f))};
}

constexpr CharRange ascii{0, 0x7f};
/// ASCII characters that a JSON string holds unescaped.
const CharSet json_plain{{0x20, 0x21}, {0x23, 0x5b}, {0x5d, 0x7f}};

std::string no_token_for(char32_t c) {
  return fmt::format("the vocabulary has no token for \"{}\", which it requires", printable(utf8(c)));
}

}  // namespace

bool GrammarWriter::can_write(std::string_view text) const {
  const std::u32string points = code_points(text, "constraint");
  return std::all_of(points.begin(), points.end(), [&](char32_t c) {
    return !intersection({{c, c}}, alphabet_).empty();
  });
}

void GrammarWriter::write_text(std::string_view text, std::int32_t from, std::int32_t to) {
  for (const char32_t c : code_points(text, "constraint"))
    if (intersection({{c, c}}, alphabet_).empty())
      fail_usage("constraint", no_token_for(c), "use a model whose vocabulary has all bytes");
  grammar_->add_jump(grammar_->add_text(from, text), to);
}

void GrammarWriter::write_pattern(const Pattern& pattern, std::int32_t from, std::int32_t to) {
  write_states(pattern, Form::plain, from, to);
}

void GrammarWriter::write_json_string(const Pattern& pattern, std::int32_t from, std::int32_t to) {
  const std::int32_t begin = grammar_->add_state(), end = grammar_->add_state();
  write_text("\"", from, begin);
  write_states(pattern, Form::json, begin, end);
  write_text("\"", end, to);
}

void GrammarWriter::write_states(const Pattern& pattern, Form form, std::int32_t from, std::int32_t to) {
  std::vector<std::int32_t> at;
  for (std::size_t s = 0; s < pattern.states().size(); ++s) at.push_back(grammar_->add_state());
  grammar_->add_jump(from, element(at, pattern.start()));
  grammar_->add_jump(element(at, pattern.end()), to);
  for (std::size_t s = 0; s < pattern.states().size(); ++s) {
    for (const std::int32_t next : pattern.states()[s].jumps) grammar_->add_jump(at[s], element(at, next));
    for (const Pattern::Edge& e : pattern.states()[s].edges) write_chars(e.on, form, at[s], element(at, e.to));
  }
}

// ASCII as edges, since most text is ASCII; the rest as a rule shared by all edges of the same characters.
void GrammarWriter::write_chars(const CharSet& chars, Form form, std::int32_t from, std::int32_t to) {
  const CharSet usable = intersection(chars, alphabet_);
  const CharSet direct = intersection(usable, form == Form::plain ? CharSet{ascii} : json_plain);
  for (const CharRange& r : direct)
    grammar_->add_edge(from, static_cast<unsigned char>(r.least), static_cast<unsigned char>(r.most), to);
  // An escape is spelt in ASCII, so the character needs no token of its own.
  const CharSet rest =
      form == Form::plain ? intersection(usable, complement(direct)) : intersection(chars, complement(json_plain));
  if (!rest.empty()) grammar_->add_call(from, rule_of(chars == all_chars() ? chars : rest, form), to);
  if (direct.empty() && rest.empty() && !chars.empty() && lacking_.empty()) lacking_ = no_token_for(chars[0].least);
}

std::int32_t GrammarWriter::rule_of(const CharSet& chars, Form form) {
  std::u32string name;
  for (const CharRange& r : chars) name += r.least, name += r.most;
  const auto [found, fresh] = rules_.try_emplace({name, form}, 0);
  if (!fresh) return found->second;
  const std::int32_t rule = found->second = grammar_->add_rule();
  const auto [start, end] = grammar_->rule(rule);
  const CharSet usable = intersection(chars, alphabet_);
  for (const CharRange& r : form == Form::plain ? usable : intersection(usable, {{0x80, last_char}}))
    write_utf8(r, start, end);
  if (form == Form::json) write_escapes(chars, start, end);
  if (form == Form::json && chars == all_chars()) write_any_escape(start, end);
  return rule;
}

// A range is one sequence of byte ranges if its ends have equally many bytes and all bytes after the first that differs
// span their full range; other ranges are split until that holds.
void GrammarWriter::write_utf8(const CharRange& range, std::int32_t from, std::int32_t to) {
  for (const char32_t last : {char32_t{0x7f}, char32_t{0x7ff}, char32_t{0xffff}})
    if (range.least <= last && range.most > last) {
      write_utf8({range.least, last}, from, to);
      write_utf8({last + 1, range.most}, from, to);
      return;
    }
  const std::size_t bytes = utf8(range.least).size();
  for (std::size_t tail = 1; tail < bytes; ++tail) {  // the lowest 6 * tail bits
    const char32_t mask = (char32_t{1} << (6 * tail)) - 1;
    if ((range.least & ~mask) == (range.most & ~mask)) break;
    if ((range.least & mask) != 0) {
      write_utf8({range.least, range.least | mask}, from, to);
      write_utf8({(range.least | mask) + 1, range.most}, from, to);
      return;
    }
    if ((range.most & mask) != mask) {
      write_utf8({range.least, (range.most & ~mask) - 1}, from, to);
      write_utf8({range.most & ~mask, range.most}, from, to);
      return;
    }
  }
  const std::string least = utf8(range.least), most = utf8(range.most);
  for (std::size_t i = 0; i < bytes; ++i) {
    const std::int32_t next = i + 1 == bytes ? to : grammar_->add_state();
    grammar_->add_edge(from, static_cast<unsigned char>(least[i]), static_cast<unsigned char>(most[i]), next);
    from = next;
  }
}

// Characters that must be escaped: each in one form.
void GrammarWriter::write_escapes(const CharSet& chars, std::int32_t from, std::int32_t to) {
  constexpr std::array<std::pair<char32_t, char>, 7> short_forms{
      {{'"', '"'}, {'\\', '\\'}, {'\b', 'b'}, {'\f', 'f'}, {'\n', 'n'}, {'\r', 'r'}, {'\t', 't'}}};
  const auto write = [&](const std::string& form) {
    if (can_write(form)) write_text(form, from, to);
  };
  for (const CharRange& r : intersection(chars, {{0, 0x1f}, {'"', '"'}, {'\\', '\\'}}))
    for (char32_t c = r.least; c <= r.most; ++c) {
      const auto* const form =
          std::find_if(short_forms.begin(), short_forms.end(), [c](const auto& f) { return f.first == c; });
      write(form != short_forms.end() ? fmt::format("\\{}", form->second)
                                      : fmt::format("\\u{:04x}", static_cast<std::uint32_t>(c)));
    }
}

// \/ and \uHHHH of any character of the basic plane.
void GrammarWriter::write_any_escape(std::int32_t from, std::int32_t to) {
  if (can_write("\\/")) write_text("\\/", from, to);
  if (!can_write("\\u")) return;
  const auto hex = [&](std::int32_t a, std::string_view ranges, std::int32_t b) {
    for (std::size_t i = 0; i + 1 < ranges.size(); i += 2)
      for (char c = ranges[i]; c <= ranges[i + 1]; ++c)
        if (const auto point = static_cast<char32_t>(c); !intersection({{point, point}}, alphabet_).empty())
          grammar_->add_edge(a, static_cast<unsigned char>(c), static_cast<unsigned char>(c), b);
  };
  const std::int32_t begun = grammar_->add_state(), first = grammar_->add_state(), d = grammar_->add_state(),
                     second = grammar_->add_state(), third = grammar_->add_state();
  write_text("\\u", from, begun);
  hex(begun, "09acefACEF", first), hex(begun, "ddDD", d);
  hex(first, "09afAF", second), hex(d, "07", second);  // d800 to dfff are halves of pairs
  hex(second, "09afAF", third);
  hex(third, "09afAF", to);
}

namespace {

constexpr int most_digits = 15;

std::int64_t power(int n) {
  std::int64_t p = 1;
  for (int i = 0; i < n; ++i) p *= 10;
  return p;
}

int digits_of(std::int64_t n) {
  int count = 1;
  for (; n >= 10; n /= 10) ++count;
  return count;
}

}  // namespace

// A state is the digits left, whether the digits so far equal those of a bound, and the remainder so far. Strictly
// within the bounds, equal digits left and equal remainder are the same state.
void GrammarWriter::write_digits(const Digits& form, std::int64_t least, std::int64_t most, std::int32_t from,
                                 std::int32_t to) {
  using Key = std::tuple<int, bool, bool, std::int64_t>;
  std::map<Key, std::int32_t> known;
  const auto digit_of = [&](std::int64_t n, int place) { return n / power(form.count - 1 - place) % 10; };
  std::vector<std::pair<Key, std::int32_t>> pending{{{0, true, true, 0}, from}};
  const auto reach = [&](const Key& key) {
    const auto [at, fresh] = known.try_emplace(key, 0);
    if (fresh) {
      at->second = grammar_->add_state();
      pending.emplace_back(key, at->second);
    }
    return at->second;
  };
  while (!pending.empty()) {
    auto [key, state] = pending.back();
    pending.pop_back();
    const auto [place, at_least, at_most, remainder] = key;
    if (place == form.count) {
      if ((remainder == 0) == form.steps.divides) grammar_->add_jump(state, to);
      continue;
    }
    if (form.steps.fraction > 0 && place == form.count - form.steps.fraction) state = grammar_->add_text(state, ".");
    const std::int64_t low = at_least ? digit_of(least, place) : 0, high = at_most ? digit_of(most, place) : 9;
    // The remaining digits add multiples of 10^left, so only the remainder modulo the rest of the divisor matters.
    const int left = std::min(form.count - place - 1, 17);
    const std::int64_t divisor = form.steps.multiple_of / std::gcd(form.steps.multiple_of, power(left));
    for (std::int64_t d = low; d <= high; ++d) {
      const std::int32_t next =
          reach({place + 1, at_least && d == low, at_most && d == high, (remainder * 10 + d) % divisor});
      const auto byte = static_cast<unsigned char>('0' + d);
      grammar_->add_edge(state, byte, byte, next);
    }
  }
}

// least and most are in units of the last digit.
void GrammarWriter::write_magnitudes(std::int64_t least, std::int64_t most, const Steps& steps, std::int32_t from,
                                     std::int32_t to) {
  if (least > most) return;
  const int shortest = steps.fraction + 1;  // one digit before the point
  for (int count = shortest; count <= std::max(shortest, digits_of(most)); ++count) {
    const std::int64_t low = std::max(least, count == shortest ? 0 : power(count - 1));
    const std::int64_t high = count >= 18 ? most : std::min(most, power(count) - 1);
    if (low <= high) write_digits({count, steps}, low, high, from, to);
  }
}

void GrammarWriter::write_integers(std::optional<std::int64_t> least, std::optional<std::int64_t> most,
                                   std::int64_t multiple_of, std::int32_t from, std::int32_t to) {
  constexpr std::int64_t largest = 1'000'000'000'000'000'000;
  check(multiple_of >= 1 && multiple_of <= 1000, "multipleOf", "expected an integer from 1 to 1000, got {}",
        multiple_of);
  for (const auto& bound : {least, most})
    check(!bound || std::abs(*bound) < largest, "bound of integers", "{} is beyond 10^18", bound.value_or(0));
  const std::int64_t usual = power(most_digits) - 1;
  // If the one bound lies beyond the usual range, the other defaults to the end of numbers with as many digits.
  const std::int64_t high = most.value_or(std::max(usual, least && *least > usual ? power(digits_of(*least)) - 1 : 0));
  const std::int64_t low = least.value_or(std::min(-usual, most && *most < -usual ? 1 - power(digits_of(-*most)) : 0));
  write_magnitudes(std::max<std::int64_t>(low, 0), high, {0, multiple_of}, from, to);
  if (low < 0) {
    const std::int32_t minus = grammar_->add_text(from, "-");
    write_magnitudes(std::max<std::int64_t>(1, -high), -low, {0, multiple_of}, minus, to);
  }
}

namespace {

/// An exact decimal number: units * 10^exponent.
struct Decimal {
  std::int64_t units = 0;
  int exponent = 0;
};

Decimal decimal_of(double value) {
  std::array<char, 32> room;
  const auto [last, error] =
      std::to_chars(room.data(), room.data() + room.size(), value, std::chars_format::scientific);  // shortest form
  const std::string shortest(room.data(), last);
  Decimal d;
  const std::size_t e = shortest.find('e');
  for (const char ch : shortest.substr(0, e))
    if (ch >= '0' && ch <= '9') d.units = d.units * 10 + (ch - '0');
  const std::size_t point = shortest.find('.');
  d.exponent = std::stoi(shortest.substr(e + 1)) - (point == std::string::npos ? 0 : static_cast<int>(e - point) - 1);
  if (value < 0) d.units = -d.units;
  return d;
}

// The bound in units of 10^-fraction, rounded inwards: the least (greatest) whole number of units within it.
std::int64_t scaled(const GrammarWriter::Bound& bound, int fraction, bool is_least) {
  Decimal d = decimal_of(bound.value);
  const int shift = d.exponent + fraction;
  bool exact = true;
  if (shift >= 0) {
    check(d.units == 0 || digits_of(std::abs(d.units)) + shift <= 18, "bound of numbers", "{} is beyond 10^15",
          bound.value);
    d.units *= power(d.units == 0 ? 0 : shift);
  } else {
    for (int i = 0; i < -shift && i < 20; ++i) {  // floor
      const std::int64_t last = ((d.units % 10) + 10) % 10;
      exact = exact && last == 0;
      d.units = (d.units - last) / 10;
    }
    if (!exact && is_least) ++d.units;
  }
  if (exact && !bound.included) d.units += is_least ? 1 : -1;
  return d.units;
}

// Digits before the point of the numbers between the bounds.
int whole_digits(const std::optional<GrammarWriter::Bound>& least, const std::optional<GrammarWriter::Bound>& most) {
  int digits = least && most ? 1 : 9;
  for (const auto& bound : {least, most})
    if (bound) digits = std::max(digits, digits_of(static_cast<std::int64_t>(std::min(1e15, std::abs(bound->value)))));
  return digits;
}

}  // namespace

void GrammarWriter::write_decimals(const std::optional<Bound>& least, const std::optional<Bound>& most,
                                   std::int32_t from, std::int32_t to) {
  for (int fraction = 0; fraction <= most_digits - whole_digits(least, most); ++fraction)
    write_steps({fraction, 1}, least, most, from, to);
}

void GrammarWriter::write_steps(const Steps& steps, const std::optional<Bound>& least, const std::optional<Bound>& most,
                                std::int32_t from, std::int32_t to) {
  for (const auto& bound : {least, most})
    check(!bound || std::abs(bound->value) < 1e15, "bound of numbers", "{} is beyond 10^15", bound ? bound->value : 0);
  const int digits = std::min(most_digits, whole_digits(least, most) + steps.fraction);
  const std::int64_t beyond = power(digits) - 1;
  const std::int64_t low = least ? scaled(*least, steps.fraction, true) : -beyond;
  const std::int64_t high = most ? scaled(*most, steps.fraction, false) : beyond;
  write_magnitudes(std::max<std::int64_t>(low, 0), high, steps, from, to);
  if (low < 0) {
    const std::int32_t minus = grammar_->add_text(from, "-");
    write_magnitudes(std::max<std::int64_t>(1, -high), -low, steps, minus, to);
  }
}

Grammar regex_grammar(std::string_view regex, const CharSet& alphabet) {
  Grammar grammar;
  const std::int32_t whole = grammar.add_rule();
  const auto [start, end] = grammar.rule(whole);
  GrammarWriter writer(grammar, alphabet);
  writer.write_pattern(pattern_of_regex(regex, RegexMatch::whole), start, end);
  grammar.check_sound(writer.lacking());
  return grammar;
}

}  // namespace tril::search
