// What is needed to write the grammar of a schema's parts.
#pragma once

#include <cstdint>
#include <functional>

#include "grammar/schemas/json_layout.h"
#include "grammar/schemas/schema_boxes.h"
#include "grammar/schemas/schema_strings.h"

namespace tril::search {

constexpr std::int64_t most_copies = 100'000;  // of what is counted

struct SchemaOutput {
  Grammar& grammar;
  GrammarWriter& writer;
  JsonLayout& layout;
  SchemaBoxes& boxes;
  SchemaPatterns& patterns;
  /// The rule of the values that are valid against all of them.
  std::function<std::int32_t(const Conjunction&)> rule_of;
  /// Whether a list of items' schemas is written to its end, where that may be.
  bool whole_tuples;
};

/// A box, and a schema that it comes from, which says where it stands.
struct PlacedBox {
  const Box& box;
  SchemaId at;
};

/// Writes the objects of a box between two states. @throws Unsupported naming the place, before anything is written
void write_object(SchemaOutput& out, const PlacedBox& what, std::int32_t from, std::int32_t to);
/// The same of arrays.
void write_array(SchemaOutput& out, const PlacedBox& what, std::int32_t from, std::int32_t to);

}  // namespace tril::search
