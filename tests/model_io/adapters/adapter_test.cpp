// PEFT adapters (golden/make_adapters.py): logits as `peft` computes them, mixed rows, merged weights, refusals.
#include "model_io/adapters/adapter.h"

#include <fstream>
#include <map>

#include "format/safetensors_write.h"
#include "model_io/exports/gguf_export.h"
#include "model_io/source/registry.h"
#include "nn/adapters.h"
#include "support/golden.h"
#include "support/temporary.h"

namespace tril::test {
namespace {

namespace fs = std::filesystem;

fs::path adapters() {
  return golden_directory() / "adapters";
}

struct Case {
  explicit Case(const fs::path& d)
      : dir(d),
        file(std::make_shared<const SafetensorsFile>(SafetensorsFile::open((d / "expected.safetensors").string()))),
        expected(*file) {
    std::string name;
    std::ifstream(dir / "base.txt") >> name;
    base = golden_directory() / "hf" / name;
    ids = to_i32(expected.at("ids"));
    T = expected.at("ids").shape[1];
    if (expected.find("source")) source = to_i32(expected.at("source"));
  }

  // [2, T, V]; the context says with which adapters.
  std::vector<float> logits_of(Context& c, const model::Model& m) const {
    const auto of = std::vector<std::int32_t>(c.adapters().of_rows.begin(), c.adapters().of_rows.end());
    const auto each = [&](std::int64_t tokens) {  // the adapter of a text for each of its tokens
      std::vector<std::int32_t> list;
      for (const std::int32_t k : of) list.insert(list.end(), static_cast<std::size_t>(tokens), k);
      return list;
    };
    model::Memory memory;
    if (m.has_encoder()) {
      const std::int64_t S = expected.at("source").shape[1];
      const std::vector<std::int32_t> rows = each(S);
      const nn::AdapterScope scope(c, {.of_rows = rows, .of_all = c.adapters().of_all});
      memory = m.encode(c, source, Rows::rectangle(2, S));
    }
    const std::vector<std::int32_t> rows = each(T);
    const nn::AdapterScope scope(c, {.of_rows = rows, .of_all = c.adapters().of_all});
    const Tensor h = m.decode(
        c,
        {.ids = ids, .rows = Rows::rectangle(2, T), .memory = m.has_encoder() ? &memory : nullptr, .memory_rows = {}});
    return host_copy<float>(model::logits(c, m, h));
  }

