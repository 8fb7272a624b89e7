#include "decode/models/alignment_fields.h"

#include <charconv>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/printable.h"

namespace tril {
namespace {

// The threshold in "0.2"; nothing for "soft" and "hard".
std::optional<float> threshold_of(const std::string& alignment) {
  if (alignment == "soft" || alignment == "hard") return std::nullopt;
  float value = 0;
  const auto [end, error] = std::from_chars(alignment.data(), alignment.data() + alignment.size(), value);
  if (error != std::errc() || end != alignment.data() + alignment.size() || !(value >= 0 && value <= 1))
    fail_usage("alignment",
               fmt::format("expected soft, hard or a number from 0 to 1, got \"{}\"", printable(alignment)));
  return value;
}

}  // namespace

// 1 means "hard", as in Marian.
Alignment alignment_points(const AlignmentOptions& o, std::span<const float> attention, std::size_t tokens) {
  const float threshold = threshold_of(o.alignment).value_or(1);
  return threshold == 1 ? hard_alignment(attention, tokens) : alignment_above(attention, tokens, threshold);
}

void add_alignment_fields(Fields& f, AlignmentOptions& o) {
  f.add("alignment", &o.alignment,
        "print the source tokens of each output token, by cross-attention: all weights (soft), the highest (hard), or "
        "those above a number; end tokens are included")
      .value_name("HOW");
  f.add("alignment-layer", &o.layer,
        "decoder layer whose attention is used: a number from 1, or last; unset: the layer trained with guided "
        "alignment, or the last")
      .value_name("N");
}

std::optional<nn::AttentionHeads> attention_heads(const AlignmentOptions& o, const model::Model& m, bool wanted) {
  if (!o.alignment.empty()) threshold_of(o.alignment);
  if (!wanted && o.alignment.empty()) {
    if (!o.layer.empty()) fail_usage("alignment_layer", "has no effect without an alignment", "pass `alignment` too");
    return std::nullopt;
  }
  nn::AttentionHeads a;
  if (o.layer.empty()) {
    a = m.alignment_heads().value_or(a);
  } else if (o.layer != "last") {
    const char* const end = o.layer.data() + o.layer.size();
    const auto [at, error] = std::from_chars(o.layer.data(), end, a.layer);
    if (error != std::errc() || at != end || a.layer < 1 || a.layer > m.cross_layers())
      fail_usage("alignment_layer",
                 fmt::format("expected last or a number from 1 to {}, got \"{}\"", m.cross_layers(), o.layer));
    --a.layer;
  }
  model::tap_of(m, a);
  return a;
}

std::string alignment_text(const AlignmentOptions& o, std::span<const float> attention, std::size_t tokens) {
  if (o.alignment == "soft") return soft_alignment(attention, tokens);
  return to_text(alignment_points(o, attention, tokens));
}

std::string alignment_json(const AlignmentOptions& o, std::span<const float> attention, std::size_t tokens) {
  nlohmann::json list = nlohmann::json::array();
  if (o.alignment == "soft") {
    for (std::size_t t = 0; t < tokens; ++t) {
      const auto row = attention.subspan(t * (attention.size() / tokens), attention.size() / tokens);
      list.push_back(std::vector<float>(row.begin(), row.end()));
    }
  } else {
    for (const AlignmentPoint& p : alignment_points(o, attention, tokens)) list.push_back({p.source, p.target});
  }
  return list.dump();
}

std::vector<std::string> pieces_of(std::span<const std::int32_t> ids, const Tokenizer& tokenizer, Side side) {
  std::vector<std::string> pieces;
  for (const std::int32_t id : ids) pieces.push_back(tokenizer.piece(id, side));
  return pieces;
}

}  // namespace tril
