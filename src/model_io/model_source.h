// One opened model, in whichever form it was published: config, weights, tokenizer, what the publisher says of generation.
// Each part is read once, when it is first asked for, and knows the file and the key or tensor that it came from.
#pragma once

#include <filesystem>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

#include "format/json_file.h"
#include "model_io/generation_config.h"
#include "model_io/weight_files.h"
#include "nn/serving.h"
#include "tokenizer/files/pipeline_tokenizer.h"

namespace tril::model {

/// Copies share what was read, and may be used by several threads at once.
class ModelSource {
 public:
  /// A directory as Hugging Face lays it out, or a GGUF file.
  /// @throws Error where the path is neither; what is inside is looked at when it is asked for
  static ModelSource open(const std::filesystem::path& path);

  const std::filesystem::path& path() const;
  std::string name() const;  ///< the path, for messages

  /// config.json, or the same keys made of what the form has in its place. The source must outlive it.
  JsonObject config() const;
  /// config.json as it was published, its keys in their order; nothing where the form has no such file.
  std::optional<std::string> published_config() const;
  const GenerationConfig& generation() const;
  /// Of generation() this alone, which may be right where the rest is not.
  std::optional<AlignmentHeads> alignment_heads() const;
  /// generation_config.json for a copy of this model: the publisher's own, or made of config.json.
  nlohmann::json published_generation() const;

  bool has_weights() const;
  const WeightFiles& weights() const;
  nn::Precision stored_precision() const;  ///< what the weights serve in where nothing else is asked for

  bool has_tokenizer() const;
  std::shared_ptr<const Tokenizer> tokenizer() const;
  TokenizerDescription tokenizer_description() const;

  /// Where a file of tril's own that belongs to the model lies: "packed-int8.tril".
  std::filesystem::path beside(const std::string& name) const;
  /// Writes the tokenizer's files and generation_config.json to a directory, as they were published.
  void copy_companions(const std::filesystem::path& directory) const;

 private:
  struct State;
  explicit ModelSource(std::shared_ptr<const State> state) : state_(std::move(state)) {}

  std::shared_ptr<const State> state_;
};

}  // namespace tril::model
