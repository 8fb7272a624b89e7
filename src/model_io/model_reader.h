// One form in which models are published: what a reader makes of it. A new form is a reader, and a line in model_source.cpp.
#pragma once

#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "format/json_file.h"
#include "model_io/weight_files.h"
#include "nn/serving.h"
#include "tokenizer/files/pipeline_tokenizer.h"

namespace tril::model {

/// A JSON document of a model by the keys of Hugging Face's files, and what errors call it and its keys.
struct ConfigDocument {
  nlohmann::json json;
  std::string where;
  KeyNames names = {};

  /// This must outlive it.
  JsonObject object() const { return {json, where, &names}; }
};

/// Reads a model that was published in one form. Calls may read anew: ModelSource keeps what it was given.
class ModelReader {
 public:
  virtual ~ModelReader() = default;

  /// config.json.
  virtual ConfigDocument config() const = 0;
  /// config.json as it was published, its keys in their order; nothing where the form has no such file.
  virtual std::optional<std::string> published_config() const { return std::nullopt; }
  /// generation_config.json; nothing where config.json holds the publisher's defaults of generation.
  virtual std::optional<ConfigDocument> generation() const = 0;
  virtual bool has_weights() const = 0;
  virtual WeightFiles weights() const = 0;
  virtual bool has_tokenizer() const = 0;
  virtual std::shared_ptr<const Tokenizer> tokenizer() const = 0;
  /// @throws Error(usage) for a tokenizer of two sides, which has no such description
  virtual TokenizerDescription tokenizer_description() const = 0;
  /// The precision that the weights serve in where none is asked for. @param config  config.json
  virtual nn::Precision stored_precision(const JsonObject& config) const = 0;
  /// Where a file of tril's own that belongs to the model lies: "packed-int8.tril".
  virtual std::filesystem::path beside(const std::string& name) const = 0;
  /// Writes to a directory what goes with a model and does not depend on how its weights are stored: the tokenizer's files
  /// and generation_config.json, as they were published.
  virtual void copy_companions(const std::filesystem::path& directory) const = 0;
};

}  // namespace tril::model
