// An opened model of any format: config, weights, tokenizer, the publisher's generation defaults. Each part is read
// once, on first use, and knows the file and the key or tensor it came from.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "format/json_file.h"
#include "model_io/contents/generation_config.h"
#include "model_io/contents/weight_files.h"
#include "nn/serving.h"
#include "tokenizer/files/pipeline_tokenizer.h"

namespace tril::model {

/// Copies share what was read. Thread-safe.
class ModelSource {
 public:
  /// Opens a Hugging Face directory, a GGUF file, files of the Marian toolkit (marian_files.h) or of CTranslate2
  /// (ctranslate2_files.h).
  /// @throws Error for any other path; contents are checked when they are read
  static ModelSource open(const std::filesystem::path& path);

  const std::filesystem::path& path() const;
  std::string name() const;  ///< the path, for messages

  /// config.json, or its equivalent made from another format. The source must outlive it.
  JsonObject config() const;
  /// config.json as published, with its keys in order; nothing if the format has no such file.
  std::optional<std::string> published_config() const;
  const GenerationConfig& generation() const;
  /// The tokens that end a text: generation()'s, or config.json's where that names none.
  std::vector<std::int32_t> end_tokens() const;
  /// Only this part of generation(), which may be valid even if the rest is not.
  std::optional<nn::AttentionHeads> alignment_heads() const;
  /// generation_config.json for a copy of this model: the publisher's own, or made of config.json.
  nlohmann::json published_generation() const;

  bool has_weights() const;
  const WeightFiles& weights() const;
  nn::Precision stored_precision() const;  ///< the default precision for serving

  bool has_tokenizer() const;
  std::shared_ptr<const Tokenizer> tokenizer() const;
  TokenizerDescription tokenizer_description() const;

  /// The path of one of tril's own files for the model: "packed-int8.tril".
  std::filesystem::path beside(const std::string& name) const;
  /// Writes the tokenizer's files and generation_config.json to a directory, as published.
  void copy_companions(const std::filesystem::path& directory) const;

 private:
  struct State;
  explicit ModelSource(std::shared_ptr<const State> state) : state_(std::move(state)) {}

  std::shared_ptr<const State> state_;
};

}  // namespace tril::model
