// Arrays as a grammar. A state knows how many items there were so far, as far as that matters, and how many of them
// each `contains` has counted: an item either matches and counts, or may be anything. If matches are limited, an item
// that does not count must not match.
//
// Items that must be unique differ in their text: listed values come in the order of the list, strings and whole
// numbers in ascending order of their first characters. Arrays of other items have at most one.
#include <fmt/format.h>

#include <map>

#include "base/element.h"
#include "grammar/expressions/pattern_of_regex.h"
#include "grammar/schemas/schema_judge.h"
#include "grammar/schemas/schema_output.h"

namespace tril::search {
namespace {

constexpr std::int64_t most_contained = 1'000;
constexpr std::size_t most_first_characters = 70;

class ArrayWriter {
 public:
  ArrayWriter(SchemaOutput& out, const PlacedBox& what)
      : out_(out),
        boxes_(out.boxes),
        box_(what.box),
        place_(boxes_.document().place(what.at)),
        least_(box_.least),
        most_(box_.most) {
    for (const SchemaId scope : box_.scopes) {
      const SchemaBoxes::Items parts = boxes_.items_of(scope);
      if (parts.first) given_ = std::max(given_, parts.first->size());
      has_rest_ = has_rest_ || parts.rest;
    }
    for (std::size_t i = 0; i < given_; ++i) first_.push_back(boxes_.item(box_.scopes, i));
    rest_ = boxes_.item(box_.scopes, given_);
    settle_counts();
  }

  void write(std::int32_t from, std::int32_t to) {
    if (!box_.unique || most_ == 0 || most_ == 1) return write_items(from, to);
    if (given_ == 0 && box_.contains.empty() && (write_listed(from, to) || write_by_first_character(from, to))) return;
    const Unsupported few("JSON schema: " + printable(place_ + "/uniqueItems"), why_few());
    if (least_ > 1) throw few;
    // Each `contains` may need an item of its own.
    if (box_.contains.size() > 1) boxes_.leave_out(few, Telling::where_nothing_is_left);
    most_ = 1;
    write_items(from, to);
  }

 private:
  // Why several unique items are not supported here, for the error.
  std::string why_few() const {
    if (given_ > 0)
      return "several unique items are supported only if all items have one schema, not with a list of schemas for the "
             "first ones";
    if (!box_.contains.empty()) return "several unique items are supported only for arrays without \"contains\"";
    return fmt::format(
        "{} unique items are supported only for at most 1000 listed values, for integers without bounds and factors, "
        "and for strings that can each begin with a different character",
        least_);
  }

  void settle_counts() {
    const auto given = static_cast<std::int64_t>(given_);
    has_rest_ = !boxes_.allows_none(rest_) && (has_rest_ || given == 0 || least_ > given || !box_.contains.empty());
    // A tuple is written to its end if possible.
    std::int64_t whole = most_ >= 0 ? std::min(given, most_) : given;
    for (std::int64_t i = 0; i < whole; ++i)
      if (boxes_.are_disjoint(element(first_, i))) whole = i;
    if (!box_.unique && out_.whole_tuples) least_ = std::max(least_, whole);
    if (whole < given || !has_rest_) most_ = most_ < 0 ? whole : std::min(most_, whole);
    if (least_ > most_copies)
      refuse_unsupported(place_, fmt::format("\"minItems\" above {} is not supported", most_copies));
    if (most_ > most_copies) most_ = std::max(least_, most_copies);
  }

  const Conjunction& item(std::int64_t i) const {
    return i < static_cast<std::int64_t>(given_) ? element(first_, i) : rest_;
  }

  // --- items that may repeat ---

  // The number of items so far, then the matches of each `contains`.
  using Count = std::vector<std::int64_t>;

