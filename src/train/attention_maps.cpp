#include "train/attention_maps.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"

namespace tril::train {
namespace {

// The probe's name of the weights, without ".weights"; "" for whatever else it sees.
std::string attention_name(const std::string& probed) {
  const std::string end = ".weights";
  return probed.ends_with(end) ? probed.substr(0, probed.size() - end.size()) : "";
}

std::uint8_t code_of(float weight) {
  return static_cast<std::uint8_t>(std::lround(255 * std::sqrt(std::clamp(weight, 0.0f, 1.0f))));
}

std::vector<std::int32_t> ids_of(const Tokenizer& tokenizer, const std::string& text, Side side, std::int64_t most) {
  std::vector<std::int32_t> ids = tokenizer.encode(text, side);
  if (tokenizer.special(side).eos >= 0) ids.push_back(tokenizer.special(side).eos);
  if (static_cast<std::int64_t>(ids.size()) > most) ids.resize(static_cast<std::size_t>(most));
  return ids;
}

void add_pieces(std::vector<std::string>& pieces, const Tokenizer& tokenizer, const std::vector<std::int32_t>& ids,
                Side side) {
  for (std::int32_t id : ids) pieces.push_back(tokenizer.piece(id, side));
}

// Catches [1, heads, queries, keys] and what the layer is called.
class Catcher {
 public:
  Catcher(Context& c, AttentionMaps& maps) : context_(c) {
    const auto queries = static_cast<std::int64_t>(maps.queries.size()),
               keys = static_cast<std::int64_t>(maps.keys.size());
    c.set_probe([&maps, queries, keys](const std::string& probed, const Tensor& w) {
      const std::string name = attention_name(probed);
      if (name.empty() || w.shape().rank() != 4 || w.size(2) != queries || w.size(3) != keys) return;
      AttentionMaps::Layer layer{name, w.size(1), {}};
      for (float weight : host_copy<float>(w)) layer.codes.push_back(code_of(weight));
      maps.layers.push_back(std::move(layer));
    });
  }
  ~Catcher() { context_.set_probe(nullptr); }
  Catcher(const Catcher&) = delete;
  Catcher& operator=(const Catcher&) = delete;

 private:
  Context& context_;
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

}  // namespace

AttentionMaps attention_maps(Context& c, const model::Model& m, const Tokenizer& tokenizer, const std::string& source,
                             const std::string& target, const AttentionBounds& bounds) {
  check(!c.tape(), "attention_maps", "the context records; maps are looked at without a tape");
  AttentionMaps maps;
  maps.cross = m.has_encoder();
  if (maps.cross) {
    const std::vector<std::int32_t> sources = ids_of(tokenizer, source, Side::source, bounds.tokens),
                                    targets = ids_of(tokenizer, target, Side::target, bounds.tokens);
    if (sources.empty() || targets.empty()) return maps;
    add_pieces(maps.keys, tokenizer, sources, Side::source);
    add_pieces(maps.queries, tokenizer, targets, Side::target);
    const model::Memory memory = m.encode(c, sources, one_row(sources));
    const std::vector<std::int32_t> input = shifted(targets, m.special_ids().decoder_start);
    // Where both sides have as many tokens, self-attention has the same shape: it is told apart by its name.
    {
      const Catcher catcher(c, maps);
      m.decode(c, {.ids = input, .rows = one_row(input), .memory = &memory, .memory_rows = {}, .cache = nullptr});
    }
    std::erase_if(maps.layers, [](const auto& l) { return l.name.find("self") != std::string::npos; });
  } else {
    std::vector<std::int32_t> ids = ids_of(tokenizer, source + target, Side::source, bounds.tokens);
    if (ids.empty()) return maps;
    add_pieces(maps.keys, tokenizer, ids, Side::source);
    maps.queries = maps.keys;
    const Catcher catcher(c, maps);
    m.decode(c, {.ids = ids, .rows = one_row(ids), .memory = nullptr, .memory_rows = {}, .cache = nullptr});
  }
  keep_last_layers(maps, bounds.heads);
  return maps;
}

}  // namespace tril::train
