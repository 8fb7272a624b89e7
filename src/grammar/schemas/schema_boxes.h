// A schema in its normal form: for each kind of values a list of boxes, of which a value must be in one. A box is what several
// schemas say at once of one kind, with nothing in it that is "or" or "not": bounds, texts, members, items.
//
// What says something of the parts of a value keeps its scope: `additionalProperties` sees the `properties` of its own schema
// alone, so a box has a list of such schemas, and what a part must be is all that they say of it, asked one by one (Conjunction).
//
//   {"type": "object", "properties": P, "anyOf": [{"required": ["a"]}, {"properties": Q, "additionalProperties": false}]}
//     object   scopes {P}                requires a
//              scopes {P}, {Q, else false}
//
// Boxes may leave out what cannot be written, and never allow more than the schema does.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "grammar/automata/grammar_text.h"
#include "grammar/schemas/exact_number.h"
#include "grammar/schemas/schema_document.h"
#include "grammar/schemas/schema_expressions.h"
#include "grammar/schemas/schema_values.h"
#include "grammar/schemas/schema_work.h"

namespace tril::search {

/// Schemas that all must hold, in the order in which they were met.
using Conjunction = std::vector<SchemaId>;

struct Box {
  std::optional<std::vector<Json>> listed;  ///< the values that may be; each is still to be judged by the schemas
  std::int64_t least = 0, most = -1;        ///< characters, items or properties; -1: any number

  // Numbers.
  struct Bound {
    ExactNumber value;
    bool included;  ///< whether it is one of the numbers
  };
  std::optional<Bound> low, high;
  std::vector<Json> factors;  ///< that divide them
  bool whole = false, fraction = false;

  // Strings: keywords (`pattern`, `format`, and those of schema_words.h) with what they say.
  std::vector<std::pair<std::string, Json>> texts;

  // Objects and arrays.
  std::vector<SchemaId> scopes;  ///< schemas that say something of members, or of items
  std::vector<SchemaId> seen;    ///< those of them whose members and items count as evaluated: none of within `not`
  std::vector<std::string> required;
  std::vector<SchemaId> names;  ///< what each name must be
  std::vector<SchemaId> some;   ///< schemas that have made::some_property
  struct Contains {
    SchemaId schema;
    std::int64_t least, most;  ///< -1: any number
    bool evaluates;            ///< what it counts is evaluated: from draft 2020 on, and not within `not`
  };
  std::vector<Contains> contains;
  bool unique = false;

  bool is_typed = false;      ///< a schema names this kind, by `type` or a value
  bool is_off_topic = false;  ///< a schema that names no kind speaks of other kinds alone
};

/// When the user hears of a part that is left out: in any case, at once or behind all others, or only where a value to which it
/// belongs cannot be written at all.
enum class Telling : std::uint8_t { at_once, at_end, where_nothing_is_left };

class SchemaBoxes {
 public:
  SchemaBoxes(SchemaDocument& document, SchemaNotes& notes)
      : document_(document), notes_(notes), work_(document), expressions_(document, work_) {}

  /// Boxes of the values of that kind that are valid against the schema.
  /// @throws Error(usage) naming the place, where a schema is wrong, refers to itself in place, or asks for too much work
  const std::vector<Box>& of(SchemaId id, Kind kind);
  std::vector<Box> of(const Conjunction& schemas, Kind kind);
  /// What both allow; nothing: surely no value.
  std::optional<Box> both(Kind kind, const Box& a, const Box& b) const;
  /// Whether surely nothing is valid against all of them, as far as a look into a few levels shows.
  bool are_disjoint(const Conjunction& schemas, int depth = 3);

  /// What a member of that name must be, by the scopes of a box.
  Conjunction member(const std::vector<SchemaId>& scopes, const std::string& name);
  /// Whether `properties` or `patternProperties` of the schema surely speak of that name.
  bool evaluates(SchemaId scope, const std::string& name);
  /// As member(), of an item.
  Conjunction item(const std::vector<SchemaId>& scopes, std::size_t index);
  void add(Conjunction& to, SchemaId id) const;
  bool allows_none(const Conjunction& schemas) const;

  /// Items of a schema that has a list of them, and what is said of those behind.
  struct Items {
    const Json* first = nullptr;  ///< an array of schemas
    std::string first_word, rest_word;
    const Json* rest = nullptr;
    bool rest_is_for_all = false;  ///< of the first ones too
  };
  Items items_of(SchemaId scope) const;

  SchemaDocument& document() { return document_; }
  SchemaWork& work() { return work_; }
  SchemaExpressions& expressions() { return expressions_; }
  /// @param list  an array of values in the document
  const ValueSet& values_of(const Json& list);
  /// The first part that was left out so far because it is not supported.
  const std::optional<Error>& lacking() const { return lacking_; }
  /// Keeps why a part is left out.
  void leave_out(const Error& why, Telling telling);
  /// The same of a value that is listed in one of these schemas, or a name, and not for sure valid.
  void leave_out_unsure(const Json& value, const Conjunction& schemas);
  /// Tells what is to be told at the end. @param lost  what is written of none of these
  void tell_rest(const std::vector<Conjunction>& lost);

 private:
  std::vector<Box> made_of(SchemaId id, Kind kind);
  std::optional<Box> own_box(SchemaId id, Kind kind);
  void read_numbers(const Json& schema, Box& box) const;
  void read_array(SchemaId id, Box& box);
  void read_object(SchemaId id, Box& box);
  std::vector<Box> product(Kind kind, const std::vector<Box>& a, const std::vector<Box>& b);
  std::vector<Box> one_of(SchemaId id, Kind kind);
  void close_scopes(SchemaId id, Kind kind, std::vector<Box>& boxes);
  std::vector<Box> complement(SchemaId id, Kind kind);
  bool is_surely_empty(Kind kind, const Box& box, const Conjunction& schemas, int depth);
  const Json* property(SchemaId scope, const std::string& name);
  struct Match {
    bool surely = false, may = false;  // by each engine, by some
  };
  Match match_of(const std::string& regex, const std::string& name, SchemaId scope, const std::string& step);

  SchemaDocument& document_;
  SchemaNotes& notes_;
  std::map<std::pair<SchemaId, Kind>, std::vector<Box>> known_;
  std::set<std::pair<SchemaId, Kind>> under_way_;
  // Whether boxes leave out what some validator allows: of schemas, and of what is being made.
  std::set<std::pair<SchemaId, Kind>> narrow_;
  bool is_narrow_ = false;
  std::map<std::pair<Conjunction, int>, bool> disjoint_;
  std::map<std::string, Match> matches_;  // of expressions with names
  std::optional<Error> lacking_;
  std::vector<std::pair<Error, Telling>> to_tell_;
  SchemaWork work_;
  SchemaExpressions expressions_;
  std::unordered_map<const Json*, ValueSet> values_;  // of lists
  std::unordered_map<SchemaId, std::unordered_map<std::string_view, const Json*>> properties_;
};

}  // namespace tril::search
