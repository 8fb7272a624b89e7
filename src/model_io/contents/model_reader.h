// The reader of one format of published models. A new format is a new reader and an entry in model_formats.cpp.
#pragma once

#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "format/json_file.h"
#include "model_io/contents/weight_files.h"
#include "nn/serving.h"
#include "tokenizer/files/pipeline_tokenizer.h"

namespace tril::model {

/// A JSON document of a model under Hugging Face's keys, and its names in errors.
struct ConfigDocument {
  nlohmann::json json;
  std::string where;
  KeyNames names = {};

  /// A view of this document, which must outlive it.
  JsonObject object() const { return {json, where, &names}; }
};

/// Reads a model in one format. Calls may read again each time: ModelSource caches the results.
class ModelReader {
 public:
  virtual ~ModelReader() = default;

  /// config.json.
  virtual ConfigDocument config() const = 0;
  /// config.json as published, with its keys in order; nothing if the format has no such file.
  virtual std::optional<std::string> published_config() const { return std::nullopt; }
  /// generation_config.json; nothing if config.json has the generation defaults.
  virtual std::optional<ConfigDocument> generation() const = 0;
  virtual bool has_weights() const = 0;
  virtual WeightFiles weights() const = 0;
  virtual bool has_tokenizer() const = 0;
  virtual std::shared_ptr<const Tokenizer> tokenizer() const = 0;
  /// @throws Error(usage) for a tokenizer with two sides, which has no such description
  virtual TokenizerDescription tokenizer_description() const = 0;
  /// The precision for serving if none is requested. @param config  config.json
  virtual nn::Precision stored_precision(const JsonObject& config) const = 0;
  /// The path of one of tril's own files for the model: "packed-int8.tril".
  virtual std::filesystem::path beside(const std::string& name) const = 0;
  /// Writes a model's companion files, which do not depend on how its weights are stored, to a directory: the
  /// tokenizer's files and generation_config.json, as published.
  virtual void copy_companions(const std::filesystem::path& directory) const = 0;
};

}  // namespace tril::model
