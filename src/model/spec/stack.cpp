#include "model/spec/stack.h"

#include <algorithm>

#include "base/element.h"
#include "base/hash.h"

namespace tril::model {
namespace {

// Pairs rows of queries with rows of the memory. Neighbours that attend to the same row (the beams of one sentence)
// become one row of queries, so that its keys are read once; with an explicit mask each row stays separate.
ops::Spans memory_spans(const Rows& rows, const Memory& memory, std::span<const std::int32_t> memory_rows,
                        bool together) {
  if (memory_rows.empty()) return ops::spans_of(rows, memory.rows);
  check(std::ssize(memory_rows) == rows.count(), "decoder", "got {} rows of tokens but {} of memory", rows.count(),
        memory_rows.size());
  std::vector<kern::RowSpan> spans;
  for (std::int64_t r = 0; r < rows.count(); ++r) {
    const std::int32_t m = element(memory_rows, r);
    check(m >= 0 && m < memory.rows.count(), "decoder", "row {} attends to row {} of only {}", r, m,
          memory.rows.count());
    if (together && r > 0 && m == element(memory_rows, r - 1))
      spans.back().q_len += rows.length(r);
    else
      spans.push_back({rows.begin(r), rows.length(r), memory.rows.begin(m), memory.rows.length(m)});
  }
  return std::make_shared<const std::vector<kern::RowSpan>>(std::move(spans));
}

// The same for a packed memory, which has row numbers.
std::vector<kern::MemorySpan> packed_spans(const std::vector<kern::RowSpan>& spans, const Memory& memory) {
  std::vector<kern::MemorySpan> list;
  const auto offsets = memory.rows.offsets();
  for (const kern::RowSpan& s : spans) {
    const auto next = std::upper_bound(offsets.begin(), offsets.end(), s.k_begin);
    list.push_back({s.q_begin, s.q_len, static_cast<std::int32_t>(next - offsets.begin()) - 1});
  }
  return list;
}

}  // namespace

namespace {

// Records a node that passes h's gradient on unchanged.
template <class F>
void record_passing(Tape& tape, const Tensor& h, F on_passing) {
  tape.record_always("layer", h, [h, on_passing](Context& c, const Tensor& dy, Grads& d) {
    on_passing();
    if (!d.hand_over(c, h, dy)) fail("layer", "its inputs and outputs must be whole tensors");
  });
}

}  // namespace

void enter_layer(Context& c, std::string_view layer, const Tensor& h) {
  WeightKeeper* const keeper = c.weight_keeper();
  if (!keeper) return;
  if (c.tape()) record_passing(*c.tape(), h, [keeper, layer] { keeper->passed(layer); });
  keeper->need(layer);
}

void leave_layer(Context& c, std::string_view layer, const Tensor& h) {
  WeightKeeper* const keeper = c.weight_keeper();
  if (keeper && c.tape()) record_passing(*c.tape(), h, [keeper, layer] { keeper->need(layer); });
}

bool left_out(const Context& c, std::string_view layer, double p) {
  if (!c.training() || p <= 0) return false;
  return random_bits(sub_key(c.shared_key(), hash_of(layer)), 0) < dropout_threshold(static_cast<float>(p));
}

std::shared_ptr<const StackCall> decoder_call(Context& c, const DecoderInput& input, const nn::RelativeBias* bias,
                                              std::span<const nn::RotaryPositions> rotaries) {
  check(std::ssize(input.ids) == input.rows.tokens(), "decoder", "{} ids in rows of {} tokens", input.ids.size(),
        input.rows.tokens());
  nn::CrossCall cross;
  if (input.memory) {
    const bool together = input.memory_mask.kind == kern::MaskKind::full;
    cross = {memory_spans(input.rows, *input.memory, input.memory_rows, together), input.memory_mask, {}};
    if (input.tap) cross.tap = input.tap, cross.tapped_layer = input.tap->of.layer;
    if (!input.memory->layers.empty() && input.memory->layers[0].packed) {
      check(together, "decoder", "a memory packed for decoding cannot be masked");
      cross.memory_spans = packed_spans(*cross.spans, *input.memory);
    }
  }
  return std::make_shared<const StackCall>(StackCall{
      nn::SelfCall(c, input.rows, input.self_mask,
                   {.cache = input.cache, .bias = bias, .rotaries = rotaries, .prompt_lengths = input.prompt_lengths}),
      std::move(cross), input.routers});
}

std::shared_ptr<const StackCall> encoder_call(Context& c, const Rows& rows, const ops::Mask& mask,
                                              const nn::RelativeBias* bias) {
  return std::make_shared<const StackCall>(StackCall{nn::SelfCall(c, rows, mask, {.bias = bias}), {}});
}

}  // namespace tril::model
