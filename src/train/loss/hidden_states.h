// A pass of a model over a batch of pairs with teacher forcing.
#pragma once

#include "corpus/batch.h"
#include "model/spec/model.h"

namespace tril::train {

/// The decoder's final hidden state for every target token of the batch, given its predecessors -> [N, d_model].
Tensor hidden_states(Context& c, const model::Model& m, const Batch& batch, nn::AttentionTap* tap = nullptr,
                     nn::RouterTap* routers = nullptr);

}  // namespace tril::train