  void write_items(std::int32_t from, std::int32_t to) {
    if (most_ >= 0 && least_ > most_) return;
    // Longer counts are not told apart.
    const std::int64_t alike =
        most_ >= 0 ? most_ : std::max<std::int64_t>({least_, static_cast<std::int64_t>(given_), 1});
    for (const Box::Contains& c : box_.contains)
      if (std::max(c.least, c.most) > most_contained || box_.contains.size() > 3)
        refuse_unsupported(place_ + "/contains",
                           fmt::format("more than 3 of them, or counts above {}, are not supported", most_contained));
    std::map<Count, std::int32_t> known;
    std::vector<Count> pending;
    const auto reach = [&](const Count& count) {
      const auto [at, fresh] = known.try_emplace(count, 0);
      if (fresh) at->second = out_.grammar.add_state(), pending.push_back(count);
      return at->second;
    };
    out_.grammar.add_jump(out_.layout.behind('[', from), reach(Count(box_.contains.size() + 1, 0)));
    while (!pending.empty()) {
      const Count count = pending.back();
      pending.pop_back();
      const std::int32_t at = known.at(count);
      if (may_end(count)) out_.layout.close(']', at, to);
      if (most_ >= 0 && count[0] >= most_) continue;
      const std::int32_t begin = count[0] == 0 ? at : out_.layout.behind(',', at);
      for (const auto& [value, next] : ways(count, alike))
        out_.grammar.add_call(begin, out_.rule_of(value), reach(next));
    }
  }

  bool may_end(const Count& count) const {
    for (std::size_t k = 0; k < box_.contains.size(); ++k)
      if (count[k + 1] < box_.contains[k].least) return false;
    return count[0] >= least_;
  }

  // What the next item may be, with the count after it.
  std::vector<std::pair<Conjunction, Count>> ways(const Count& count, std::int64_t alike) {
    Count next = count;
    next[0] = std::min(count[0] + 1, alike);
    std::vector<std::pair<Conjunction, Count>> list{{item(count[0]), next}};
    for (std::size_t k = 0; k < box_.contains.size(); ++k) {
      const Box::Contains& c = box_.contains[k];
      std::vector<std::pair<Conjunction, Count>> both;
      for (const auto& [value, behind] : list) {
        if (c.most < 0 || count[k + 1] < c.most) {
          Conjunction counted = value;
          boxes_.add(counted, c.schema);
          Count more = behind;
          more[k + 1] = std::min(count[k + 1] + 1, c.most >= 0 ? c.most : c.least);
          both.emplace_back(std::move(counted), std::move(more));
        }
        Conjunction other = value;
        if (c.most >= 0) {
          const Json& schema = boxes_.document().json(c.schema);
          boxes_.add(other, boxes_.document().made(c.schema, Json{{made::mark, true}, {"not", schema}}));
        }
        both.emplace_back(std::move(other), behind);
      }
      list = std::move(both);
    }
    return list;
  }

  // --- unique items ---

  // All values that an item may have; nothing if they are not listed.
  std::optional<std::vector<Json>> values() {
    std::vector<Json> all;
    ValueSet seen;
    SchemaJudge judge(boxes_);
    for (const Kind kind : all_kinds)
      for (const Box& box : boxes_.of(rest_, kind)) {
        if (!box.listed && kind != Kind::boolean && kind != Kind::null) return std::nullopt;
        const std::vector<Json> of_kind =
            kind == Kind::boolean ? std::vector<Json>{true, false} : std::vector<Json>{nullptr};
        for (const Json& value : box.listed ? *box.listed : of_kind) {
          const Verdict verdict = judge.verdict(value, rest_);
          if (verdict == Verdict::unsure) boxes_.leave_out_unsure(value, rest_);
          if (verdict == Verdict::yes && seen.add(value)) all.push_back(value);
        }
      }
    return all;
  }

  /// Optional choices in a fixed order; any of them may be left out.
  struct Chain {
    std::vector<std::int32_t> rules;
  };

  void write_chain(const Chain& chain, std::int32_t from, std::int32_t to) {
    const auto length = std::ssize(chain.rules);
    const std::int64_t most = most_ < 0 || most_ > length ? length : most_;
    const std::int64_t told_apart = most < length ? most : std::max<std::int64_t>(1, std::min(least_, length));
    if (least_ > length) return;
    const auto nodes = [&] {
      std::vector<std::int32_t> list;
      for (std::int64_t n = 0; n <= told_apart; ++n) list.push_back(out_.grammar.add_state());
      return list;
    };
    std::vector<std::int32_t> at = nodes();
    out_.grammar.add_jump(out_.layout.behind('[', from), at[0]);
    for (const std::int32_t rule : chain.rules) {
      const std::vector<std::int32_t> next = nodes();
      for (std::int64_t n = 0; n <= told_apart; ++n) {
        const auto index = static_cast<std::size_t>(n);
        out_.grammar.add_jump(at[index], next[index]);
        if (most < length && n == most) continue;
        out_.grammar.add_call(n == 0 ? at[0] : out_.layout.behind(',', at[index]), rule,
                              element(next, std::min(n + 1, told_apart)));
      }
      at = next;
    }
    for (std::int64_t n = std::min(least_, told_apart); n <= told_apart; ++n)
      out_.layout.close(']', element(at, n), to);
  }

