// A model's decoding state: when it has a prefix cache, and what drop_rows() and clear() leave.
#include "decode/steps/decoding_state.h"

#include <gtest/gtest.h>

#include "model_io/source/registry.h"
#include "support/small_decoders.h"

namespace tril::search {
namespace {

struct SmallLlama {
  SmallLlama() {
    model->parameters().allocate();
    model->parameters().initialise(3);
    model->parameters().refresh(kern::best());
  }
  // Reads a new sentence of 20 tokens, of which a block of 16 can be cached.
  void read(Step& step) {
    const std::int32_t count = 20, begins = -1, sentence = 0;
    step.step(c, {text, {&count, 1}, {&begins, 1}, {&sentence, 1}});
    step.keep_prefix(0, text);
  }

  Arena arena;
  Context c{arena};
  std::unique_ptr<model::Model> model =
      model::make(JsonObject(tril::testing::llama_variant("llama", {{"max_position_embeddings", 64}}), "test"));
  const std::vector<std::int32_t> text = std::vector<std::int32_t>(20, 3);
};

TEST(DecodingState, PrefixesOutliveTheirRows) {
  SmallLlama m;
  DecodingState state(m.c, *m.model, {.cache = {}, .prefix_tokens = 64});
  const std::unique_ptr<Step> step = state.new_step();
  EXPECT_EQ(step->reuse_prefix(0, m.text), 0);
  m.read(*step);
  EXPECT_EQ(state.prefix_tokens(), 16);
  EXPECT_EQ(state.used_slots(), 4) << "the tokens after the cached prefix";
  state.drop_rows();
  EXPECT_EQ(state.prefix_tokens(), 16);
  EXPECT_EQ(state.used_slots(), 0);
  EXPECT_EQ(step->reuse_prefix(1, m.text), 16);
  state.clear();
  EXPECT_EQ(state.prefix_tokens(), 0);
  EXPECT_EQ(state.used_slots(), 0);
  EXPECT_EQ(state.new_step()->reuse_prefix(1, m.text), 0);
}

TEST(DecodingState, AWindowExcludesPrefixes) {
  SmallLlama m;
  const CacheOptions window{.kept = {.window = 8}};
  DecodingState state(m.c, *m.model, {.cache = window, .prefix_tokens = 64});
  m.read(*state.new_step());
  EXPECT_EQ(state.prefix_tokens(), 0);
  EXPECT_EQ(state.cache()->options().window, 8);
  const DecodingState whole(m.c, *m.model, {.cache = window, .beyond_window = true});
  EXPECT_EQ(whole.cache()->options().window, 0) << "tokens beyond the window are kept";
}

TEST(DecodingState, WithoutACache) {
  SmallLlama m;
  DecodingState state(m.c, *m.model, {.cache = {.use = false}, .prefix_tokens = 64});
  m.read(*state.new_step());
  EXPECT_EQ(state.cache(), nullptr);
  EXPECT_EQ(state.used_slots(), 0);
  EXPECT_EQ(state.prefix_tokens(), 0);
  EXPECT_EQ(state.cache_bytes(), 0);
}

}  // namespace
}  // namespace tril::search
