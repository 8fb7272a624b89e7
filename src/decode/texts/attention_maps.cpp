#include "decode/texts/attention_maps.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "decode/texts/translation_text.h"
#include "tensor/observer.h"
#include "tokenizer/files/sentence_frame.h"

namespace tril::search {
namespace {

// The pairs that the mask forbids to every head; empty if it allows all. allowed: [1 or heads, queries, keys]
std::vector<std::uint8_t> forbidden(const Tensor& allowed) {
  const std::vector<std::uint8_t> by_head = host_copy<std::uint8_t>(allowed);
  std::vector<std::uint8_t> masked(static_cast<std::size_t>(allowed.size(1) * allowed.size(2)), 1);
  for (std::size_t i = 0; i < by_head.size(); ++i)
    if (by_head[i] != 0) masked[i % masked.size()] = 0;
  if (std::all_of(masked.begin(), masked.end(), [](std::uint8_t one) { return one == 0; })) masked.clear();
  return masked;
}

std::vector<std::int32_t> ids_of(const Tokenizer& tokenizer, const std::string& text, Side side, std::int64_t most) {
  std::vector<std::int32_t> ids = tokenizer.encode(text, side);
  if (tokenizer.special(side).eos >= 0) ids.push_back(tokenizer.special(side).eos);
  if (std::ssize(ids) > most) ids.resize(most);
  return ids;
}

void add_pieces(std::vector<std::string>& pieces, const Tokenizer& tokenizer, const std::vector<std::int32_t>& ids,
                Side side) {
  for (std::int32_t id : ids) pieces.push_back(tokenizer.piece(id, side));
}

// Records the attention weights of one row, [heads, queries, keys], in the order of computation, with the pairs that their mask
// allows.
class Catcher : public Observer {
 public:
  explicit Catcher(Context& c) : context_(c) { c.set_observer(this); }
  ~Catcher() override { context_.set_observer(nullptr); }
  Catcher(const Catcher&) = delete;
  Catcher& operator=(const Catcher&) = delete;

  /// Appends the recorded layers: of "self" or of "cross".
  void give(AttentionMaps& maps, std::string_view of) {
    const auto queries = std::ssize(maps.queries), keys = std::ssize(maps.keys);
    for (const auto& [part, layer, shape] : caught_) {
      if (part != of) continue;
      check(shape == Shape{layer.heads, queries, keys}, layer.name, "its weights are {} for {} queries and {} keys",
            shape, queries, keys);
      maps.layers.push_back(layer);
    }
  }

 protected:
  bool wants_point(const std::string& name) override { return name.ends_with(".mask") || name.ends_with(".weights"); }
  bool see_point(Context& c, const std::string& name, std::int64_t, Tensor& value) override {
    const std::string part = name.substr(0, name.rfind('.'));
    if (name.ends_with(".mask"))
      masked_ = forbidden(value);  // of the weights that come next
    else
      caught_.push_back({part.substr(part.rfind('.') + 1),
                         {c.where(), value.size(0), host_copy<float>(value), std::move(masked_)},
                         value.shape()});
    return false;
  }

