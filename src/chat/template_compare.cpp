// Equality and order of a chat template's values, in time bounded by their size: members of mappings are looked up in
// sorted order.
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <compare>
#include <memory>

#include "chat/template_arguments.h"
#include "chat/template_value.h"

namespace tril::chat {
namespace {

std::partial_ordering order_of(std::int64_t i, double d) {
  constexpr double bound = 0x1p63;
  if (std::isnan(d)) return std::partial_ordering::unordered;
  if (d >= bound) return std::partial_ordering::less;
  if (d < -bound) return std::partial_ordering::greater;
  const double whole = std::trunc(d);
  const auto towards_zero = static_cast<std::int64_t>(whole);
  return i == towards_zero ? whole <=> d : i <=> towards_zero;
}

// Compares two numbers exactly: no integer is rounded to a float first.
std::partial_ordering order_of_numbers(const Value& a, const Value& b) {
  const auto i = a.integer(), j = b.integer();
  if (i && j) return *i <=> *j;
  if (i) return order_of(*i, *b.number());
  if (j) return 0 <=> order_of(*j, *a.number());
  return *a.number() <=> *b.number();
}

// ---- Sets

// Sort order of keys by kind. Kinds that cannot be keys all share a rank.
int rank_of(const Value& value) {
  if (value.number()) return 0;
  if (value.get<std::string>()) return 1;
  if (value.is_tuple()) return 2;
  if (value.is_range()) return 3;
  if (value.is_none()) return 4;
  if (value.is_undefined()) return 5;
  if (value.get<std::shared_ptr<Namespace>>()) return 6;
  if (value.get<std::shared_ptr<Generator>>()) return 7;
  return value.get<Callable>() ? 8 : 9;
}

std::weak_ordering key_order(const Value& a, const Value& b) {
  if (const int x = rank_of(a), y = rank_of(b); x != y) return x <=> y;
  if (a.number()) {
    const std::partial_ordering order = order_of_numbers(a, b);
    if (order < 0) return std::weak_ordering::less;
    if (order > 0) return std::weak_ordering::greater;
    if (order == 0) return std::weak_ordering::equivalent;
    // NaN equals nothing. It sorts last, by address.
    const bool x = std::isnan(*a.number()), y = std::isnan(*b.number());
    return x && y ? std::weak_ordering(std::compare_three_way{}(&a, &b)) : x <=> y;
  }
  if (const auto* x = a.get<std::string>(), *y = b.get<std::string>(); x && y) return *x <=> *y;
  if (a.is_tuple() || a.is_range()) {
    const List &x = *a.get<List>(), &y = *b.get<List>();
    return std::lexicographical_compare_three_way(x.begin(), x.end(), y.begin(), y.end(), key_order);
  }
  const std::compare_three_way by_place;
  if (const auto* x = a.get<std::shared_ptr<Namespace>>(), *y = b.get<std::shared_ptr<Namespace>>(); x && y)
    return by_place(x->get(), y->get());
  if (const auto* x = a.get<std::shared_ptr<Generator>>(), *y = b.get<std::shared_ptr<Generator>>(); x && y)
    return by_place(x->get(), y->get());
  if (const auto* x = a.get<Callable>(), *y = b.get<Callable>(); x && y) return by_place(x, y);
  return std::weak_ordering::equivalent;
}

const Value& key_of(const Value& one) {
  return one;
}
const Value& key_of(const Dict::value_type& member) {
  return member.first;
}
bool equal_members(const Value& a, const Value& b) {
  return equal(a, b);
}
bool equal_members(const Dict::value_type& a, const Dict::value_type& b) {
  return equal(a.first, b.first) && equal(a.second, b.second);
}

// Whether two lists, each without duplicate keys, have the same members. Usually both are in the same order; from the
// first difference on, those of `y` are sorted.
template <class Members>
bool equal_sets(const Members& x, const Members& y) {
  if (x.size() != y.size()) return false;
  std::size_t same = 0;
  for (; same < x.size() && equal(key_of(x[same]), key_of(y[same])); ++same)
    if (!equal_members(x[same], y[same])) return false;
  using Member = typename Members::value_type;
  std::vector<const Member*> sorted;
  for (std::size_t i = same; i < y.size(); ++i) sorted.push_back(&y[i]);
  const auto before = [](const Member* a, const Member* b) { return key_order(key_of(*a), key_of(*b)) < 0; };
  std::sort(sorted.begin(), sorted.end(), before);
  return std::all_of(x.begin() + static_cast<std::ptrdiff_t>(same), x.end(), [&](const Member& one) {
    const auto [begin, end] = std::equal_range(sorted.begin(), sorted.end(), &one, before);
    return std::any_of(begin, end, [&](const Member* other) { return equal_members(one, *other); });
  });
}

// Views of keys and of pairs compare as sets.
bool equal_sequences(const Value& a, const Value& b) {
  const List &x = *a.get<List>(), &y = *b.get<List>();
  const bool sets = (a.sequence() == Sequence::keys || a.sequence() == Sequence::items) && b.is_view() &&
                    b.sequence() != Sequence::values;
  if (sets) return equal_sets(x, y);
  if (a.is_view() || b.is_view()) return &x == &y && a.sequence() == b.sequence();
  const bool alike = a.is_tuple() ? b.is_tuple() : a.sequence() == b.sequence();
  return alike && x.size() == y.size() && std::equal(x.begin(), x.end(), y.begin(), equal);
}

// ---- Order

[[noreturn]] void refuse_order(const Value& a, const Value& b) {
  refuse(fmt::format("{} and {} cannot be compared", a.type_name(), b.type_name()));
}

bool have_order(const Value& a, const Value& b) {
  return (a.number() && b.number()) || (a.get<std::string>() && b.get<std::string>()) ||
         (a.is_plain_list() && b.is_plain_list() && a.is_tuple() == b.is_tuple());
}

// The order of two comparable values. Lists compare by the first elements that differ.
std::partial_ordering order_of(const Value& a, const Value& b) {
  if (a.number()) return order_of_numbers(a, b);
  if (const auto* x = a.get<std::string>(), *y = b.get<std::string>(); x && y) return *x <=> *y;
  const List &x = *a.get<List>(), &y = *b.get<List>();
  for (std::size_t i = 0; i < std::min(x.size(), y.size()); ++i) {
    const bool ordered = have_order(x[i], y[i]);
    if (!ordered && !equal(x[i], y[i])) refuse_order(x[i], y[i]);
    if (!ordered) continue;
    if (const std::partial_ordering order = order_of(x[i], y[i]); order != 0) return order;
  }
  return x.size() <=> y.size();
}

}  // namespace

bool equal(const Value& a, const Value& b) {
  if (a.number() && b.number()) return order_of_numbers(a, b) == 0;
  if (const auto* x = a.get<std::string>(), *y = b.get<std::string>(); x && y) return *x == *y;
  if (a.get<List>() && b.get<List>()) return equal_sequences(a, b);
  if (const auto* x = a.get<Dict>(), *y = b.get<Dict>(); x && y) return equal_sets(*x, *y);
  if (const auto* x = a.get<std::shared_ptr<Namespace>>(), *y = b.get<std::shared_ptr<Namespace>>(); x && y)
    return *x == *y;
  if (const auto* x = a.get<std::shared_ptr<Generator>>(), *y = b.get<std::shared_ptr<Generator>>(); x && y)
    return *x == *y;
  if (const auto* x = a.get<Callable>(), *y = b.get<Callable>(); x && y) return x == y;
  return (a.is_none() && b.is_none()) || (a.is_undefined() && b.is_undefined());
}

bool less(const Value& a, const Value& b) {
  if (!have_order(a, b)) refuse_order(a, b);
  return order_of(a, b) < 0;
}

std::size_t cost_of_equal(const Value& a, const Value& b) {
  const std::size_t both = std::min(a.weight(), b.weight());
  const bool holds = (a.get<List>() && b.get<List>()) || (a.get<Dict>() && b.get<Dict>());
  return holds ? 8 * both * (1 + static_cast<std::size_t>(std::bit_width(both)) / 4)
               : 1 + both / 4;  // members are sorted
}

}  // namespace tril::chat
