// ByT5's tokenizer of bytes: ids and text equal to those of `transformers` (make_byt5_cases.py), for each form of its
// configuration.
#include "tokenizer/files/byte_tokenizer.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "support/paths.h"
#include "support/temporary.h"
#include "tokenizer/files/sentence_frame.h"

namespace tril {
namespace {

using Ids = std::vector<std::int32_t>;

nlohmann::json golden() {
  std::ifstream file(test::test_dir() + "/tokenizer/files/byt5_cases.json");
  return nlohmann::json::parse(file);
}

void write_configuration(const TemporaryDirectory& dir, const nlohmann::json& form) {
  if (form.contains("config")) dir.write("tokenizer_config.json", form["config"].dump());
  if (form.contains("files"))
    for (const auto& [name, json] : form["files"].items()) dir.write(name, json.dump());
}

TEST(ByteTokenizer, IdsAndTextAreThoseOfTransformers) {
  std::size_t compared = 0;
  for (const auto& form : golden()) {
    SCOPED_TRACE(form["name"].dump());
    const TemporaryDirectory dir;
    write_configuration(dir, form);
    const auto tokenizer = load_tokenizer(dir.path());
    EXPECT_EQ(tokenizer->size(Side::source), form["size"]);
    for (const auto& c : form["cases"]) {
      SCOPED_TRACE(c.dump());
      // A text that ends with "</s>" gets no second one from `transformers`.
      const auto ids = c["ids"].get<Ids>();
      EXPECT_EQ(tokenizer->decode(ids), c["decoded"].get<std::string>());
      if (!c.contains("text")) continue;
      const auto text = c["text"].get<std::string>();
      const Ids own = text.ends_with("</s>") ? tokenizer->encode(text) : sentence_ids(*tokenizer, text, Side::source);
      EXPECT_EQ(own, ids);
      ++compared;
    }
  }
  EXPECT_GT(compared, 40u);
}

TEST(ByteTokenizer, EveryByteHasItsId) {
  const TemporaryDirectory dir;
  dir.write("config.json", R"({"model_type": "t5", "tokenizer_class": "ByT5Tokenizer", "vocab_size": 384})");
  const auto tokenizer = load_tokenizer(dir.path());
  std::string bytes;
  Ids ids;
  for (std::int32_t b = 0; b < 256; ++b) bytes += static_cast<char>(b), ids.push_back(3 + b);
  EXPECT_EQ(tokenizer->encode(bytes), ids) << "bytes that are no text too";
  EXPECT_EQ(tokenizer->special(Side::source).pad, 0);
  EXPECT_EQ(tokenizer->special(Side::source).eos, 1);
  EXPECT_EQ(tokenizer->special(Side::source).unk, 2);
  EXPECT_EQ(tokenizer->find("<extra_id_0>", Side::source), 259);
  EXPECT_EQ(tokenizer->size(Side::source), 384);

  const TemporaryDirectory copy;
  save_tokenizer(*tokenizer, copy.path());
  const auto again = load_tokenizer(copy.path());
  EXPECT_EQ(again->size(Side::source), 384);
  EXPECT_EQ(again->encode(bytes), ids);
}

TEST(ByteTokenizer, SentinelsAreAsManyAsSaid) {
  const TemporaryDirectory dir;
  dir.write("tokenizer_config.json",
            R"({"tokenizer_class": "ByT5Tokenizer", "extra_ids": 3, "additional_special_tokens": ["<extra_id_0>"]})");
  EXPECT_NE(error_of([&] { load_tokenizer(dir.path()); }).find("has 1 sentinels, but extra_ids is 3"),
            std::string::npos);
}

}  // namespace
}  // namespace tril
