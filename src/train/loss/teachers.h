// Trained models whose predictions a student learns (word-level knowledge distillation).
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "corpus/batch.h"
#include "model/spec/model.h"
#include "model_io/source/model_source.h"
#include "tokenizer/files/tokenizer.h"

namespace tril::train {

/// Checks that a model can be a teacher: an encoder-decoder with the student's ids for its pieces on both sides.
/// Reads no weights. @throws Error(usage) naming the model and the first difference
void check_teacher(const model::ModelSource& source, const Tokenizer& student, std::int64_t max_length);

/// Loads a teacher. @throws Error also if its weights are not finite
std::unique_ptr<model::Model> load_teacher(const std::string& directory, const Tokenizer& student,
                                           std::int64_t max_length);

class Teachers {
 public:
  /// Loads the models of the directories, which must share the vocabulary of `student`.
  Teachers(std::span<const std::string> directories, const Tokenizer& student, std::int64_t max_length);
  explicit Teachers(std::vector<std::unique_ptr<model::Model>> models) : models_(std::move(models)) {}

  /// Each teacher's hidden states for every target token of the batch, with its output projection. Without dropout and
  /// tape. Thread-safe, with one context per thread.
  std::vector<ops::Projected> predict(Context& c, const Batch& batch) const;

 private:
  std::vector<std::unique_ptr<model::Model>> models_;
};

/// The models of these directories; null for none. @param max_length  of the run's texts, in tokens
std::shared_ptr<const Teachers> teachers_of(const std::vector<std::string>& directories, const Tokenizer& student,
                                            std::int64_t max_length);

}  // namespace tril::train
