#include "grammar/schemas/json_schema.h"

#include <fmt/format.h>

#include <map>

#include "base/element.h"
#include "base/printable.h"
#include "format/json_file.h"
#include "grammar/automata/grammar_text.h"
#include "grammar/schemas/schema_judge.h"
#include "grammar/schemas/schema_numbers.h"
#include "grammar/schemas/schema_output.h"

namespace tril::search {
namespace {

constexpr int deepest_text = 200;  // nesting of arrays and objects in a schema's text

// The grammar of a schema: a rule for each conjunction of schemas that a value or a part of it must satisfy.
class SchemaCompiler {
 public:
  SchemaCompiler(Json root, const JsonStyle& style, bool whole_tuples)
      : document_(std::move(root), notes_),
        boxes_(document_, notes_),
        patterns_(document_),
        judge_(boxes_),
        writer_(grammar_, style.alphabet),
        whole_(grammar_.add_rule()),
        layout_(writer_, style.space),
        out_{grammar_,    writer_, layout_, boxes_, patterns_, [this](const Conjunction& of) { return rule_of(of); },
             whole_tuples} {}

  void write_all() {
    const auto [start, end] = grammar_.rule(whole_);
    Conjunction root;
    boxes_.add(root, document_.root());
    grammar_.add_call(start, rule_of(root), end);
    write_pending();
    // If the kinds that schemas name surely leave nothing, kinds that no schema names are written.
    for (std::vector<std::int64_t> left; !others_.empty() && notes_.left_out.empty(); write_pending()) {
      left = grammar_.distances();
      const auto is_written = [&](const auto& other) {
        return element(left, grammar_.rule(other.second).start) != Grammar::never;
      };
      const auto lacking = std::find_if_not(others_.begin(), others_.end(), is_written);
      if (lacking == others_.end() || element(left, start) != Grammar::never) break;
      const std::vector<std::pair<Conjunction, std::int32_t>> rules(lacking, others_.end());
      others_.clear();
      for (const auto& [schemas, rule] : rules)
        if (!is_written(std::pair(schemas, rule))) write(schemas, rule, /*others=*/true);
    }
  }

  bool is_empty() { return element(grammar_.distances(), grammar_.rule(whole_).start) == Grammar::never; }
  /// @throws Error(usage) if there is no text
  CompiledSchema result() {
    check_written();
    const std::vector<std::int64_t>& left = grammar_.distances();
    std::vector<Conjunction> lost;
    for (const auto& [schemas, rule] : rules_)
      if (element(left, grammar_.rule(rule).start) == Grammar::never) lost.push_back(schemas);
    boxes_.tell_rest(lost);
    return {std::move(grammar_), std::move(notes_)};
  }

 private:
  void write_pending() {
    while (!pending_.empty()) {
      const auto [schemas, rule] = pending_.back();
      pending_.pop_back();
      write(schemas, rule, /*others=*/false);
    }
  }

  std::int32_t rule_of(const Conjunction& schemas) {
    const auto [found, fresh] = rules_.try_emplace(schemas, 0);
    if (!fresh) return found->second;
    found->second = grammar_.add_rule();
    pending_.emplace_back(schemas, found->second);
    return found->second;
  }

  // If nothing can be written because something is unsupported, the error names the unsupported part.
  void check_written() {
    try {
      grammar_.check_sound(writer_.lacking());
    } catch (const Error&) {
      if (boxes_.lacking() && writer_.lacking().empty()) throw *boxes_.lacking();
      throw;
    }
  }

  /// @param others  writes the kinds that no schema names, instead of those that one names
  void write(const Conjunction& schemas, std::int32_t rule, bool others) {
    const SchemaId at = schemas.empty() ? document_.root() : schemas[0];
    bool left = false;
    for (const Kind kind : all_kinds)
      for (const Box& box : boxes_.of(schemas, kind)) {
        const bool is_other = !box.is_typed && box.is_off_topic;
        left = left || (is_other && !others);
        if (is_other != others) continue;
        try {
          write_box(kind, {box, at}, schemas, rule);
        } catch (const Unsupported& error) {
          boxes_.leave_out(error, Telling::at_once);
        }
      }
    if (left) others_.emplace_back(schemas, rule);
  }

