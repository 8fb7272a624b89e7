// Traces of texts, and the files that hold them.
#include "trace/report.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "format/npz_file.h"
#include "format/safetensors.h"
#include "model/families/gpt2.h"
#include "support/contains.h"
#include "support/error_of.h"
#include "support/temporary.h"
#include "tokenizer/files/gpt2_tokenizer.h"
#include "trace/analyses.h"
#include "trace/write.h"

namespace tril::trace {
namespace {

// A GPT-2 of letters with random weights.
struct Writer {
  std::shared_ptr<const Tokenizer> tokenizer = make_character_tokenizer("abcdefgh ", 200);
  std::unique_ptr<model::Gpt2> model;
  /// @param padding  rows of the vocabulary that stand for no piece
  explicit Writer(std::int32_t padding = 0) {
    model::Gpt2Config k;
    k.vocab_size = tokenizer->size(Side::target) + padding;
    k.n_positions = 64, k.n_embd = 32, k.n_layer = 2, k.n_head = 4;
    k.initializer_range = 0.5;
    k.bos_token_id = k.eos_token_id = tokenizer->special(Side::target).eos;
    model = std::make_unique<model::Gpt2>(k);
    model->parameters().allocate();
    model->parameters().initialise(3);
    model->parameters().refresh(kern::best());
  }
  Answer ask(const Question& q) const { return answer(*model, TextReader(*model, tokenizer), q); }
};

TEST(TraceOfText, SaysTokensLossAndChange) {
  const Writer w;
  const TextReader reader(*w.model, w.tokenizer);
  const Answer a = w.ask({.texts = {.text = "abc", .target = "de"},
                          .only = {"logits"},
                          .edits = {"decoder.1.self.heads[2]=zero"},
                          .donor = {},
                          .new_tokens = 4});
  const nlohmann::ordered_json about = about_json(*w.model, reader, a);
  EXPECT_EQ(about["tokens"]["ids"].size(), 5u);
  EXPECT_EQ(a.outcome.labelled, 2);  // d and e
  EXPECT_GT(about["loss"].get<double>(), 0);
  EXPECT_FALSE(about["change"]["bit_identical"].get<bool>());
  EXPECT_EQ(about["change"]["tokens"].size(), 5u);
  EXPECT_NE(about["change"]["loss_before"], about["change"]["loss_after"]);
  EXPECT_TRUE(about["change"].contains("text_after"));
  // The loss before is that of a pass without edits.
  EXPECT_EQ(about["change"]["loss_before"].get<double>(),
            w.ask({.texts = {"abc", "de"}, .only = {}, .edits = {}, .donor = {}}).outcome.loss());
}

// A vocabulary may be padded to a round size: its last tokens have no piece, and are shown by their ids.
TEST(TraceOfText, ContinuesWithTokensThatHaveNoPiece) {
  const Writer w(5000);
  const TextReader reader(*w.model, w.tokenizer);
  const std::int32_t size = w.tokenizer->size(Side::target);
  const Answer a = w.ask({.texts = {.text = "abc", .target = ""},
                          .only = {},
                          .edits = {"decoder.1.self.heads[2]=zero"},
                          .donor = {},
                          .new_tokens = 6});
  ASSERT_TRUE(std::any_of(a.text_before.begin(), a.text_before.end(), [&](std::int32_t id) { return id >= size; }));
  const nlohmann::ordered_json change = about_json(*w.model, reader, a)["change"];
  for (const std::int32_t id : a.text_before)
    if (id >= size) {
      EXPECT_TRUE(contains(change["text_before"].get<std::string>(), fmt::format("#{}", id)));
    }
  const std::int32_t letter = *w.tokenizer->find("a", Side::target), other = *w.tokenizer->find("b", Side::target);
  EXPECT_EQ(reader.text_of({letter, other, size + 7, letter, size}), fmt::format("ab#{}a#{}", size + 7, size));
  EXPECT_EQ(reader.text_of({}), "");
}

// What many edits are compared with is computed once.
TEST(TraceOfText, APlainPassServesManyQuestions) {
  const Writer w;
  const TextReader reader(*w.model, w.tokenizer);
  Question q{.texts = {.text = "abc", .target = "de"}, .only = {}, .edits = {}, .donor = {}, .new_tokens = 4};
  Plain plain = plain_pass(*w.model, reader, q);
  const auto about = [&] { return about_json(*w.model, reader, w.ask(q)); };
  for (const char* edit : {"decoder.0=skip", "decoder.1.self.heads[2]=zero", "decoder.tokens@1=f"}) {
    q.edits = {edit}, q.plain = nullptr;
    const nlohmann::ordered_json computed = about();
    q.plain = &plain;
    EXPECT_EQ(about(), computed) << edit;
  }
  plain.text = {5};
  EXPECT_EQ(about()["change"]["text_before"], reader.text_of({5})) << "it is not computed again";
}

TEST(TraceOfText, ReplacesTokensAndPatches) {
  const Writer w;
  const Answer plain = w.ask({.texts = {.text = "abcd"}, .only = {"logits"}, .edits = {}, .donor = {}});
  const Answer other = w.ask({.texts = {.text = "abfd"}, .only = {"logits"}, .edits = {}, .donor = {}});
  const Answer replaced =
      w.ask({.texts = {.text = "abcd"}, .only = {"logits"}, .edits = {"decoder.tokens@2=f"}, .donor = {}});
  EXPECT_EQ(replaced.outcome.logits, other.outcome.logits);
  EXPECT_EQ(replaced.change->tokens[1].most_logit, 0);
  EXPECT_GT(replaced.change->tokens[2].most_logit, 1e-3);
  const Answer patched = w.ask(
      {.texts = {.text = "abcd"}, .only = {}, .edits = {"decoder.stream@2=patch"}, .donor = Texts{.text = "abfd"}});
  EXPECT_EQ(patched.outcome.logits, other.outcome.logits);
  EXPECT_FALSE(plain.change);
  const auto refused = [&](const Question& q) { return error_of([&] { w.ask(q); }); };
  EXPECT_TRUE(contains(refused({.texts = {.text = "ab"}, .only = {}, .edits = {"decoder.tokens@9=f"}, .donor = {}}),
                       "no token 9"));
  EXPECT_TRUE(contains(refused({.texts = {.text = "ab"}, .only = {}, .edits = {"decoder.tokens@0=abc"}, .donor = {}}),
                       "3 tokens"));
  EXPECT_TRUE(contains(refused({.texts = {.text = "ab"}, .only = {}, .edits = {"encoder.tokens@0=a"}, .donor = {}}),
                       "no token 0"));
  EXPECT_TRUE(contains(refused({.texts = {.text = "ab"}, .only = {}, .edits = {"decoder.0.output=patch"}, .donor = {}}),
                       "no other text"));
  EXPECT_TRUE(contains(refused({.texts = {.text = "ab"}, .only = {}, .edits = {}, .donor = Texts{.text = "a"}}),
                       "no edit takes"));
  EXPECT_TRUE(
      contains(refused({.texts = {.text = "ab"}, .only = {}, .edits = {}, .donor = {}, .new_tokens = 3}), "no edits"));
  EXPECT_TRUE(contains(
      refused({.texts = {.text = "ab"}, .only = {}, .edits = {"decoder.0=skip"}, .donor = {}, .gradients = true}),
      "gradients"));
}

TEST(TraceOfText, FilesHoldTheValues) {
  const Writer w;
  const Answer a = w.ask({.texts = {.text = "abcd"}, .only = {"*"}, .edits = {}, .donor = {}});
  const TemporaryDirectory folder;
  const std::string npz = folder.path("t.npz"), safetensors = folder.path("t.safetensors");
  write_npz(npz, a.trace);
  write_safetensors(safetensors, a.trace, "{}");
  const SafetensorsFile file = SafetensorsFile::open(safetensors);
  EXPECT_EQ(file.tensors().size(), a.trace.values().size());
  const NpzFile arrays = NpzFile::open(npz);
  EXPECT_EQ(arrays.tensors().size(), a.trace.values().size());
  for (const Value& v : a.trace.values()) {
    SCOPED_TRACE(v.name);
    EXPECT_EQ(file.at(v.name).shape, v.shape);
    ASSERT_TRUE(arrays.find(v.name));
    EXPECT_EQ(arrays.find(v.name)->shape, v.shape);
    if (v.type == DType::f32) {
      EXPECT_EQ(to_f32(file.at(v.name)), v.floats());
      EXPECT_EQ(to_f32(*arrays.find(v.name)), v.floats());
    } else {
      EXPECT_EQ(to_i32(file.at(v.name)), v.ints());
      EXPECT_EQ(to_i32(*arrays.find(v.name)), v.ints());
    }
  }
  const nlohmann::ordered_json json = values_json(a.trace);
  EXPECT_EQ(json["decoder.0.self.q"]["shape"], (std::vector<int>{4, 4, 8}));
  EXPECT_TRUE(json["decoder.0.self.masked_scores"]["data"][1].is_null());  // the first token does not see the second
  EXPECT_EQ(json["decoder.0.self.q"]["data"][5].get<float>(), a.trace.at("decoder.0.self.q").floats()[5]);
}

TEST(TraceOfText, AnalysesAreJson) {
  const Writer w;
  const TextReader reader(*w.model, w.tokenizer);
  const Input input = reader.read({.text = "abcdefg"});
  const nlohmann::ordered_json json = analyses_json(
      *w.model, reader, input, {.lens = true, .rollout = true, .attributed_token = 3, .repeated_tokens = 5});
  EXPECT_EQ(json["lens"].size(), 3u);  // the stream before the layers, and after each
  EXPECT_EQ(json["lens"][2]["best_ids"].get<std::vector<std::int32_t>>(), run_pass(*w.model, input).best());
  EXPECT_EQ(json["rollout"]["decoder"].size(), 7u);
  EXPECT_EQ(json["attribution"]["parts"].size(), 1 + 2 * (4 + 1u));
  EXPECT_EQ(json["head_scores"].size(), 8u);
}

}  // namespace
}  // namespace tril::trace
