// A JSON schema as numbered schemas: those in the document and those that the compiler makes of them. Equal schemas
// share a number, so that recursion ends; each knows its place and the base of its references.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/element.h"
#include "grammar/schemas/schema_words.h"

namespace tril::search {

/// Number of a schema in its document.
using SchemaId = std::int32_t;

/// The draft by the schema's `$schema`: a year, or 4 to 7. A schema that names none is read as the latest.
constexpr int latest_draft = 2020;

class SchemaDocument {
 public:
  /// @param notes  receives the keywords that are ignored, as schemas are met
  SchemaDocument(Json root, SchemaNotes& notes);
  SchemaDocument(const SchemaDocument&) = delete;
  SchemaDocument& operator=(const SchemaDocument&) = delete;

  SchemaId root() { return child_at(root_, {0, "#"}); }
  /// The schema that is the value of a keyword of schema `of`, or in it: "/items", "/allOf/3".
  /// @throws Error(usage) naming the place and what is wrong with a keyword
  SchemaId child(SchemaId of, const Json& schema, const std::string& step);
  /// A schema that the compiler makes, at the place of `of`.
  SchemaId made(SchemaId of, Json schema);
  /// Whether references in both resolve against the same base.
  bool same_base(SchemaId a, SchemaId b) const { return node(a).base == node(b).base; }
  /// The schema that `$ref`, `$dynamicRef` or `$recursiveRef` refers to.
  /// @throws Unsupported if it is in another document, Error(usage) if it does not exist
  SchemaId target(SchemaId of, const std::string& word);
  /// The keywords by which a schema refers to others.
  static std::vector<const char*> references_of(const Json& schema);

  /// A schema split into the keywords that count in its draft and the others; both must hold. If all count, or the
  /// others mean nothing alone, the first is the schema itself.
  struct Parts {
    SchemaId counting, rest;
  };
  Parts parts_of(SchemaId id);

  const Json& json(SchemaId id) const { return *node(id).json; }
  const std::string& place(SchemaId id) const { return node(id).place; }
  int draft(SchemaId id) const { return json(id).is_object() && json(id).contains(made::mark) ? latest_draft : draft_; }
  int draft() const { return draft_; }
  /// Whether every value is valid against it.
  bool allows_all(SchemaId id) const { return node(id).allows_all; }
  bool allows_none(SchemaId id) const { return json(id) == false; }

 private:
  struct Origin {
    std::int32_t base;  // number of the resource that contains it
    std::string place;
  };
  struct Node {
    const Json* json;
    std::string place;
    std::int32_t base;
    bool allows_all;
  };
  struct Resource {
    std::string uri;
    const Json* root;
    std::string place;
    std::map<std::string, const Json*> anchors;
  };
  const Node& node(SchemaId id) const { return element(nodes_, id); }
  SchemaId child_at(const Json& schema, Origin origin);
  void find_resources(const Json& schema, std::int32_t base, const std::string& place, int depth);
  std::string identifier_of(const Json& schema) const;
  SchemaId at_pointer(const std::string& pointer, std::int32_t base, const std::string& place);

  Json root_;
  SchemaNotes& notes_;
  int draft_ = latest_draft;
  std::deque<Json> made_;
  std::deque<Node> nodes_;
  std::unordered_map<const Json*, SchemaId> by_address_;
  std::unordered_map<std::string, SchemaId> by_text_;
  std::unordered_map<SchemaId, Parts> parts_;
  std::vector<Resource> resources_;
  std::unordered_map<const Json*, std::int32_t> resource_at_;  // of schemas with an identifier
  std::map<std::string, const Json*> anchor_places_;
  std::map<std::string, int> dynamic_anchors_;  // how often each name is used
  int recursive_anchors_ = 0;
};

}  // namespace tril::search
