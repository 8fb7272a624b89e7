#include "trace/edit.h"

#include <array>
#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>
#include <utility>

#include "base/as_size.h"

namespace tril::trace {
namespace {

using Action = Edit::Action;

struct Verb {
  std::string_view name;
  Action action;
  bool takes_number = false;
};
constexpr std::array verbs{Verb{"zero", Action::zero},
                           Verb{"mean", Action::mean},
                           Verb{"scale", Action::scale, true},
                           Verb{"uniform", Action::uniform},
                           Verb{"temperature", Action::temperature, true},
                           Verb{"all", Action::all},
                           Verb{"causal", Action::causal},
                           Verb{"window", Action::window, true},
                           Verb{"skip", Action::skip},
                           Verb{"patch", Action::patch}};

constexpr const char* form = "POINT[HEAD]@TOKEN=ACTION, such as \"decoder.3.self.heads[2]=zero\"";

std::int64_t index_of(std::string_view digits, std::string_view edit) {
  std::int64_t n = -1;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), n);
  if (error != std::errc() || end != digits.data() + digits.size() || n < 0)
    fail_usage(std::string(edit), fmt::format("\"{}\" is not an index", digits), "heads and tokens count from 0");
  return n;
}

// The point's name, its head and its token.
void read_point(Edit& e, std::string_view point) {
  if (const std::size_t at = point.rfind('@'); at != std::string_view::npos)
    e.token = index_of(point.substr(at + 1), e.text), point = point.substr(0, at);
  if (point.ends_with(']')) {
    const std::size_t open = point.rfind('[');
    if (open == std::string_view::npos) fail_usage(e.text, "a bracket is not opened", form);
    e.head = index_of(point.substr(open + 1, point.size() - open - 2), e.text);
    point = point.substr(0, open);
  }
  if (point.empty()) fail_usage(e.text, "it names no point", fmt::format("the form is {}", form));
  e.pattern = point;
}

void read_action(Edit& e, std::string_view action) {
  const std::size_t blank = action.find(' ');
  const std::string_view name = action.substr(0, blank);
  std::vector<std::string> names;
  for (const Verb& v : verbs) {
    names.emplace_back(v.name);
    if (v.name != name) continue;
    e.action = v.action;
    if (v.takes_number != (blank != std::string_view::npos))
      fail_usage(e.text,
                 v.takes_number ? fmt::format("{} needs a number", name) : fmt::format("{} takes no number", name),
                 v.takes_number ? fmt::format("such as \"{} 2\"", name) : "");
    if (!v.takes_number) return;
    const std::string_view digits = action.substr(blank + 1);
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), e.number);
    const bool whole = v.action != Action::window || (e.number == std::floor(e.number) && e.number <= 1e9);
    const bool positive = v.action == Action::scale || (e.number > 0 && std::isfinite(1 / e.number));
    if (error != std::errc() || end != digits.data() + digits.size() || !std::isfinite(e.number) || !whole || !positive)
      fail_usage(e.text, fmt::format("\"{}\" is no number that {} takes", digits, name),
                 v.action == Action::scale ? "a finite number" : "a positive one");
    return;
  }
  fail_usage(e.text, fmt::format("there is no action \"{}\"", name), did_you_mean(name, names));
}

// The place of one value: its token (or query), its head, its number within the rest (or key).
struct Layout {
  std::int64_t heads, tokens, rest;
  bool head_first;  // [H, Tq, Tk], not [N, H, d]
  std::size_t at(std::int64_t h, std::int64_t t, std::int64_t i) const {
    return as_size(head_first ? (h * tokens + t) * rest + i : (t * heads + h) * rest + i);
  }
};

Layout layout_of(const Edit& e, const Tensor& x, std::int64_t heads) {
  const Shape s = x.shape();
  if (s.rank() == 3) return {s[0], s[1], s[2], true};
  if (s.rank() != 2) fail_usage(e.text, fmt::format("values of shape {} are not changed", s));
  const std::int64_t h = std::max<std::int64_t>(heads, 1);
  return {h, s[0], s[1] / h, false};
}

void check_indices(const Edit& e, const Layout& l, std::int64_t heads) {
  if (e.head && !l.head_first && heads == 0)
    fail_usage(e.text, "this point has no heads", "name q, k, v, heads, scores, mask or weights");
  if (e.head && *e.head >= l.heads)
    fail_usage(e.text, fmt::format("there is no head {}: the point has {}", *e.head, l.heads), "heads count from 0");
  if (e.token && *e.token >= l.tokens)
    fail_usage(e.text, fmt::format("there is no token {}: the text has {}", *e.token, l.tokens), "tokens count from 0");
}

template <class F>
void for_chosen(const Edit& e, const Layout& l, const F& change) {
  for (std::int64_t h = e.head.value_or(0); h < (e.head ? *e.head + 1 : l.heads); ++h)
    for (std::int64_t t = e.token.value_or(0); t < (e.token ? *e.token + 1 : l.tokens); ++t)
      for (std::int64_t i = 0; i < l.rest; ++i) change(h, t, i);
}

Tensor edited_mask(Context& c, const Edit& e, const Tensor& value) {
  const Layout l = layout_of(e, value, 0);
  if (e.head && l.heads == 1)
    fail_usage(e.text, "all heads share this mask", "leave the head out, or change its scores");
  check_indices(e, l, 0);
  std::vector<std::uint8_t> mask = host_copy<std::uint8_t>(value);
  for_chosen(e, l, [&](std::int64_t h, std::int64_t query, std::int64_t key) {
    const std::int64_t position = query + l.rest - l.tokens;  // the last query's is the last key's
    bool sees = true;
    if (e.action != Action::all) sees = key <= position;
    if (e.action == Action::window) sees = sees && key > position - static_cast<std::int64_t>(e.number);
    mask[l.at(h, query, key)] = sees ? 1 : 0;
  });
  return c.upload<std::uint8_t>(mask, value.shape());
}

