// An opened model: its weights, its tokenizer, and its publisher's defaults.
#pragma once

#include <tril/error.h>
#include <tril/options.h>
#include <tril/tokenize.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

TRIL_NAMESPACE_BEGIN
struct ModelState;

/// Copies share the weights, which are never changed. Thread-safe.
class TRIL_API Model {
 public:
  /// Opens any model that `tril families` and docs/model-directory.md list.
  /// @param path_or_name  a Hugging Face or CTranslate2 directory, a GGUF file, an .argosmodel, Marian's directory or files; or
  ///                      a name such as "Helsinki-NLP/opus-mt-en-de", which is looked up in Hugging Face's cache
  /// @param options  those of option_list(): "precision" ("int8"), "adapter" (a PEFT directory), "pull" (true: download a model
  ///                 that is not in the cache), "models" (further models, which form an ensemble with this one), "weights",
  ///                 "draft-model" (speculative decoding) and more
  /// @throws Error naming the first file, key or tensor that is missing or wrong
  static Model open(const std::string& path_or_name, const Options& options = {});
  static std::vector<OptionInfo> option_list();  ///< the options of open()

  std::string path() const;            ///< where the model was found
  std::string family() const;          ///< "marian", "llama"
  bool has_encoder() const;            ///< true: an encoder-decoder model, which translates; false: a language model
  std::int64_t parameters() const;     ///< number of weights
  std::int64_t max_positions() const;  ///< the longest text in tokens; 0: no limit
  Tokenizer tokenizer() const;         ///< of the model's vocabularies

  /// For the other classes of the library.
  const std::shared_ptr<const ModelState>& state() const { return state_; }

 private:
  explicit Model(std::shared_ptr<const ModelState> state);

  std::shared_ptr<const ModelState> state_;
};

TRIL_NAMESPACE_END
