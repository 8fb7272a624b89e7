// What is wrong with a model's files, found without loading its weights into memory. Each check reads more than the one before,
// and those that need what an earlier one could not read are left out.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include "doctor/finding.h"
#include "model/spec/model.h"
#include "model_io/source/model_source.h"

namespace tril::doctor {

struct CheckedModel {
  Findings findings;
  std::optional<model::ModelSource> source;  ///< nothing if the path is no model
  std::unique_ptr<model::Model> model;       ///< without weights; null if its config.json cannot be used
};

CheckedModel check_model(const std::filesystem::path& path);

/// Why the weights of a model are incomplete, or have other shapes than its configuration says; "": they are sound.
std::string problem_of_weights(const model::Model& m, const WeightFiles& files);

/// Why a tokenizer's ids do not fit the model's vocabulary; "": they do.
std::string misfit_of(const model::Model& m, const Tokenizer& tokenizer);

}  // namespace tril::doctor
