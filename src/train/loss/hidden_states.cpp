#include "train/loss/hidden_states.h"

#include "base/as_size.h"

namespace tril::train {
namespace {

// The decoder's input: the start id, then the target without its last token.
std::vector<std::int32_t> shifted(const Batch& batch, std::int32_t start) {
  std::vector<std::int32_t> ids(batch.target_ids.size());
  for (std::int64_t r = 0; r < batch.target.count(); ++r) {
    const auto begin = as_size(batch.target.begin(r)), end = as_size(batch.target.end(r));
    for (std::size_t t = begin; t < end; ++t) ids[t] = t == begin ? start : batch.target_ids[t - 1];
  }
  return ids;
}

// The ids that the decoder reads: in a language model's batch the source itself.
std::vector<std::int32_t> decoder_ids(const model::Model& m, const Batch& batch) {
  return m.has_encoder() ? shifted(batch, m.special_ids().decoder_start) : batch.source_ids;
}

}  // namespace

Tensor hidden_states(Context& c, const model::Model& m, const Batch& batch, nn::AttentionTap* tap,
                     nn::RouterTap* routers) {
  model::DecoderInput input;
  model::Memory memory;
  if (m.has_encoder()) {
    memory = m.encode(c, batch.source_ids, batch.source);
    input.memory = &memory;
  }
  const std::vector<std::int32_t> ids = decoder_ids(m, batch);
  input.ids = ids;
  input.rows = batch.target;
  input.tap = tap;
  input.routers = routers;
  return m.decode(c, input);
}

}  // namespace tril::train
