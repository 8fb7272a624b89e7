// What the writers of a schema's parts share.
#pragma once

#include <cstdint>
#include <functional>

#include "grammar/schemas/json_layout.h"
#include "grammar/schemas/schema_boxes.h"
#include "grammar/schemas/schema_strings.h"

namespace tril::search {

constexpr std::int64_t most_copies = 100'000;  // of a counted part

struct SchemaOutput {
  Grammar& grammar;
  GrammarWriter& writer;
  JsonLayout& layout;
  SchemaBoxes& boxes;
  SchemaPatterns& patterns;
  /// The rule of the values that are valid against all of the schemas.
  std::function<std::int32_t(const Conjunction&)> rule_of;
  /// Whether a tuple is written to its end if possible.
  bool whole_tuples;
};

/// A box, and a schema that it comes from, which gives its place.
struct PlacedBox {
  const Box& box;
  SchemaId at;
};

/// Writes the objects of a box between two states. @throws Unsupported naming the place, before it writes anything
void write_object(SchemaOutput& out, const PlacedBox& what, std::int32_t from, std::int32_t to);
/// Writes the arrays of a box, likewise.
void write_array(SchemaOutput& out, const PlacedBox& what, std::int32_t from, std::int32_t to);

}  // namespace tril::search