  fs::path dir, base;
  std::shared_ptr<const SafetensorsFile> file;
  const SafetensorsFile& expected;
  std::vector<std::int32_t> ids, source;
  std::int64_t T = 0;
};

std::vector<Case> cases() {
  std::vector<Case> list;
  if (!fs::is_directory(adapters())) return list;
  for (const auto& entry : fs::directory_iterator(adapters()))
    if (fs::exists(entry.path() / "expected.safetensors")) list.emplace_back(entry.path());
  return list;
}

TEST(Adapter, LogitsAreThoseOfPeft) {
  const std::vector<Case> list = cases();
  if (list.empty() && other_golden_directory()) GTEST_SKIP() << "no adapter in " << golden_directory();
  ASSERT_FALSE(list.empty());
  for (const Case& each : list) {
    SCOPED_TRACE(each.dir.filename().string());
    const auto source = model::ModelSource::open(each.base);
    const auto m = model::load(source, nn::Precision::fp32);
    const model::Adapter adapter = model::Adapter::open(each.dir);
    EXPECT_GT(adapter.parameters(), 0);
    model::attach(*m, source, {&adapter, 1}, 0);
    for (const kern::Kernels* kernels : kern::tables()) {
      SCOPED_TRACE(kernels->name);
      Arena arena;
      Context c(arena, *kernels);
      expect_close("logits", each.logits_of(c, *m), to_f32(each.expected.at("logits")), 1e-4, 1e-4);
    }
  }
}

TEST(Adapter, MergedModelGivesTheSameLogits) {
  for (const Case& each : cases()) {
    SCOPED_TRACE(each.dir.filename().string());
    const auto source = model::ModelSource::open(each.base);
    const auto m = model::load(source);
    const model::Adapter adapter = model::Adapter::open(each.dir);
    const std::string problem = error_of([&] { model::merge(*m, source, adapter); });
    if (!problem.empty()) {  // a table that is tied to another one
      EXPECT_TRUE(m->has_encoder() && contains(problem, "without merging it")) << problem;
      continue;
    }
    Arena arena;
    Context c(arena);
    expect_close("logits", each.logits_of(c, *m),
                 to_f32(each.expected.at(each.expected.find("merged") ? "merged" : "logits")), 1e-4, 1e-4);
  }
}

// llama.cpp's files have other names, and queries and keys in another order.
TEST(Adapter, OfAGgufModelIsThatOfItsDirectory) {
  if (other_golden_directory()) GTEST_SKIP();
  for (const char* name : {"llama_lora", "llama_dora", "llama_regex", "llama_embedding", "qwen2_bias", "phi3_lora"}) {
    SCOPED_TRACE(name);
    const Case each(adapters() / name);
    const TemporaryDirectory dir;
    const auto original = model::ModelSource::open(each.base);
    const auto plain = model::make(original);
    model::export_gguf(*plain, original.weights(),
                       {.path = dir.path("model.gguf"), .type = GgufType::f32, .name = "test", .tokenizer = {}});
    const auto source = model::ModelSource::open(dir.path("model.gguf"));
    const auto m = model::load(source, nn::Precision::fp32);
    const model::Adapter adapter = model::Adapter::open(each.dir);
    model::attach(*m, source, {&adapter, 1}, 0);
    Arena arena;
    Context c(arena);
    expect_close("logits", each.logits_of(c, *m), to_f32(each.expected.at("logits")), 1e-4, 1e-4);
  }
}

// Rows with one adapter, another one and none, beside each other, against batches with one kind of rows.
TEST(Adapter, MixedRowsEqualRowsOfOneKind) {
  std::map<fs::path, std::vector<Case>> by_base;
  for (const Case& each : cases()) by_base[each.base].push_back(each);
  for (const auto& each : by_base)
    for (const nn::Precision precision : {nn::Precision::fp32, nn::Precision::bf16, nn::Precision::int8}) {
      const fs::path& base = each.first;
      const std::vector<Case>& list = each.second;
      SCOPED_TRACE(base.filename().string() + " " + std::string(nn::name_of(precision)));
      const auto source = model::ModelSource::open(base);
      const auto m = model::load(source, precision);
      std::vector<model::Adapter> all;
      for (const Case& one : list) all.push_back(model::Adapter::open(one.dir));
      model::attach(*m, source, all, -1);
      const auto count = static_cast<std::int32_t>(all.size());
      const auto plain = model::load(source, precision);
      Arena arena;
      Context c(arena);
      const auto with = [&](const std::vector<std::int32_t>& of) {
        const nn::AdapterScope scope(c, {.of_rows = of, .of_all = -1});
        return list[0].logits_of(c, *m);
      };
      const std::vector<float> none = list[0].logits_of(c, *plain);
      EXPECT_EQ(list[0].logits_of(c, *m), none);
      const auto half = [](const std::vector<float>& both, bool second) {
        const auto middle = both.begin() + static_cast<std::ptrdiff_t>(both.size() / 2);
        return second ? std::vector<float>(middle, both.end()) : std::vector<float>(both.begin(), middle);
      };
      for (std::int32_t k = 0; k < count; ++k) {
        const std::int32_t other = k + 1 < count ? k + 1 : -1;
        const std::vector<float> mixed = with({k, other}), first = with({k, k}), second = with({other, other});
        // Sums of other numbers of rows round differently. Such a difference now and then moves an activation in 16 or 8 bits to
        // its neighbouring value. Adapters change logits by 0.5 to 7.
        const double close = precision == nn::Precision::fp32 ? 1e-5 : 5e-3;
        expect_close("first", half(mixed, false), half(first, false), close, close);
        expect_close("second", half(mixed, true), half(second, true), close, close);
        if (precision == nn::Precision::fp32) {
          EXPECT_NE(first, none) << "the adapter changes nothing";
        }
      }
    }
}

// An adapter whose files a test changes.
struct Files {
  Files() {
    for (const char* name : {"adapter_config.json", "adapter_model.safetensors"})
      fs::copy_file(adapters() / "llama_lora" / name, fs::path(dir.path()) / name);
    config = read_json((fs::path(dir.path()) / "adapter_config.json").string());
  }
  std::string problem() const {
    std::ofstream(fs::path(dir.path()) / "adapter_config.json") << config.dump();
    const auto source = model::ModelSource::open(golden_directory() / "hf" / base);
    const auto m = model::load(source, nn::Precision::fp32);
    try {
      const model::Adapter adapter = model::Adapter::open(dir.path());
      model::attach(*m, source, {&adapter, 1}, 0);
    } catch (const Error& e) {
      EXPECT_EQ(e.kind(), ErrorKind::failure) << e.what();
      return e.what();
    }
    return "";
  }

