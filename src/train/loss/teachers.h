// Trained models whose predictions another one learns to repeat (word-level knowledge distillation).
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "corpus/batch.h"
#include "model/spec/model.h"
#include "model_io/model_source.h"
#include "tokenizer/files/tokenizer.h"

namespace tril::train {

/// Checks that a model may teach: an encoder-decoder whose pieces have the student's numbers on both sides.
/// Reads no weights. @throws Error(usage) naming the model and the first difference
void check_teacher(const model::ModelSource& source, const Tokenizer& student, std::int64_t max_length);

/// The model of a directory that may teach. @throws Error also where its weights are not finite
std::unique_ptr<model::Model> load_teacher(const std::string& directory, const Tokenizer& student,
                                           std::int64_t max_length);

class Teachers {
 public:
  /// The models of the directories, of one vocabulary with `student`.
  Teachers(std::span<const std::string> directories, const Tokenizer& student, std::int64_t max_length);
  explicit Teachers(std::vector<std::unique_ptr<model::Model>> models) : models_(std::move(models)) {}

  /// Each teacher's states for every target token of the batch, with its projection. No dropout, no tape. May be called
  /// by many threads at once, each with a context of its own.
  std::vector<ops::Projected> predict(Context& c, const Batch& batch) const;

 private:
  std::vector<std::unique_ptr<model::Model>> models_;
};

/// The models of these directories; null where there are none. @param max_length  of the run's texts, in tokens
std::shared_ptr<const Teachers> teachers_of(const std::vector<std::string>& directories, const Tokenizer& student,
                                            std::int64_t max_length);

}  // namespace tril::train
