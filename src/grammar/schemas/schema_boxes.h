// A schema in its normal form: for each kind of value, a list of boxes, one of which a value must be in. A box combines
// what several schemas say about one kind, without any "or" or "not": bounds, texts, members, items.
//
// Keywords about the parts of a value keep their scope: `additionalProperties` sees only the `properties` of its own
// schema. So a box has a list of such schemas, and a part must satisfy each of them (Conjunction).
//
//   {"type": "object", "properties": P, "anyOf": [{"required": ["a"]}, {"properties": Q, "additionalProperties": false}]}
//     object   scopes {P}                requires a
//              scopes {P}, {Q, else false}
//
// Boxes may leave out what cannot be written; they never allow more than the schema does.
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

/// Schemas that must all hold, in the order in which they were met.
using Conjunction = std::vector<SchemaId>;

struct Box {
  std::optional<std::vector<Json>> listed;  ///< the allowed values; each is still to be checked against the schemas
  std::int64_t least = 0, most = -1;        ///< of characters, items or properties; -1: no limit

  // Numbers.
  struct Bound {
    ExactNumber value;
    bool included;  ///< whether the bound itself is allowed
  };
  std::optional<Bound> low, high;
  std::vector<Json> factors;  ///< each must divide the number
  bool whole = false, fraction = false;

  // Strings: keywords (`pattern`, `format`, and those of schema_words.h) with their values.
  std::vector<std::pair<std::string, Json>> texts;

  // Objects and arrays.
  std::vector<SchemaId> scopes;  ///< schemas with keywords about members or items
  std::vector<SchemaId> seen;    ///< those whose members and items count as evaluated: none within `not`
  std::vector<std::string> required;
  std::vector<SchemaId> names;  ///< schemas that every name must satisfy
  std::vector<SchemaId> some;   ///< schemas with made::some_property
  struct Contains {
    SchemaId schema;
    std::int64_t least, most;  ///< -1: no limit
    bool evaluates;            ///< items that match count as evaluated: from draft 2020 on, and not within `not`
  };
  std::vector<Contains> contains;
  bool unique = false;

  bool is_typed = false;      ///< a schema names this kind, by `type` or by a value
  bool is_off_topic = false;  ///< a schema names no kind, and its keywords are all about other kinds
};

/// When an omitted part is reported: always (at once, or at the end after all others), or only if no value that contains it
/// can be written.
enum class Telling : std::uint8_t { at_once, at_end, where_nothing_is_left };

class SchemaBoxes {
 public:
  SchemaBoxes(SchemaDocument& document, SchemaNotes& notes)
      : document_(document), notes_(notes), work_(document), expressions_(document, work_) {}

  /// The boxes of the valid values of that kind.
  /// @throws Error(usage) naming the place, if a schema is wrong, refers to itself in place, or needs too much work
  const std::vector<Box>& of(SchemaId id, Kind kind);
  std::vector<Box> of(const Conjunction& schemas, Kind kind);
  /// The intersection; nothing: surely empty.
  std::optional<Box> both(Kind kind, const Box& a, const Box& b) const;
  /// Whether surely no value is valid against all of them, as far as a search of `depth` levels shows.
  bool are_disjoint(const Conjunction& schemas, int depth = 3);

  /// What the member `name` must be, by the scopes of a box.
  Conjunction member(const std::vector<SchemaId>& scopes, const std::string& name);
  /// Whether `properties` or `patternProperties` of the schema surely apply to that name.
  bool evaluates(SchemaId scope, const std::string& name);
  /// Like member(), for an item.
  Conjunction item(const std::vector<SchemaId>& scopes, std::size_t index);
  void add(Conjunction& to, SchemaId id) const;
  bool allows_none(const Conjunction& schemas) const;

  /// The schemas of a tuple's items, and the schema of the items after them.
  struct Items {
    const Json* first = nullptr;  ///< an array of schemas
    std::string first_word, rest_word;
    const Json* rest = nullptr;
    bool rest_is_for_all = false;  ///< applies to the first items too
  };
  Items items_of(SchemaId scope) const;

  SchemaDocument& document() { return document_; }
  SchemaWork& work() { return work_; }
  SchemaExpressions& expressions() { return expressions_; }
  /// @param list  an array of values in the document
  const ValueSet& values_of(const Json& list);
  /// The first unsupported part that was left out so far.
  const std::optional<Error>& lacking() const { return lacking_; }
  /// Records why a part is left out.
  void leave_out(const Error& why, Telling telling);
  /// Records a value listed in one of these schemas, or a name, that is not surely valid.
  void leave_out_unsure(const Json& value, const Conjunction& schemas);
  /// Reports what was deferred to the end. @param lost  conjunctions of which nothing could be written
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
    bool surely = false, may = false;  // in every engine; in some engine
  };
  Match match_of(const std::string& regex, const std::string& name, SchemaId scope, const std::string& step);

  SchemaDocument& document_;
  SchemaNotes& notes_;
  std::map<std::pair<SchemaId, Kind>, std::vector<Box>> known_;
  std::set<std::pair<SchemaId, Kind>> under_way_;
  // Whether the boxes leave out what some validator allows: for schemas, and for the one being made.
  std::set<std::pair<SchemaId, Kind>> narrow_;
  bool is_narrow_ = false;
  std::map<std::pair<Conjunction, int>, bool> disjoint_;
  std::map<std::string, Match> matches_;  // of regular expressions and names
  std::optional<Error> lacking_;
  std::vector<std::pair<Error, Telling>> to_tell_;
  SchemaWork work_;
  SchemaExpressions expressions_;
  std::unordered_map<const Json*, ValueSet> values_;  // of lists
  std::unordered_map<SchemaId, std::unordered_map<std::string_view, const Json*>> properties_;
};

}  // namespace tril::search