  TemporaryDirectory dir;
  nlohmann::json config;
  std::string base = "llama";
};

TEST(Adapter, RefusesWhatItDoesNotKnowByName) {
  if (other_golden_directory()) GTEST_SKIP();
  const std::vector<std::pair<nlohmann::json, std::string>> changes = {
      {{{"peft_type", "IA3"}}, "IA3"},
      {{{"peft_type", nullptr}}, "peft_type"},
      {{{"use_qalora", true}}, "use_qalora"},
      {{{"target_parameters", {"experts.down_proj"}}, {"use_dora", true}},
       "use_dora: is not supported with target_parameters"},
      {{{"target_parameters", {"q_proj.weight", "v_proj.weight", "down_proj.weight"}},
        {"target_modules", nlohmann::json::array()},
        {"r", 3}},
       "a multiple of a rank of 3"},
      {{{"alora_invocation_tokens", {1, 2}}}, "alora_invocation_tokens"},
      {{{"layer_replication", {{0, 1}}}}, "layer_replication"},
      {{{"something_new", 1}}, "something_new"},
      {{{"ensure_weight_tying", true}}, "ensure_weight_tying"},
      {{{"init_lora_weights", "pissa"}}, "pissa"},
      {{{"bias", "some"}}, "bias"},
      {{{"r", 5}}, "rank of 5"},
      {{{"r", 0}}, "r"},
      {{{"r", "4"}}, "r"},
      {{{"use_dora", true}}, "lora_magnitude_vector"},
      {{{"target_modules", {"q_proj"}}}, "target_modules"},
      {{{"target_modules", "("}}, "adapter_config.json"},
      {{{"layers_to_transform", 0}}, "layers_to_transform"},
      {{{"layers_to_transform", 0}, {"target_modules", ".*_proj"}}, "layers_to_transform: is not supported"},
      {{{"layers_pattern", "layers"}}, "layers_pattern: has no effect without layers_to_transform"},
      {{{"layers_to_transform", {0, 1}}, {"layers_pattern", "blocks"}}, "does not select this module"},
      {{{"rank_pattern", {{"q_proj", 2.5}}}}, "rank_pattern"}};
  for (const auto& [change, expected] : changes) {
    Files files;
    files.config.update(change);
    const std::string problem = files.problem();
    EXPECT_TRUE(contains(problem, expected)) << change << ": " << problem;
  }
  EXPECT_EQ(Files().problem(), "");
}

// The choices of check_target_module_exists of `peft` 0.21, which were tried there.
TEST(Adapter, LayersAreChosenAsByPeft) {
  const auto changes = [](const nlohmann::json& layers, const nlohmann::json& pattern, const std::string& module) {
    const nlohmann::json config{{"peft_type", "LORA"},
                                {"target_modules", {"proj"}},
                                {"layers_to_transform", layers},
                                {"layers_pattern", pattern}};
    return model::read_adapter_config(config.dump(), "adapter_config.json").changes(module);
  };
  const std::string one = "model.layers.1.attn.proj", expert = "model.layers.1.mlp.experts.0.proj";
  for (const nlohmann::json& any : {nlohmann::json(nullptr), nlohmann::json::array(), nlohmann::json("")}) {
    EXPECT_TRUE(changes(1, any, one));
    EXPECT_FALSE(changes({0, 2}, any, one));
    EXPECT_TRUE(changes({1}, any, expert)) << "the first number counts";
    EXPECT_FALSE(changes(1, any, "layers.1.proj")) << "a list of layers is inside a module";
  }
  EXPECT_TRUE(changes(1, "layers", one));
  EXPECT_TRUE(changes(1, "layers", "layers.1.proj"));
  EXPECT_FALSE(changes(1, "blocks", one));
  EXPECT_TRUE(changes(1, {"blocks", "lay.*s"}, one));
  EXPECT_TRUE(changes(0, "experts", expert));
  EXPECT_FALSE(changes(1, "experts", expert));
  EXPECT_FALSE(changes(1, "ayers", one)) << "a pattern begins at a dot";
}

// An unused tensor's name is not another name of the tied output, even if its shape fits.
TEST(Adapter, OfAnUnusedTensorHasNoPlace) {
  if (other_golden_directory()) GTEST_SKIP();
  const auto problem_of = [](const std::string& module, std::int64_t d, std::int64_t V, const std::string& base) {
    Files files;
    files.base = base;
    files.config["target_modules"] = nlohmann::json::array({module});
    const std::vector<float> a(static_cast<std::size_t>(4 * d), 0.5f), b(static_cast<std::size_t>(V * 4), 0.5f);
    const std::string name = "base_model.model." + module;
    write_safetensors((fs::path(files.dir.path()) / "adapter_model.safetensors").string(),
                      {{name + ".lora_A.weight", StoredType::f32, {4, d}, std::as_bytes(std::span(a))},
                       {name + ".lora_B.weight", StoredType::f32, {V, 4}, std::as_bytes(std::span(b))}},
                      {});
    return files.problem();
  };
  const auto m = model::make(model::ModelSource::open(golden_directory() / "hf" / "marian"));
  const std::int64_t d = m->d_model(), V = m->vocab_size();
  EXPECT_EQ(problem_of("lm_head", d, V, "marian"), "") << "the tied output";
  const std::string problem = problem_of("model.encoder.embed_positions", d, V, "marian");
  EXPECT_NE(problem.find("has no such module"), problem.npos) << problem;
}

// `peft` wraps a module once for each of its parameters, in the order in which they are declared.
TEST(Adapter, ParametersOfAModuleAreInOrder) {
  const auto parameters = [](const nlohmann::json& targets, const std::string& module) {
    const nlohmann::json config{{"peft_type", "LORA"}, {"target_modules", {"q_proj"}}, {"target_parameters", targets}};
    return model::read_adapter_config(config.dump(), "adapter_config.json").parameters_of(module);
  };
  using Names = std::vector<std::string>;
  const std::string experts = "model.layers.0.mlp.experts", gate = "model.layers.0.mlp.gate";
  EXPECT_EQ(parameters({"down_proj", "experts.gate_up_proj"}, experts), (Names{"gate_up_proj", "down_proj"}));
  EXPECT_EQ(parameters({"down_proj", "mlp.gate.weight"}, gate), Names{"weight"});
  EXPECT_EQ(parameters({"layers.1.mlp.experts.down_proj"}, experts), Names());
  EXPECT_EQ(parameters({"q_proj.weight", "weight"}, "model.layers.0.self_attn.q_proj"), Names())
      << "target_modules name it";
}

// Two wrappers for one parameter, and an expert that the model does not have.
TEST(Adapter, OfParametersNeedsAllTensors) {
  if (other_golden_directory()) GTEST_SKIP();
  const auto problem_of = [](const std::string& module, std::int64_t rows, const std::string& targets) {
    Files files;
    files.base = "mixtral";
    files.config["target_modules"] = nlohmann::json::array();
    files.config["target_parameters"] = nlohmann::json::array({targets});
    files.config["r"] = 2;
    const std::string name = "base_model.model.model.layers.0." + module;
    const std::vector<float> a(static_cast<std::size_t>(rows * 32), 0.5f), b(static_cast<std::size_t>(48 * rows), 0.5f);
    write_safetensors((fs::path(files.dir.path()) / "adapter_model.safetensors").string(),
                      {{name + ".lora_A.weight", StoredType::f32, {rows, 32}, std::as_bytes(std::span(a))},
                       {name + ".lora_B.weight", StoredType::f32, {48, rows}, std::as_bytes(std::span(b))}},
                      {});
    return files.problem();
  };
  EXPECT_EQ(problem_of("mlp.experts", 8, "experts.down_proj"), "");
  EXPECT_TRUE(contains(problem_of("mlp.experts", 6, "experts.down_proj"), "the model has 4 experts"));
  EXPECT_TRUE(contains(problem_of("mlp.experts.base_layer", 8, "experts.down_proj"), "another number"));
  EXPECT_TRUE(
      contains(problem_of("mlp.experts", 8, "experts.down_proj_bias"), "supported: gate_up_proj and down_proj"));
  EXPECT_TRUE(contains(problem_of("mlp.experts", 8, "experts.gate_up_proj"), "belongs to another model"));
}

TEST(Adapter, RefusesAnAdapterOfAnotherModel) {
  if (other_golden_directory()) GTEST_SKIP();
  Files files;
  files.base = "gpt2";
  EXPECT_TRUE(contains(files.problem(), "has no such module"));
  files.base = "qwen3";  // other sizes
  EXPECT_TRUE(contains(files.problem(), "has shape"));
}

TEST(Adapter, RefusesWrongTensors) {
  if (other_golden_directory()) GTEST_SKIP();
  const std::string module = "base_model.model.model.layers.0.self_attn.q_proj";
  const auto with = [&](const std::vector<std::pair<std::string, std::vector<std::int64_t>>>& tensors) {
    Files files;
    std::vector<std::vector<float>> values;
    std::vector<WeightView> views;
    values.reserve(tensors.size());
    for (const auto& [name, shape] : tensors) {
      std::int64_t n = 1;
      for (const std::int64_t d : shape) n *= d;
      values.emplace_back(static_cast<std::size_t>(n), 0.5f);
      views.push_back({name, StoredType::f32, shape, std::as_bytes(std::span(values.back()))});
    }
    write_safetensors((fs::path(files.dir.path()) / "adapter_model.safetensors").string(), views, {});
    return files.problem();
  };
  EXPECT_EQ(with({{module + ".lora_A.weight", {4, 48}}, {module + ".lora_B.weight", {48, 4}}}), "");
  for (const auto& [tensors, expected] :
       std::vector<std::pair<std::vector<std::pair<std::string, std::vector<std::int64_t>>>, std::string>>{
           {{{module + ".lora_A.weight", {4, 48}}}, "only lora_A"},
           {{{module + ".lora_A.weight", {4, 48}}, {module + ".lora_B.weight", {47, 4}}}, "has shape"},
           {{{module + ".lora_A.weight", {4}}, {module + ".lora_B.weight", {48, 4}}}, "shapes"},
           {{{module + ".lora_E", {4, 48}}}, "lora_E"},
           {{{"q_proj.lora_A.weight", {4, 48}}}, "q_proj.lora_A.weight"},
           {{{module + ".lora_magnitude_vector", {48}}}, "lora_A"},
           {{{"base_model.model.model.norm.weight", {48}}}, "model.norm"},
           {{{"base_model.model.model.layers.9.self_attn.q_proj.lora_A.weight", {4, 48}},
             {"base_model.model.model.layers.9.self_attn.q_proj.lora_B.weight", {48, 4}}},
            "layers.9"},
           {{}, "no tensors"}}) {
    const std::string problem = with(tensors);
    EXPECT_TRUE(contains(problem, expected)) << expected << ": " << problem;
  }
}

// Steps with a cache read the matrix of latent attention's keys and values itself.
TEST(Adapter, OfKeysAndValuesOfLatentsIsOnlyMerged) {
  if (other_golden_directory()) GTEST_SKIP();
  Files files;
  files.base = "deepseek_v2";
  files.config["target_modules"] = nlohmann::json::array({"kv_b_proj"});
  const std::string module = "base_model.model.model.layers.0.self_attn.kv_b_proj";
  const std::vector<float> a(4 * 16, 0.5f), b(80 * 4, 0.5f);
  const std::vector<WeightView> views{
      {module + ".lora_A.weight", StoredType::f32, {4, 16}, std::as_bytes(std::span(a))},
      {module + ".lora_B.weight", StoredType::f32, {80, 4}, std::as_bytes(std::span(b))}};
  write_safetensors((fs::path(files.dir.path()) / "adapter_model.safetensors").string(), views, {});
  const std::string problem = files.problem();
  EXPECT_TRUE(contains(problem, "cannot be adapted as the model runs"));
  const auto source = model::ModelSource::open(golden_directory() / "hf" / files.base);
  const auto m = model::load(source);
  EXPECT_NO_THROW(model::merge(*m, source, model::Adapter::open(files.dir.path())));
}

TEST(Adapter, NeedsItsFiles) {
  if (other_golden_directory()) GTEST_SKIP();
  Files files;
  fs::remove(fs::path(files.dir.path()) / "adapter_model.safetensors");
  EXPECT_TRUE(contains(files.problem(), "adapter_model.bin"));
  EXPECT_THROW(model::Adapter::open(golden_directory() / "hf" / "llama"), Error);
}

}  // namespace
}  // namespace tril::test