  void write_box(Kind kind, const PlacedBox& what, const Conjunction& schemas, std::int32_t rule) {
    const auto [start, end] = grammar_.rule(rule);
    if (what.box.listed) {
      for (const Json& value : *what.box.listed) {
        const Verdict verdict = judge_.verdict(value, schemas);
        if (verdict == Verdict::yes) writer_.write_text(layout_.dumped(value), start, end);
        if (verdict == Verdict::unsure) boxes_.leave_out_unsure(value, schemas);
      }
      return;
    }
    if (kind == Kind::object) write_object(out_, what, start, end);
    if (kind == Kind::array) write_array(out_, what, start, end);
    if (kind == Kind::string || kind == Kind::number) grammar_.add_call(start, shared_rule(kind, what), end);
    if (kind == Kind::boolean) writer_.write_text("true", start, end), writer_.write_text("false", start, end);
    if (kind == Kind::null) writer_.write_text("null", start, end);
  }

  // Equal boxes of strings, or of numbers, share a rule.
  std::int32_t shared_rule(Kind kind, const PlacedBox& what) {
    const Box& box = what.box;
    std::string name = fmt::format("{} {} {} {} {}", name_of(kind), box.least, box.most, box.whole, box.fraction);
    for (const auto& [word, value] : box.texts) name += '\n' + word + ' ' + value.dump();
    for (const Json& factor : box.factors) name += ' ' + factor.dump();
    for (const auto& bound : {box.low, box.high})
      name += bound ? fmt::format(" {} {}", bound->value.key(), bound->included) : " none";
    if (const auto known = shared_.find(name); known != shared_.end()) return known->second;
    std::optional<Pattern> pattern;
    if (kind == Kind::string) pattern = patterns_.of(box, what.at);
    if (kind == Kind::number) check_number(box, what.at);
    const std::int32_t rule = grammar_.add_rule();
    const auto [start, end] = grammar_.rule(rule);
    pattern ? writer_.write_json_string(*pattern, start, end)
            : write_number(writer_, box, document_.place(what.at), start, end);
    return shared_[name] = rule;
  }

  // There may be numbers between two bounds, but none that can be written.
  void check_number(const Box& box, SchemaId at) const {
    const bool whole =
        box.whole || (!box.factors.empty() && std::all_of(box.factors.begin(), box.factors.end(), is_whole));
    if (whole || !box.low || !box.high) return;
    Grammar alone;
    GrammarWriter writer(alone, all_chars());
    const std::int32_t rule = alone.add_rule();
    const auto [start, end] = alone.rule(rule);
    write_number(writer, box, document_.place(at), start, end);
    if (element(alone.distances(), start) == Grammar::never)
      refuse_unsupported(
          document_.place(at),
          box.factors.empty()
              ? "numbers so close to each other are not supported"
              : "between these bounds, multiples that are not integers, halves or quarters are not supported");
  }

  SchemaNotes notes_;
  SchemaDocument document_;
  SchemaBoxes boxes_;
  SchemaPatterns patterns_;
  SchemaJudge judge_;
  Grammar grammar_;
  GrammarWriter writer_;
  std::int32_t whole_;
  JsonLayout layout_;
  SchemaOutput out_;
  std::map<Conjunction, std::int32_t> rules_;
  std::map<std::string, std::int32_t> shared_;
  std::vector<std::pair<Conjunction, std::int32_t>> pending_, others_;  // rules still to be written
};

}  // namespace

namespace {

CompiledSchema compiled(const Json& schema, const JsonStyle& style) {
  SchemaCompiler compiler(schema, style, /*whole_tuples=*/true);
  compiler.write_all();
  if (!compiler.is_empty()) return compiler.result();
  // A tuple may be recursive in an item that is optional.
  SchemaCompiler lenient(schema, style, /*whole_tuples=*/false);
  lenient.write_all();
  return lenient.result();
}

}  // namespace

CompiledSchema compile_json_schema(std::string_view schema, const JsonStyle& style) {
  return compiled(parse_ordered_json(schema, "JSON schema", {.depth = deepest_text}), style);
}

Grammar json_object_grammar(const JsonStyle& style) {
  return compiled(Json{{"type", "object"}}, style).grammar;
}

}  // namespace tril::search
