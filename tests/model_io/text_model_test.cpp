// The language model inside directories with pictures or speech, in the forms in which publishers store it.
#include "model_io/text_model.h"

#include "format/safetensors_write.h"
#include "model_io/registry.h"
#include "support/golden.h"
#include "support/temporary.h"

namespace tril::model::text_model_test {
namespace {

namespace fs = std::filesystem;

fs::path plain(const char* name) {
  return fs::path(test::test_dir()) / "golden/hf" / name;
}

std::vector<float> values_of(const fs::path& directory) {
  return host_copy<float>(load(ModelSource::open(directory))->parameters().flat());
}

// Writes the weights of a plain directory under other names ("": unchanged prefix), with a tensor of another part.
void write_weights(const TemporaryDirectory& to, const fs::path& from, std::string_view prefix, std::string_view head,
                   const std::string& other) {
  const auto file = SafetensorsFile::open((from / "model.safetensors").string());
  std::vector<std::string> names;
  for (const WeightView& view : file.tensors()) {
    const bool inner = view.name.starts_with("model.");
    names.push_back(std::string(inner ? prefix : head) + view.name.substr(inner ? 6 : 0));
  }
  std::vector<WeightView> views;
  for (std::size_t i = 0; i < names.size(); ++i) {
    views.push_back(file.tensors()[i]);
    views.back().name = names[i];
  }
  const std::vector<float> value{1};
  views.push_back({other, StoredType::f32, {1}, std::as_bytes(std::span(value))});
  write_safetensors(to.path("model.safetensors"), views, {});
}

nlohmann::json config_of(const char* name) {
  return nlohmann::json::parse(read_text((plain(name) / "config.json").string(), 1 << 20));
}

TEST(TextModel, IsFoundUnderTheNamesOfPublishers) {
  struct Form {
    const char *type, *text, *prefix, *head, *other;
    const char* published = nullptr;  ///< the name of the text model in the publisher's directory
  };
  for (const Form& f : {Form{"llava", "llama", "language_model.model.", "language_model.", "vision_tower.a"},
                        Form{"llava_next", "mistral_swa", "model.language_model.", "", "model.image_newline"},
                        Form{"idefics3", "llama", "model.text_model.", "", "model.connector.a"},
                        Form{"qwen2_audio", "qwen2", "language_model.model.", "language_model.", "audio_tower.a"},
                        Form{"voxtral", "llama", "model.language_model.", "", "model.audio_tower.a"},
                        Form{"granite_speech", "granite", "language_model.model.", "language_model.", "encoder.a"},
                        Form{"janus", "llama", "model.language_model.", "", "model.vqmodel.a"},
                        Form{"exaone4_5", "exaone4", "model.language_model.", "", "model.visual.a"},
                        Form{"exaone4_5", "exaone4", "model.language_model.", "", "model.visual.a", "exaone4_5_text"},
                        Form{"aya_vision", "cohere2", "model.language_model.", "", "model.multi_modal_projector.a"}}) {
    SCOPED_TRACE(f.type);
    const TemporaryDirectory at;
    nlohmann::json text = config_of(f.text);
    if (f.published) text["model_type"] = f.published;
    nlohmann::json whole{{"model_type", f.type}, {"vision_config", {{"depth", 2}}}, {"text_config", text}};
    whole["tie_word_embeddings"] = text.value("tie_word_embeddings", false);
    at.write("config.json", whole.dump());
    write_weights(at, plain(f.text), f.prefix, f.head, f.other);
    EXPECT_EQ(values_of(at.path()), values_of(plain(f.text)));
  }
}

// As Qwen2-VL was published: the language model's keys beside those of the pictures.
TEST(TextModel, MayHaveItsKeysAtTheTop) {
  const TemporaryDirectory at;
  nlohmann::json config = config_of("qwen2");
  config.update({{"model_type", "qwen2_vl"},
                 {"architectures", {"Qwen2VLForConditionalGeneration"}},
                 {"vision_config", {{"depth", 32}}},
                 {"image_token_id", 129},
                 {"rope_theta", config.at("rope_parameters").at("rope_theta")},
                 {"rope_scaling", {{"type", "mrope"}, {"mrope_section", {2, 2, 2}}}}});
  config.erase("rope_parameters");
  at.write("config.json", config.dump());
  write_weights(at, plain("qwen2"), "model.", "", "visual.blocks.0.norm1.weight");
  const auto m = load(ModelSource::open(at.path()));
  EXPECT_EQ(m->family(), "qwen2");
  EXPECT_EQ(host_copy<float>(m->parameters().flat()), values_of(plain("qwen2")));
}

// The defaults of gemma4_unified_text differ from those of gemma4_text.
TEST(TextModel, OfGemma4UnifiedHasDefaultsOfItsOwn) {
  nlohmann::json config = config_of("gemma4_unified");
  for (const char* key : {"max_position_embeddings", "sliding_window"}) config["text_config"].erase(key);
  const ConfigDocument text =
      text_config({.json = config, .where = "config.json"}, [] { return std::vector<std::string>(); });
  EXPECT_EQ(text.json.at("max_position_embeddings"), 262144);
  EXPECT_EQ(text.json.at("sliding_window"), 1024);
}

TEST(TextModel, OfAnUnknownFamilyIsRefusedByName) {
  const TemporaryDirectory at;
  nlohmann::json text = config_of("llama");
  text["model_type"] = "something_new";
  at.write("config.json", nlohmann::json{{"model_type", "llava"}, {"text_config", text}}.dump());
  EXPECT_TRUE(contains(error_of([&] { make(ModelSource::open(at.path())); }), "something_new"));
  at.write("config.json", nlohmann::json{{"model_type", "paligemma"}, {"text_config", config_of("gemma")}}.dump());
  EXPECT_TRUE(contains(error_of([&] { make(ModelSource::open(at.path())); }), "paligemma"));
}

}  // namespace
}  // namespace tril::model::text_model_test