  bool write_listed(std::int32_t from, std::int32_t to) {
    const std::optional<std::vector<Json>> list = values();
    if (!list || list->size() > 1'000) return false;
    Chain chain;
    for (const Json& value : *list) {
      chain.rules.push_back(out_.grammar.add_rule());
      const auto [start, end] = out_.grammar.rule(chain.rules.back());
      out_.writer.write_text(out_.layout.dumped(value), start, end);
    }
    write_chain(chain, from, to);
    return true;
  }

  // Only strings if items may be strings, otherwise only whole numbers.
  bool write_by_first_character(std::int32_t from, std::int32_t to) {
    std::vector<Pattern> texts;
    std::size_t states = 1;
    for (const Box& box : boxes_.of(rest_, Kind::string)) {
      if (box.listed) return false;
      texts.push_back(out_.patterns.of(box, rest_.empty() ? boxes_.document().root() : rest_[0]));
      states += texts.back().states().size();
    }
    if (texts.empty()) {
      // Whole numbers without bounds, by their first digits.
      for (const Box& box : boxes_.of(rest_, Kind::number))
        if (box.listed || box.low || box.high || !box.factors.empty() || box.fraction) return false;
      if (boxes_.of(rest_, Kind::number).empty()) return false;
      texts.push_back(pattern_of_regex("-?[1-9][0-9]{0,14}|0", RegexMatch::whole));
    }
    const bool is_text = !boxes_.of(rest_, Kind::string).empty();
    Chain chain;
    for (const CharSet& first : firsts(std::max<std::size_t>(4, std::min(most_first_characters, 40'000 / states)))) {
      const std::int32_t rule = out_.grammar.add_rule();
      const auto [start, end] = out_.grammar.rule(rule);
      bool any = false;
      for (const Pattern& text : texts) {
        const Pattern some = out_.patterns.both(text, Pattern::beginning_with(first), place_);
        if (some.is_empty()) continue;
        any = true;
        is_text ? out_.writer.write_json_string(some, start, end) : out_.writer.write_pattern(some, start, end);
      }
      if (any) chain.rules.push_back(rule);
    }
    if (std::ssize(chain.rules) < std::max<std::int64_t>(2, least_)) return false;
    write_chain(chain, from, to);
    return true;
  }

  // Sets of characters in ascending order; one character each for letters and digits if `most` permits.
  static std::vector<CharSet> firsts(std::size_t most) {
    std::vector<CharSet> all{{{0, '/'}}};
    for (char32_t c = '0'; c <= '9'; ++c) all.push_back({{c, c}});
    all.push_back({{':', '@'}});
    for (char32_t c = 'A'; c <= 'Z'; ++c) all.push_back({{c, c}});
    all.push_back({{'[', '`'}});
    for (char32_t c = 'a'; c <= 'z'; ++c) all.push_back({{c, c}});
    all.push_back({{'{', 0xd7ff}, {0xe000, last_char}});
    while (all.size() > most) {  // merge neighbours
      std::vector<CharSet> pairs;
      for (std::size_t i = 0; i < all.size(); i += 2) {
        pairs.push_back(all[i]);
        if (i + 1 < all.size()) pairs.back().insert(pairs.back().end(), all[i + 1].begin(), all[i + 1].end());
        pairs.back() = normalized(std::move(pairs.back()));
      }
      all = std::move(pairs);
    }
    return all;
  }

  SchemaOutput& out_;
  SchemaBoxes& boxes_;
  const Box& box_;
  const std::string& place_;
  std::size_t given_ = 0;
  std::vector<Conjunction> first_;
  Conjunction rest_;
  bool has_rest_ = false;
  std::int64_t least_, most_;
};

}  // namespace

void write_array(SchemaOutput& out, const PlacedBox& what, std::int32_t from, std::int32_t to) {
  ArrayWriter(out, what).write(from, to);
}

}  // namespace tril::search
