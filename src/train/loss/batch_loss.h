// What training minimises: the targets' cross-entropy with label smoothing, or with R-Drop's divergence, or a teacher's
// predictions, and beside it what attention and routers are taught.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "corpus/batch.h"
#include "model/spec/model.h"
#include "ops/loss.h"
#include "train/loss/teachers.h"

namespace tril::train {

/// How attention is taught what aligns with what (ops::alignment_loss), where batches have alignments.
struct GuidedAlignment {
  model::AlignmentHeads heads;
  ops::AlignmentCost cost = ops::AlignmentCost::ce;
  double weight = 0.1;  ///< beside the loss of the targets
};

/// What is minimised.
struct LossSettings {
  double label_smoothing = 0;
  double r_drop = 0;                         ///< weight of the divergence between two passes of each batch; 0: one pass
  std::int64_t r_drop_start = 0;             ///< updates before it, each of one pass
  double router_aux_loss = 0;                ///< weight of the load-balancing loss of mixtures of experts; 0: none
  std::shared_ptr<const Teachers> teachers;  ///< whose predictions the model learns beside the targets; may be null
  ops::DistillationOptions distillation;     ///< how
  std::optional<GuidedAlignment> guided;

  /// What is minimised in update `number`, from 1.
  LossSettings of_update(std::int64_t number) const;
};

/// The mean loss of target tokens of one part: what is differentiated. Records on the context's tape if there is one.
/// @param normalizer  the sum of losses is divided by this: the target tokens of the whole update
Tensor batch_loss(Context& c, const model::Model& m, const Batch& batch, const LossSettings& settings,
                  double normalizer);

}  // namespace tril::train
