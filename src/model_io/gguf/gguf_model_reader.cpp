#include "model_io/gguf/gguf_model_reader.h"

#include "base/error.h"
#include "base/file.h"
#include "base/once.h"
#include "format/gguf_parts.h"
#include "model_io/gguf/gguf_config.h"
#include "model_io/gguf/gguf_keys.h"
#include "model_io/gguf/gguf_weights.h"
#include "tokenizer/files/gguf_vocabulary.h"

namespace tril::model {
namespace {

namespace fs = std::filesystem;

class GgufModelReader : public ModelReader {
 public:
  explicit GgufModelReader(const fs::path& path)
      : file_(std::make_shared<const GgufFile>(open_gguf_parts(path.string()))) {}

  ConfigDocument config() const override {
    ConfigDocument document{.json = json(), .where = path()};
    const std::string architecture(file_->at<std::string_view>("general.architecture"));
    for (const GgufKey& key : gguf_keys(document.json.at("model_type").get<std::string>()))
      document.names.emplace(key.hf, architecture + "." + key.gguf);
    return document;
  }

  std::optional<ConfigDocument> generation() const override {
    return ConfigDocument{.json = generation_config_of_gguf(*file_), .where = path()};
  }

  bool has_weights() const override { return true; }

  WeightFiles weights() const override {
    WeightFiles::Contents contents{.where = path(), .tensors = {}, .maps = file_};
    contents.tensors = gguf_weights(*file_, json());
    contents.name_in_file = [config = json()](std::string_view name) { return gguf_tensor_name(config, name); };
    return WeightFiles(std::move(contents));
  }

  bool has_tokenizer() const override { return has_gguf_vocabulary(*file_); }

  std::shared_ptr<const Tokenizer> tokenizer() const override { return load_gguf_tokenizer(*file_); }
  TokenizerDescription tokenizer_description() const override { return read_gguf_vocabulary(*file_); }

  // The file's own blocks if most of its values are in blocks that are served as they are; 8 bits if most have fewer than
  // 16: that keeps their precision (docs/gguf.md has the figures).
  nn::Precision stored_precision(const JsonObject&) const override {
    std::int64_t in_blocks = 0, served = 0, all = 0;
    for (const GgufTensor& t : file_->tensors()) {
      all += t.elements();
      in_blocks += values_of_block(t.type) > 1 ? t.elements() : 0;
      served += block_format_of(t.type) != kern::BlockFormat::none ? t.elements() : 0;
    }
    if (2 * served > all) return nn::Precision::blocks;
    return 2 * in_blocks > all ? nn::Precision::int8 : nn::Precision::fp32;
  }

  fs::path beside(const std::string& name) const override { return path() + "." + name; }

  void copy_companions(const fs::path& directory) const override {
    write_file_atomic((directory / "generation_config.json").string(),
                      generation_config_of_gguf(*file_).dump(2) + "\n");
    if (has_tokenizer()) save_tokenizer(*tokenizer(), directory.string());
  }

 private:
  const std::string& path() const { return file_->path(); }
  const nlohmann::json& json() const {
    return config_.get([&] { return config_of_gguf(*file_); });
  }

  std::shared_ptr<const GgufFile> file_;
  Once<nlohmann::json> config_;
};

}  // namespace

std::unique_ptr<ModelReader> open_gguf(const fs::path& path) {
  return is_gguf_file(path.string()) ? std::make_unique<GgufModelReader>(path) : nullptr;
}

}  // namespace tril::model
