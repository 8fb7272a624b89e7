// The language model inside directories with pictures or speech, in the forms in which publishers store it.
#include "model_io/source/text_model.h"

#include <functional>

#include "base/as_size.h"
#include "format/safetensors_write.h"
#include "model_io/source/registry.h"
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

// Older versions wrote tie_word_embeddings into text_config only; newer ones complete the outer config, which says false.
TEST(TextModel, IsTiedIfItsOwnConfigAloneSaysSo) {
  const TemporaryDirectory at;
  const nlohmann::json text = config_of("qwen2");
  ASSERT_EQ(text.at("tie_word_embeddings"), true);
  const nlohmann::json whole{{"model_type", "llava"},
                             {"vision_config", {{"depth", 2}}},
                             {"text_config", text},
                             {"tie_word_embeddings", false}};
  at.write("config.json", whole.dump());
  write_weights(at, plain("qwen2"), "language_model.model.", "language_model.", "vision_tower.a");
  EXPECT_EQ(values_of(at.path()), values_of(plain("qwen2")));
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

// As PaddleOCR-VL was published: with keys of its authors' own code. It rotates halves of heads, as Llama does and ERNIE 4.5 does not.
TEST(TextModel, OfPaddleOcrIsLlama) {
  const TemporaryDirectory at;
  const nlohmann::json whole = config_of("paddleocr_vl");
  nlohmann::json flat = whole.at("text_config");
  flat.update({{"model_type", "paddleocr_vl"},
               {"architectures", {"PaddleOCRVLForConditionalGeneration"}},
               {"vision_config", whole.at("vision_config")},
               {"tie_word_embeddings", false},
               {"rope_theta", flat.at("rope_parameters").at("rope_theta")},
               {"rope_scaling", {{"mrope_section", {2, 2, 2}}, {"rope_type", "default"}, {"type", "default"}}},
               {"attention_probs_dropout_prob", 0.0},
               {"compression_ratio", 1.0},
               {"ignored_index", -100},
               {"max_sequence_length", nullptr},
               {"sliding_window", nullptr},
               {"rope_is_neox_style", true},
               {"use_3d_rope", true},
               {"use_flash_attention", false},
               {"weight_share_add_bias", true}});
  flat.erase("rope_parameters");
  at.write("config.json", flat.dump());
  fs::copy_file(plain("paddleocr_vl") / "model.safetensors", at.path("model.safetensors"));
  const auto m = load(ModelSource::open(at.path()));
  EXPECT_EQ(m->family(), "llama");
  EXPECT_EQ(m->config_json(), load(ModelSource::open(plain("paddleocr_vl")))->config_json());
}

// A directory whose tensors of all experts are changed by `change`, which gets the name, the shape and the values.
using Change = std::function<void(std::string&, std::vector<std::int64_t>&, std::vector<float>&)>;

void write_experts(const TemporaryDirectory& to, const fs::path& from, const Change& change) {
  const auto file = SafetensorsFile::open((from / "model.safetensors").string());
  std::vector<std::vector<float>> values;
  std::vector<WeightView> views;
  for (const WeightView& view : file.tensors()) {
    WeightView& own = views.emplace_back(view);
    if (view.name.find(".experts.") == view.name.npos) continue;
    std::vector<float>& changed = values.emplace_back(to_f32(view));
    change(own.name, own.shape, changed);
    own.bytes = std::as_bytes(std::span(changed));
  }
  fs::copy_file(from / "config.json", to.path("config.json"), fs::copy_options::overwrite_existing);
  write_safetensors(to.path("model.safetensors"), views, {});
}

void transpose_last_two(std::string& /*name*/, std::vector<std::int64_t>& shape, std::vector<float>& values) {
  const std::vector<float> before = values;
  const std::int64_t E = shape[0], R = shape[1], C = shape[2];
  for (std::int64_t e = 0; e < E; ++e)
    for (std::int64_t r = 0; r < R; ++r)
      for (std::int64_t c = 0; c < C; ++c) values[as_size((e * C + c) * R + r)] = before[as_size((e * R + r) * C + c)];
  std::swap(shape[1], shape[2]);
}

// Qwen publishes [experts, in, out], transformers 5 writes [experts, out, in].
TEST(TextModel, OfQwen3VlMoeHasItsExpertsInEitherForm) {
  const fs::path written = plain("qwen3_vl_moe");
  const TemporaryDirectory at;
  write_experts(at, written, transpose_last_two);
  EXPECT_EQ(load(ModelSource::open(at.path()))->family(), "qwen3_moe");
  EXPECT_EQ(values_of(at.path()), values_of(written));
}

TEST(TextModel, OfQwen3VlMoeNeedsBothTensorsOfItsExperts) {
  const auto problem = [](const Change& change) {
    const TemporaryDirectory at;
    write_experts(at, plain("qwen3_vl_moe"), change);
    return error_of([&] { load(ModelSource::open(at.path())); });
  };
  EXPECT_TRUE(contains(problem([](std::string& name, auto&, auto&) {
                         if (name.ends_with("down_proj")) name = name + "_scale";
                       }),
                       "gate_up_proj", "no down_proj"));
  EXPECT_TRUE(contains(problem([](std::string& name, auto& shape, auto& values) {
                         if (name.ends_with("down_proj")) transpose_last_two(name, shape, values);
                       }),
                       "experts.gate_up_proj", "[4, 64, 48]", "[4, 32, 48]"));
  EXPECT_TRUE(contains(problem([](std::string&, auto& shape, auto&) {
                         shape = {shape[0] * shape[1], shape[2]};
                       }),
                       "experts.gate_up_proj", "[256, 48]"));
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
