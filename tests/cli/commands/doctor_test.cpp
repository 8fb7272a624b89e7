// tril doctor: sound models, and each finding of a damaged one.
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "support/run_program.h"
#include "support/tiny_marian.h"

namespace tril {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

struct Examined {
  int code = -1;
  Json report;
  std::vector<std::string> wrong;  ///< ids of errors and warnings about the model
};

// Findings of the machine, the hub and other settings do not count here.
bool is_of_model(const std::string& id) {
  for (const char* other :
       {"threads", "cores", "kernels", "memory-low", "huge", "governor", "open-files", "numa", "hub"})
    if (id.starts_with(other)) return false;
  return true;
}

Examined examine(const std::string& model, std::vector<std::string> more = {"--no-speed"}) {
  std::vector<std::string> args{"doctor", "--json"};
  if (!model.empty()) args.push_back(model);
  args.insert(args.end(), more.begin(), more.end());
  const Ran ran = run_tril(args);
  EXPECT_TRUE(ran.code == 0 || ran.code == 1) << ran.err;
  Examined e{.code = ran.code, .report = Json::parse(ran.out), .wrong = {}};
  for (const Json& f : e.report["findings"]) {
    for (const char* part : {"id", "what", "why"}) EXPECT_NE(f[part], "") << f;
    if (f["severity"] != "note" && is_of_model(f["id"])) e.wrong.push_back(f["id"]);
  }
  EXPECT_EQ(e.report["sound"].get<bool>(), e.code == 0);
  return e;
}

// A language model with a chat template.
std::string write_tower(const ScratchFolder& folder) {
  const std::string model = folder.at("tower");
  fs::copy(fs::path(test::test_dir()) / "golden/lm_translation/TowerInstruct-7B-v0.2", model);
  for (const auto& entry : fs::directory_iterator(model)) fs::permissions(entry.path(), fs::perms::owner_all);
  return model;
}

void change_json(const std::string& file, const std::function<void(Json&)>& edit) {
  Json j = Json::parse(file_text(file));
  edit(j);
  fs::permissions(file, fs::perms::owner_all);
  std::ofstream(file) << j;
}

using Ids = std::vector<std::string>;

// Any of the end tokens that are used may be the tokenizer's, whichever file names them.
TEST(Doctor, EndTokensOfConfigJson) {
  const ScratchFolder folder;
  const std::string model = write_tower(folder);
  change_json(model + "/config.json", [](Json& j) { j["eos_token_id"] = {5, j.at("eos_token_id")}; });
  change_json(model + "/generation_config.json", [](Json& j) { j.erase("eos_token_id"); });
  EXPECT_EQ(examine(model).wrong, Ids{});
  change_json(model + "/config.json", [](Json& j) { j["eos_token_id"] = {5, 6}; });
  EXPECT_EQ(examine(model).wrong, Ids{"special-ids"});
}

TEST(Doctor, SoundModels) {
  const ScratchFolder folder;
  for (const std::string& model : {write_tiny_marian(folder), write_tower(folder)}) {
    const Examined e = examine(model);
    EXPECT_EQ(e.wrong, Ids{}) << e.report["findings"];
    EXPECT_GT(e.report["model"]["parameters"], 0);
  }
}

TEST(Doctor, EachFindingOfADamagedModel) {
  const ScratchFolder folder;
  const std::string sound = write_tower(folder);
  int copies = 0;
  const auto damaged = [&](const std::function<void(const std::string& model)>& damage) {
    const std::string model = folder.at("copy" + std::to_string(++copies));
    fs::copy(sound, model);
    damage(model);
    return examine(model).wrong;
  };
  const auto removed = [&](std::vector<std::string> names) {
    return damaged([&](const std::string& model) {
      for (const std::string& name : names) fs::remove(model + "/" + name);
    });
  };
  EXPECT_EQ(removed({"config.json"}), Ids{"config-invalid"});
  EXPECT_EQ(removed({"model.safetensors"}), Ids{"weights-missing"});
  EXPECT_EQ(removed({"tokenizer.json"}), Ids{"tokenizer-missing"});
  EXPECT_EQ(damaged([](const std::string& model) { fs::resize_file(model + "/model.safetensors", 5000); }),
            Ids{"weights-damaged"});
  EXPECT_EQ(damaged([](const std::string& model) {
              change_json(model + "/config.json",
                          [](Json& j) { j["num_hidden_layers"] = j["num_hidden_layers"].get<int>() + 1; });
            }),
            Ids{"weights-incomplete"});
  EXPECT_EQ(damaged([](const std::string& model) {
              change_json(model + "/config.json", [](Json& j) { j["hidden_size"] = "many"; });
            }),
            Ids{"config-invalid"});
  EXPECT_EQ(damaged([](const std::string& model) { std::ofstream(model + "/tokenizer.json") << "{"; }),
            Ids{"tokenizer-damaged"});
  EXPECT_EQ(damaged([](const std::string& model) { std::ofstream(model + "/chat_template.jinja") << "{% if %}"; }),
            Ids{"chat-template"});
  EXPECT_EQ(damaged([](const std::string& model) {
              std::ofstream(model + "/chat_template.jinja") << "{{ raise_exception('no') }}";
            }),
            Ids{"chat-template"});
  EXPECT_EQ(damaged([](const std::string& model) {
              change_json(model + "/generation_config.json", [](Json& j) { j["eos_token_id"] = 5; });
            }),
            Ids{"special-ids"});
  for (const Json& config : {Json{{"bad_words_ids", {{3, 100000}}}}, Json{{"suppress_tokens", {100000}}},
                             Json{{"eos_token_id", 100000}}, Json{{"bad_words_ids", 5}}})
    EXPECT_EQ(damaged([&](const std::string& model) {
                change_json(model + "/generation_config.json", [&](Json& j) { j.update(config); });
              }),
              Ids{"generation-config"})
        << config;
  EXPECT_EQ(damaged([](const std::string& model) {
              const Ran ran = run_tril({"pack", "-m", model, "--precision", "int8"});
              ASSERT_EQ(ran.code, 0) << ran.err;
              const std::string image = model + "/packed-int8.tril";
              fs::permissions(image, fs::perms::owner_all);
              std::fstream(image, std::ios::in | std::ios::out | std::ios::binary).seekp(5000) << "damage";
            }),
            Ids{"packed-image"});
}

// A file that cannot be opened is a finding, whatever it is for.
TEST(Doctor, DanglingLinks) {
  const ScratchFolder folder;
  const std::string sound = write_tower(folder);
  const std::vector<std::pair<std::string, Ids>> cases{{"model.safetensors", {"weights-missing"}},
                                                       {"packed-int8.tril", {"packed-image"}}};
  for (const auto& [file, expected] : cases) {
    const std::string model = folder.at("linked-" + file);
    fs::copy(sound, model);
    fs::remove(model + "/" + file);
    fs::create_symlink("/nowhere/at/all", model + "/" + file);
    EXPECT_EQ(examine(model).wrong, expected) << file;
  }
}

TEST(Doctor, DamagedWeightsWithAPackedImage) {
  const ScratchFolder folder;
  const std::string model = write_tower(folder);
  const Ran ran = run_tril({"pack", "-m", model, "--precision", "int8"});
  ASSERT_EQ(ran.code, 0) << ran.err;
  fs::resize_file(model + "/model.safetensors", 5000);
  EXPECT_EQ(examine(model).wrong, Ids{"weights-damaged"});
}

TEST(Doctor, NamesTheNearestFamily) {
  const ScratchFolder folder;
  const std::string model = write_tower(folder);
  change_json(model + "/config.json", [](Json& j) { j["model_type"] = "lama"; });
  const Examined e = examine(model);
  ASSERT_EQ(e.wrong, Ids{"family-unsupported"});
  for (const Json& f : e.report["findings"])
    if (f["id"] == "family-unsupported") {
      EXPECT_NE(f["try"].get<std::string>().find("llama"), std::string::npos) << f;
    }
}

TEST(Doctor, ATokenizerOfAnotherModel) {
  const ScratchFolder folder;
  const std::string model = write_tower(folder);
  const fs::path golden = fs::path(test::test_dir()) / "golden/hf";
  for (const char* file : {"config.json", "generation_config.json", "model.safetensors"})
    fs::copy(golden / "llama" / file, model, fs::copy_options::overwrite_existing);
  const Ids wrong = examine(model).wrong;
  EXPECT_NE(std::find(wrong.begin(), wrong.end(), "tokenizer-misfit"), wrong.end());
}

TEST(Doctor, FilesThatMayNotBeRead) {
  if (geteuid() == 0) GTEST_SKIP() << "root may read every file";
  const ScratchFolder folder;
  const std::string model = write_tower(folder);
  fs::permissions(model + "/model.safetensors", fs::perms::none);
  const Ids wrong = examine(model).wrong;
  EXPECT_EQ(wrong.at(0), "file-permissions");
}

TEST(Doctor, SettingsThatNoCommandKnows) {
  ASSERT_EQ(setenv("TRIL_QUEU_SIZE", "5", 1), 0);
  const Examined e = examine("");
  unsetenv("TRIL_QUEU_SIZE");
  EXPECT_EQ(e.wrong, Ids{"setting-unknown"});
  EXPECT_EQ(e.code, 1);
  EXPECT_NE(e.report["findings"].dump().find("did you mean TRIL_QUEUE_SIZE"), std::string::npos);
  ASSERT_EQ(setenv("TRIL_INSTRUCTON_SET", "avx2", 1), 0);
  const Examined kernels = examine("");
  unsetenv("TRIL_INSTRUCTON_SET");
  EXPECT_NE(kernels.report["findings"].dump().find("did you mean TRIL_INSTRUCTION_SET"), std::string::npos);
}

TEST(Doctor, SettingsThatTheServerRefuses) {
  ASSERT_EQ(setenv("TRIL_QUEUE_SIZE", "many", 1), 0);
  const Examined e = examine("");
  unsetenv("TRIL_QUEUE_SIZE");
  EXPECT_EQ(e.wrong, Ids{"setting-invalid"});
  const std::string text = e.report["findings"].dump();
  for (const char* part : {"TRIL_QUEUE_SIZE", "many", "integer"}) EXPECT_NE(text.find(part), std::string::npos) << text;
}

TEST(Doctor, ATruncatedGgufFile) {
  const ScratchFolder folder;
  const std::string file = folder.at("model.gguf");
  const Ran ran = run_tril({"export", "-m", write_tower(folder), "-o", file});
  ASSERT_EQ(ran.code, 0) << ran.err;
  EXPECT_EQ(examine(file).wrong, Ids{});
  const auto size = fs::file_size(file);
  for (const std::uintmax_t left : {size - 1, size / 2, std::uintmax_t{100}, std::uintmax_t{4}}) {
    fs::resize_file(file, left);
    const Examined e = examine(file);
    EXPECT_EQ(e.wrong, Ids{"weights-damaged"}) << left;
    EXPECT_NE(e.report["findings"].dump().find("model.gguf"), std::string::npos);
  }
}

// With speed: every precision, and the memory that the weights take.
TEST(Doctor, ExpectsASpeed) {
  const ScratchFolder folder;
  const std::string model = write_tiny_marian(folder);
  const Examined e = examine(model, {"--threads", "1"});
  EXPECT_EQ(e.wrong, Ids{}) << e.report["findings"];
  const Json& m = e.report["model"];
  ASSERT_EQ(m["expected"].size(), 4u) << m;
  for (const Json& s : m["expected"])
    for (const char* key : {"bytes", "weight_bytes_per_token", "tokens_per_second", "prompt_tokens_per_second"})
      EXPECT_GT(s[key].get<double>(), 0) << s;
  EXPECT_GT(m["expected"][0]["bytes"], m["expected"][2]["bytes"]) << "int8 is smaller than fp32";
  for (const char* rate : {"read_bytes", "flops", "int8_operations"})
    EXPECT_GT(e.report["machine"]["rates"][rate], 1e6);
  const Ran text = run_tril({"doctor", model, "--no-speed"});
  EXPECT_NE(text.out.find("processor "), std::string::npos) << text.out;
  EXPECT_NE(text.out.find("family         marian"), std::string::npos) << text.out;
}

TEST(Doctor, NoModelAtAll) {
  const ScratchFolder folder;
  for (const std::string& path : {std::string("/nowhere/at/all"), folder.write("notes", "no model")})
    EXPECT_EQ(examine(path).wrong, Ids{"model-unknown"}) << path;
}

}  // namespace
}  // namespace tril
