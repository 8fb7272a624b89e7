// Objects as a grammar: the listed properties in order, each optional unless required, then others. A state counts the
// properties so far, as far as that matters for the comma, minProperties and maxProperties.
#include <fmt/format.h>

#include "grammar/schemas/schema_objects.h"
#include "grammar/schemas/schema_output.h"

namespace tril::search {
namespace {

class ObjectWriter {
 public:
  ObjectWriter(SchemaOutput& out, ObjectPlan plan, const std::string& place)
      : out_(out), plan_(std::move(plan)), most_(plan_.most) {
    const auto listed = std::ssize(plan_.members);
    if (plan_.extras.empty() && most_ >= listed) most_ = -1;
    most_ = std::min(most_, most_copies);
    if (plan_.least > most_copies)
      refuse_unsupported(place, fmt::format("\"minProperties\" above {} is not supported", most_copies));
    told_apart_ = std::max<std::int64_t>({1, plan_.least, most_});
    if (told_apart_ * (listed + 1) > 1'000'000)
      refuse_unsupported(place,
                         "so many properties beside such a \"minProperties\" or \"maxProperties\" are not supported");
  }

  void write(std::int32_t from, std::int32_t to) {
    Nodes at = nodes();
    out_.grammar.add_jump(out_.layout.behind('{', from), at[0]);
    for (const ObjectPlan::Member& member : plan_.members) {
      const Nodes next = nodes();
      const std::int32_t rule = member_rule(Pattern::of_texts({&member.name, 1}), member.value);
      for (std::size_t n = 0; n < at.size(); ++n) {
        if (!member.required) out_.grammar.add_jump(at[n], next[n]);
        if (may_add(n)) add(rule, at, n, next[after(n)]);
      }
      at = next;
    }
    for (std::size_t n = 0; n < at.size(); ++n)
      if (is_enough(n)) out_.layout.close('}', at[n], to);
    if (!plan_.extras.empty()) write_extras(at, to);
  }

 private:
  using Nodes = std::vector<std::int32_t>;

  Nodes nodes() const {
    Nodes list;
    for (std::int64_t n = 0; n <= told_apart_; ++n) list.push_back(out_.grammar.add_state());
    return list;
  }
  std::size_t after(std::size_t n) const { return std::min(n + 1, static_cast<std::size_t>(told_apart_)); }
  bool may_add(std::size_t n) const { return most_ < 0 || static_cast<std::int64_t>(n) < most_; }
  bool is_enough(std::size_t n) const { return static_cast<std::int64_t>(n) >= plan_.least; }

  // "name": value
  std::int32_t member_rule(const Pattern& name, const Conjunction& value) {
    const std::int32_t rule = out_.grammar.add_rule();
    const auto [start, end] = out_.grammar.rule(rule);
    const std::int32_t named = out_.grammar.add_state();
    out_.writer.write_json_string(name, start, named);
    out_.grammar.add_call(out_.layout.behind(':', named), out_.rule_of(value), end);
    return rule;
  }

  std::int32_t any_of(const std::vector<ObjectPlan::Extra>& extras) {
    const std::int32_t rule = out_.grammar.add_rule();
    const auto [start, end] = out_.grammar.rule(rule);
    for (const ObjectPlan::Extra& extra : extras)
      out_.grammar.add_call(start, member_rule(extra.names, extra.value), end);
    return rule;
  }

  void add(std::int32_t rule, const Nodes& at, std::size_t n, std::int32_t next) {
    out_.grammar.add_call(n == 0 ? at[0] : out_.layout.behind(',', at[n]), rule, next);
  }

  /// @param at  states by the number of listed properties written
  void write_extras(const Nodes& at, std::int32_t to) {
    const std::int32_t any = any_of(plan_.extras);
    std::vector<std::int32_t> distinct;
    for (const auto& family : plan_.distinct) distinct.push_back(any_of(family));
    // By the number of properties in total; enough of them have different names.
    const Nodes with = nodes();
    for (std::size_t n = 0; n < at.size(); ++n) {
      if (!may_add(n)) continue;
      const std::int64_t lacking = plan_.least - static_cast<std::int64_t>(n);
      if (lacking <= 1)
        add(any, at, n, with[after(n)]);
      else if (!distinct.empty())
        write_distinct(distinct, at[n], n, with);
    }
    for (std::size_t n = 0; n < with.size(); ++n) {
      if (n > 0) out_.layout.close('}', with[n], to);
      if (n > 0 && may_add(n)) add(any, with, n, with[after(n)]);
    }
  }

  // Writes the missing number of properties, one of each family of names.
  void write_distinct(const std::vector<std::int32_t>& distinct, std::int32_t at, std::size_t listed,
                      const Nodes& with) {
    for (std::size_t n = listed; n < static_cast<std::size_t>(plan_.least); ++n) {
      if (!may_add(n)) return;
      const bool last = n + 1 == static_cast<std::size_t>(plan_.least);
      const std::int32_t next = last ? with[n + 1] : out_.grammar.add_state();
      out_.grammar.add_call(n == 0 ? at : out_.layout.behind(',', at), distinct[n - listed], next);
      at = next;
    }
  }

  SchemaOutput& out_;
  ObjectPlan plan_;
  std::int64_t most_, told_apart_ = 1;
};

}  // namespace

void write_object(SchemaOutput& out, const PlacedBox& what, std::int32_t from, std::int32_t to) {
  std::vector<ObjectWriter> writers;
  for (ObjectPlan& plan : object_plans(what.box, what.at, out.boxes, out.patterns))
    writers.emplace_back(out, std::move(plan), out.boxes.document().place(what.at));
  for (ObjectWriter& writer : writers) writer.write(from, to);
}

}  // namespace tril::search
