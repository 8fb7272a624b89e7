#include "model_io/marian/marian_model_reader.h"

#include "base/error.h"
#include "base/file.h"
#include "base/once.h"
#include "model_io/marian/marian_config.h"
#include "model_io/marian/marian_files.h"
#include "model_io/marian/marian_tensors.h"
#include "model_io/marian/marian_tokenizer_files.h"
#include "model_io/marian/marian_weights.h"

namespace tril::model {
namespace {

namespace fs = std::filesystem;

class MarianModelReader : public ModelReader {
 public:
  MarianModelReader(fs::path path, MarianFiles files)
      : path_(std::move(path)),
        files_(std::move(files)),
        weights_(std::make_shared<const MarianTensors>(marian_tensors(files_.shelf, files_.weights))),
        model_yml_(read_marian_model_yml(*weights_)) {}

  ConfigDocument config() const override {
    return from_files([&] {
      check_words_of_embeddings(*weights_, model_yml());
      return config_of_marian(model_yml(), ids());
    });
  }

  std::optional<ConfigDocument> generation() const override {
    const std::string where = files_.shelf.place_of(files_.decoder.value_or(files_.weights));
    return from_files([&] { return generation_of_marian(JsonObject(files_.decoding, where), config().json, ids()); });
  }

  bool has_weights() const override { return true; }
  WeightFiles weights() const override {
    return from_files([&] { return marian_weights(weights_, config().json); });
  }

  bool has_tokenizer() const override { return !files_.vocabularies.empty(); }
  std::shared_ptr<const Tokenizer> tokenizer() const override {
    return tokenizer_.get([&] { return from_files([&] { return load_marian_vocabularies(files_, model_yml()); }); });
  }
  TokenizerDescription tokenizer_description() const override {
    fail_usage(path_.string(), "its tokenizer has a vocabulary for each side, which is not supported here");
  }

  nn::Precision stored_precision(const JsonObject&) const override {
    return weights_->is_int8() ? nn::Precision::int8 : nn::Precision::fp32;
  }

  fs::path beside(const std::string& name) const override {
    std::error_code ignored;
    return fs::is_directory(path_, ignored) ? path_ / name : fs::path(path_.string() + "." + name);
  }

  void copy_companions(const fs::path& directory) const override {
    write_file_atomic((directory / "generation_config.json").string(), generation()->json.dump(2) + "\n");
    if (has_tokenizer()) save_tokenizer(*tokenizer(), directory.string());
  }

 private:
  JsonObject model_yml() const {
    return JsonObject(model_yml_, fmt::format("{}: special:model.yml", files_.shelf.place_of(files_.weights)));
  }
  // Without a vocabulary: the ids that Marian gives to new vocabularies.
  MarianIds ids() const {
    if (!has_tokenizer()) return {};
    const SpecialIds& special = tokenizer()->special(Side::target);
    return {.eos = special.eos, .unk = special.unk};
  }

  fs::path path_;
  MarianFiles files_;
  std::shared_ptr<const MarianTensors> weights_;
  nlohmann::json model_yml_;
  Once<std::shared_ptr<const Tokenizer>> tokenizer_;
};

}  // namespace

std::unique_ptr<ModelReader> open_marian(const fs::path& path) {
  std::optional<MarianFiles> files = find_marian_files(path);
  return files ? std::make_unique<MarianModelReader>(path, std::move(*files)) : nullptr;
}

}  // namespace tril::model
