// The training objective: the targets' cross-entropy with label smoothing, R-Drop's divergence or a teacher's
// predictions, plus losses for attention and routers; or that of Medusa heads beside a frozen model.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "corpus/batch.h"
#include "model/spec/model.h"
#include "ops/loss.h"
#include "train/loss/heads_loss.h"
#include "train/loss/teachers.h"

namespace tril::train {

/// How attention is trained on alignments (ops::alignment_loss), if batches have them.
struct GuidedAlignment {
  nn::AttentionHeads heads;
  ops::AlignmentCost cost = ops::AlignmentCost::ce;
  double weight = 0.1;  ///< relative to the loss of the targets
};

/// The settings of the objective.
struct LossSettings {
  double label_smoothing = 0;
  double r_drop = 0;              ///< weight of the divergence between two passes of each batch; 0: one pass
  std::int64_t r_drop_start = 0;  ///< number of first updates without it, of one pass each
  double router_aux_loss = 0;     ///< weight of the load-balancing loss of mixtures of experts; 0: none
  std::shared_ptr<const Teachers>
      teachers;  ///< models whose predictions the student learns, besides the targets; may be null
  ops::DistillationOptions distillation;  ///< temperature, and weight of the teachers' part
  std::optional<GuidedAlignment> guided;
  std::optional<TrainedHeads> heads;  ///< train these alone, by their own loss

  /// The settings for update `number`, from 1.
  LossSettings of_update(std::int64_t number) const;
};

/// The mean loss of a part's target tokens, to be differentiated. Recorded on the context's tape if there is one.
/// @param normalizer  the divisor of the sum of losses: the target tokens of the whole update
Tensor batch_loss(Context& c, const model::Model& m, const Batch& batch, const LossSettings& settings,
                  double normalizer);

}  // namespace tril::train
