#include "decode/steps/sources.h"

#include <algorithm>
#include <numeric>

#include "base/error.h"
#include "nn/adapters.h"

namespace tril::search {
namespace {

// Stretches begin at multiples of this many tokens. A packed memory pads its keys to the same size, so a row of b blocks never
// takes more bytes than b rows of one block (kern/memory_attention.h).
constexpr std::int32_t block = 16;

std::int32_t blocks_of(std::int32_t tokens) {
  return (tokens + block - 1) / block * block;
}

std::size_t packed_bytes(const ops::PackedMemory& m, std::int32_t tokens) {
  const kern::MemoryLayout of_head(m.form, tokens, m.d_k, m.d_v);
  return m.num_kv_heads * of_head.total;
}

// The offset in a packed memory of a stretch that begins with this token.
std::size_t packed_begin(const ops::PackedMemory& m, std::int32_t token) {
  return token / block * packed_bytes(m, block);
}

// Copies rows [begin, begin + count) of x to rows [to, to + count) of y.
void copy_rows(Context& c, const Tensor& x, std::int64_t begin, std::int64_t count, Tensor& y, std::int64_t to) {
  if (!x || count == 0) return;
  c.kernels().copy_rows(x.data<float>() + begin * x.row_stride(), x.row_stride(), y.data<float>() + to * y.row_stride(),
                        y.row_stride(), count, x.size(1));
}

// Copies row r of one memory to the tokens from `to` on of another.
void copy_row(Context& c, const model::Memory& from, std::int32_t r, model::Memory& into, std::int32_t to) {
  const std::int32_t begin = from.rows.begin(r), n = from.rows.length(r);
  copy_rows(c, from.states, begin, n, into.states, to);
  for (std::int32_t i = 0; i < n; ++i) into.adapters[to + i] = from.adapters.empty() ? -1 : from.adapters[begin + i];
  for (std::size_t l = 0; l < from.layers.size(); ++l) {
    copy_rows(c, from.layers[l].keys, begin, n, into.layers[l].keys, to);
    copy_rows(c, from.layers[l].values, begin, n, into.layers[l].values, to);
    if (!from.layers[l].packed) continue;
    const ops::PackedMemory &x = *from.layers[l].packed, &y = *into.layers[l].packed;
    Tensor bytes = y.bytes;
    c.kernels().copy(x.bytes.data<std::uint8_t>() + x.offsets[r], bytes.data<std::uint8_t>() + packed_begin(y, to),
                     packed_bytes(x, n));
  }
}

// An empty memory of the same form with room for `tokens` tokens.
model::Memory empty_like(Context& c, const model::Memory& like, std::int32_t tokens) {
  model::Memory m;
  const auto wide = [&](const Tensor& x) { return x ? c.zeros({tokens, x.size(1)}) : Tensor(); };
  m.states = wide(like.states);
  m.adapters.assign(tokens, -1);
  for (const model::Memory::Layer& l : like.layers) {
    m.layers.push_back({wide(l.keys), wide(l.values), nullptr});
    if (!l.packed) continue;
    auto packed = std::make_shared<ops::PackedMemory>(*l.packed);
    packed->bytes = c.empty({static_cast<std::int64_t>(packed_begin(*packed, tokens))}, DType::u8);
    m.layers.back().packed = std::move(packed);
  }
  return m;
}

}  // namespace

model::Memory encode(Context& c, const model::Model& model, std::span<const std::vector<std::int32_t>> sources,
                     std::span<const std::int32_t> adapters) {
  Rows rows;
  std::vector<std::int32_t> ids, of_tokens;
  for (const auto& source : sources) {
    check(!source.empty(), "encode", "a source without tokens");
    rows.append(static_cast<std::int32_t>(source.size()));
    ids.insert(ids.end(), source.begin(), source.end());
  }
  for (std::size_t i = 0; i < adapters.size(); ++i) of_tokens.insert(of_tokens.end(), sources[i].size(), adapters[i]);
  const nn::AdapterScope scope(c, {.of_rows = of_tokens, .of_all = c.adapters().of_all});
  model::Memory memory = model.encode(c, ids, rows);
  memory.adapters = of_tokens;
  return memory;
}

std::int64_t Sources::count() const {
  return std::count_if(row_of_.begin(), row_of_.end(), [](auto row) { return row >= 0; });
}

void Sources::clear() {
  memory_ = {};
  stretches_.clear(), row_of_.clear();
}

void Sources::remove(std::int32_t sentence) {
  if (sentence >= std::ssize(row_of_) || row_of_[sentence] < 0) return;
  row_of_[sentence] = -1;
  for (Stretch& stretch : stretches_)
    if (stretch.sentence == sentence) stretch = {-1, stretch.begin, 0, stretch.room};
}

void Sources::add(Context& c, std::span<const std::vector<std::int32_t>> sources,
                  std::span<const std::int32_t> sentences, std::span<const std::int32_t> adapters) {
  check(sources.size() == sentences.size(), "Sources", "{} sources for {} sentences", sources.size(), sentences.size());
  if (sources.empty()) return;
  ++version_;
  for (const std::int32_t s : sentences) {
    if (s >= std::ssize(row_of_)) row_of_.resize(s + 1, -1);
    check(row_of_[s] < 0, "Sources", "sentence {} has a source already", s);
  }
  model::Memory fresh = encode(c, *model_, sources, adapters);
  if (count() == 0) return take_over(std::move(fresh), sentences);

  std::vector<std::int32_t> wanted;
  for (const auto& source : sources) wanted.push_back(static_cast<std::int32_t>(source.size()));
  if (!has_room(wanted)) make_room(c, fresh, wanted);
  for (std::size_t i = 0; i < sources.size(); ++i) {
    const std::int32_t begin = place(stretches_, sentences[i], wanted[i]);
    copy_row(c, fresh, static_cast<std::int32_t>(i), memory_, begin);
  }
  number_rows();
}

// Uses the encoder's output itself as the memory. Only if there are no other sentences.
void Sources::take_over(model::Memory fresh, std::span<const std::int32_t> sentences) {
  memory_ = std::move(fresh);
  stretches_.clear();
  for (std::size_t i = 0; i < sentences.size(); ++i) row_of_[sentences[i]] = static_cast<std::int32_t>(i);
}

// Gives a sentence the first free stretch that is large enough. Returns its begin; -1: there is none.
std::int32_t Sources::place(std::vector<Stretch>& stretches, std::int32_t sentence, std::int32_t length) {
  const std::int32_t room = blocks_of(length);
  for (std::size_t i = 0; i < stretches.size(); ++i) {
    if (stretches[i].sentence >= 0) continue;
    while (i + 1 < stretches.size() && stretches[i + 1].sentence < 0) {  // merge free neighbours
      stretches[i].room += stretches[i + 1].room;
      stretches.erase(stretches.begin() + static_cast<std::ptrdiff_t>(i) + 1);
    }
    if (stretches[i].room < room) continue;
    const Stretch rest{-1, stretches[i].begin + room, 0, stretches[i].room - room};
    stretches[i] = {sentence, stretches[i].begin, length, room};
    if (rest.room > 0) stretches.insert(stretches.begin() + static_cast<std::ptrdiff_t>(i) + 1, rest);
    return stretches[i].begin;
  }
  return -1;
}

bool Sources::has_room(std::span<const std::int32_t> wanted) const {
  std::vector<Stretch> trial = stretches_;
  for (const std::int32_t length : wanted)
    if (place(trial, 0, length) < 0) return false;
  return true;
}

// Moves all sentences to the beginning of a larger memory.
void Sources::make_room(Context& c, const model::Memory& like, std::span<const std::int32_t> wanted) {
  std::int32_t needed = 0;
  std::vector<std::int32_t> current;
  for (std::size_t s = 0; s < row_of_.size(); ++s)
    if (row_of_[s] >= 0) current.push_back(static_cast<std::int32_t>(s));
  for (const std::int32_t s : current) needed += blocks_of(length(s));
  for (const std::int32_t n : wanted) needed += blocks_of(n);
  const std::int32_t tokens = 2 * needed;  // so that this is rare
  model::Memory larger = empty_like(c, like, tokens);
  std::vector<Stretch> stretches{{-1, 0, 0, tokens}};
  for (const std::int32_t s : current) copy_row(c, memory_, row(s), larger, place(stretches, s, length(s)));
  memory_ = larger;
  stretches_ = std::move(stretches);
}

// Sets the memory's rows: a sentence's tokens, the rest of its last block, free room.
void Sources::number_rows() {
  memory_.rows = {};
  std::vector<std::int32_t> starts;  // the begin of a sentence's row; -1 for other rows
  for (const Stretch& s : stretches_) {
    if (s.sentence >= 0) {
      row_of_[s.sentence] = static_cast<std::int32_t>(memory_.rows.count());
      memory_.rows.append(s.length);
      starts.push_back(s.begin);
    }
    if (s.room > s.length) {
      memory_.rows.append(s.room - s.length);
      starts.push_back(-1);
    }
  }
  for (model::Memory::Layer& layer : memory_.layers) {
    if (!layer.packed) continue;
    auto packed = std::make_shared<ops::PackedMemory>(*layer.packed);
    packed->offsets.clear(), packed->lengths.clear();
    for (std::int64_t r = 0; r < std::ssize(starts); ++r) {
      packed->offsets.push_back(packed_begin(*packed, std::max(0, starts[r])));
      packed->lengths.push_back(starts[r] < 0 ? 0 : memory_.rows.length(r));
    }
    layer.packed = std::move(packed);
  }
}

}  // namespace tril::search