void take_mean(const Edit& e, const Layout& l, std::vector<float>& values) {
  if (l.head_first) fail_usage(e.text, "weights and scores have no mean over tokens", "use \"*.scores=uniform\"");
  std::vector<double> sums(as_size(l.heads * l.rest), 0.0);
  const auto sum_of = [&](std::int64_t h, std::int64_t i) -> double& { return sums[as_size(h * l.rest + i)]; };
  for (std::int64_t t = 0; t < l.tokens; ++t)
    for (std::int64_t h = 0; h < l.heads; ++h)
      for (std::int64_t i = 0; i < l.rest; ++i) sum_of(h, i) += static_cast<double>(values[l.at(h, t, i)]);
  for_chosen(e, l, [&](std::int64_t h, std::int64_t t, std::int64_t i) {
    values[l.at(h, t, i)] = static_cast<float>(sum_of(h, i) / static_cast<double>(l.tokens));
  });
}

void take_patch(const Edit& e, const Layout& l, std::vector<float>& values, const Donor& donor) {
  if (!donor.value) fail_usage(e.text, "there is no other text to take the value from", "give one as `patch_text`");
  const std::vector<float> from = donor.value->floats();
  const std::vector<std::int64_t>& shape = donor.value->shape;
  // Its tokens, and of scores and weights its keys; every other size is the model's.
  const std::int64_t n = shape.empty() ? 0 : shape[l.head_first ? 1 : 0];
  const Layout given{l.heads, n, l.head_first && shape.size() == 3 ? shape[2] : l.rest, l.head_first};
  const bool fits = std::ssize(from) == given.heads * given.tokens * given.rest;
  const bool same = n == l.tokens && given.rest == l.rest;
  const bool has_token = e.token && *e.token < n && given.rest == l.rest;
  const bool is_beginning = donor.of_first_tokens && n <= l.tokens && given.rest <= l.rest;
  if (!fits || !(same || has_token || is_beginning))
    fail_usage(e.text, fmt::format("the other text has {} values here, this one {}", from.size(), values.size()),
               "patch one token (@5) that both have, or give texts of as many tokens");
  for_chosen(e, l, [&](std::int64_t h, std::int64_t t, std::int64_t i) {
    if (t < given.tokens && i < given.rest) values[l.at(h, t, i)] = from[given.at(h, t, i)];
  });
}

}  // namespace

Edit parse_edit(std::string_view text) {
  Edit e;
  e.text = text;
  const std::size_t equals = text.find('=');
  if (equals == std::string_view::npos || equals + 1 == text.size())
    fail_usage(e.text, "it says no action", fmt::format("the form is {}", form));
  read_point(e, text.substr(0, equals));
  if (e.pattern.ends_with(".tokens") || e.pattern == "tokens") {
    if (!e.token || e.head)
      fail_usage(e.text, "it does not say which token is replaced", "such as \"encoder.tokens@2=Haus\" or \"…@2=#17\"");
    e.action = Action::token, e.piece = text.substr(equals + 1);
    return e;
  }
  read_action(e, text.substr(equals + 1));
  if (e.action == Action::skip && (e.head || e.token))
    fail_usage(e.text, "a step is left out for all tokens and heads", "use zero for some of them");
  return e;
}

Tensor edited(Context& c, const Edit& e, const Tensor& value, std::int64_t heads, const Donor& donor) {
  const bool of_mask = e.action == Action::all || e.action == Action::causal || e.action == Action::window;
  const bool is_mask = value.dtype() == DType::u8;
  if (of_mask != is_mask)
    fail_usage(e.text, is_mask ? "a mask is changed by all, causal or window" : "only a mask takes this action",
               is_mask ? "such as \"*.self.mask=all\"" : "such as \"*.self.mask=all\", with a pattern of masks alone");
  if (is_mask) return edited_mask(c, e, value);
  if (value.dtype() != DType::f32) fail_usage(e.text, "this point's values are not changed");
  const Layout l = layout_of(e, value, heads);
  check_indices(e, l, heads);
  std::vector<float> values = host_copy<float>(value);
  const auto times = [&](double factor) {
    for_chosen(e, l, [&](std::int64_t h, std::int64_t t, std::int64_t i) {
      float& v = values[l.at(h, t, i)];
      const auto result = static_cast<float>(static_cast<double>(v) * factor);
      if (!std::isfinite(result) && result != v)
        fail_usage(e.text, fmt::format("{} times {} leaves float32", v, factor), "give a number nearer to 1");
      v = result;
    });
  };
  switch (e.action) {
    case Action::scale:
      times(e.number);
      break;
    case Action::temperature:
      times(1 / e.number);
      break;
    case Action::mean:
      take_mean(e, l, values);
      break;
    case Action::patch:
      take_patch(e, l, values, donor);
      break;
    default:  // zero, and equal scores for equal weights
      for_chosen(e, l, [&](std::int64_t h, std::int64_t t, std::int64_t i) { values[l.at(h, t, i)] = 0; });
  }
  return c.upload<float>(values, value.shape());
}

}  // namespace tril::trace