 private:
  struct Caught {
    std::string part;
    AttentionMaps::Layer layer;
    Shape shape;
  };
  Context& context_;
  std::vector<std::uint8_t> masked_;
  std::vector<Caught> caught_;
};

void keep_last_layers(AttentionMaps& maps, std::int64_t most_heads) {
  std::int64_t heads = 0;
  std::size_t first = maps.layers.size();
  while (first > 0 && (heads += maps.layers[first - 1].heads) <= most_heads) --first;
  maps.layers.erase(maps.layers.begin(), maps.layers.begin() + static_cast<std::ptrdiff_t>(first));
}

std::vector<std::int32_t> shifted(const std::vector<std::int32_t>& ids, std::int32_t start) {
  std::vector<std::int32_t> input = ids;
  if (input.empty()) return input;
  std::rotate(input.begin(), input.end() - 1, input.end());
  input.front() = start;
  return input;
}

Rows one_row(const std::vector<std::int32_t>& ids) {
  Rows rows;
  rows.append(static_cast<std::int32_t>(ids.size()));
  return rows;
}

std::vector<AttentionMaps> encoder_decoder_maps(Context& c, const model::Model& m, const Tokenizer& tokenizer,
                                                const AttendedPair& pair, std::int64_t most) {
  std::vector<AttentionMaps> all(3);
  AttentionMaps &cross = all[0], &encoder = all[1], &decoder = all[2];
  encoder.kind = AttentionMaps::Kind::encoder, decoder.kind = AttentionMaps::Kind::decoder;
  const auto sentence = [&](const std::string& text, Side side, const std::string& language) {
    std::vector<std::int32_t> ids = sentence_ids(tokenizer, text, side, language);
    if (std::ssize(ids) > most) ids.resize(most);
    return ids;
  };
  const std::vector<std::int32_t> sources = sentence(pair.source, Side::source, pair.source_language),
                                  targets = sentence(pair.target, Side::target, pair.target_language);
  if (sources.empty() || targets.empty()) return all;
  add_pieces(cross.keys, tokenizer, sources, Side::source);
  add_pieces(cross.queries, tokenizer, targets, Side::target);
  encoder.queries = encoder.keys = cross.keys;
  const std::vector<std::int32_t> input = shifted(targets, search::decoder_start(m, tokenizer, pair.target_language));
  decoder.queries = cross.queries;
  add_pieces(decoder.keys, tokenizer, input, Side::target);

  model::Memory memory;
  {
    Catcher catcher(c);
    memory = m.encode(c, sources, one_row(sources));
    catcher.give(encoder, "self");
  }
  Catcher catcher(c);
  m.decode(c, {.ids = input, .rows = one_row(input), .memory = &memory, .memory_rows = {}, .cache = nullptr});
  catcher.give(decoder, "self");
  catcher.give(cross, "cross");
  return all;
}

std::vector<AttentionMaps> decoder_maps(Context& c, const model::Model& m, const Tokenizer& tokenizer,
                                        const std::string& text, std::int64_t most) {
  std::vector<AttentionMaps> all(1);
  all[0].kind = AttentionMaps::Kind::self;
  const std::vector<std::int32_t> ids = ids_of(tokenizer, text, Side::source, most);
  if (ids.empty()) return all;
  add_pieces(all[0].keys, tokenizer, ids, Side::source);
  all[0].queries = all[0].keys;
  Catcher catcher(c);
  m.decode(c, {.ids = ids, .rows = one_row(ids), .memory = nullptr, .memory_rows = {}, .cache = nullptr});
  catcher.give(all[0], "self");
  return all;
}

}  // namespace

std::vector<std::uint8_t> AttentionMaps::Layer::codes() const {
  std::vector<std::uint8_t> list;
  for (float w : weights)
    list.push_back(static_cast<std::uint8_t>(std::lround(255 * std::sqrt(std::clamp(w, 0.0f, 1.0f)))));
  return list;
}

std::vector<std::uint8_t> AttentionMaps::Layer::masked_bits() const {
  std::vector<std::uint8_t> bytes((masked.size() + 7) / 8);
  for (std::size_t i = 0; i < masked.size(); ++i)
    if (masked[i] != 0) bytes[i / 8] = static_cast<std::uint8_t>(bytes[i / 8] | 1u << i % 8);
  return bytes;
}

std::string_view name_of(AttentionMaps::Kind kind) {
  switch (kind) {
    case AttentionMaps::Kind::cross:
      return "cross";
    case AttentionMaps::Kind::encoder:
      return "encoder";
    case AttentionMaps::Kind::decoder:
      return "decoder";
    case AttentionMaps::Kind::self:
      break;
  }
  return "self";
}

std::vector<AttentionMaps> all_attention_maps(Context& c, const model::Model& m, const Tokenizer& tokenizer,
                                              const AttendedPair& pair, const AttentionBounds& bounds) {
  check(!c.tape(), "attention_maps", "maps must be computed without a tape");
  const std::int64_t most = m.max_positions() > 0 ? std::min(bounds.tokens, m.max_positions()) : bounds.tokens;
  std::vector<AttentionMaps> all = m.has_encoder() ? encoder_decoder_maps(c, m, tokenizer, pair, most)
                                                   : decoder_maps(c, m, tokenizer, pair.source + pair.target, most);
  std::erase_if(all, [](const AttentionMaps& maps) { return !maps.queries.empty() && maps.layers.empty(); });
  for (AttentionMaps& maps : all) keep_last_layers(maps, bounds.heads);
  return all;
}

AttentionMaps attention_maps(Context& c, const model::Model& m, const Tokenizer& tokenizer, const AttendedPair& pair,
                             const AttentionBounds& bounds) {
  std::vector<AttentionMaps> all = all_attention_maps(c, m, tokenizer, pair, bounds);
  if (!all.empty()) return std::move(all.front());
  AttentionMaps none;
  none.kind = m.has_encoder() ? AttentionMaps::Kind::cross : AttentionMaps::Kind::self;
  return none;
}

}  // namespace tril::search
