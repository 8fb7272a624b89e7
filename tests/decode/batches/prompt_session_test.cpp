// A kept prompt: results equal those of reading the text from scratch, whatever was read before; and its file, which
// belongs to one model and one precision.
#include "decode/batches/prompt_session.h"

#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <fstream>

#include "base/file.h"
#include "decode/batches/continuous_batch.h"
#include "model/families/gpt2.h"

namespace tril::search::prompt_session_test {
namespace {

using Ids = std::vector<std::int32_t>;

struct Small {
  explicit Small(std::uint64_t seed = 3, std::int32_t positions = 64) {
    model::Gpt2Config k;
    k.vocab_size = 30;
    k.n_positions = positions;
    k.n_embd = 32, k.n_layer = 2, k.n_head = 4;
    k.initializer_range = 0.5;
    k.bos_token_id = k.eos_token_id = 29;
    m = std::make_unique<model::Gpt2>(k);
    m->parameters().allocate();
    m->parameters().initialise(seed);
    m->parameters().refresh(kern::best());
  }
  std::unique_ptr<model::Gpt2> m;
  Arena arena;
  Context c{arena};
};

Request request_of(const Ids& ids, std::int32_t most = 10, std::uint64_t number = 0) {
  return {.start_id = ids[0], .max_length = most, .prefix = {ids.begin() + 1, ids.end()}, .number = number};
}

SearchPlan greedy() {
  SearchPlan o;
  o.scores = true;
  return o;
}

Ids some_ids(std::uint64_t seed, int count) {
  RandomSequence random(seed, 5);
  Ids ids;
  for (int i = 0; i < count; ++i) ids.push_back(static_cast<std::int32_t>(random.below(29)));
  return ids;
}

std::vector<SearchPlan> ways() {
  std::vector<SearchPlan> list{greedy(), greedy(), greedy(), greedy()};
  list[1].sampling.on = true;
  list[2].sampling.on = true, list[2].n_best = 3;
  list[3].beam_size = 3, list[3].n_best = 2;
  return list;
}

void expect_same(const std::vector<Hypothesis>& got, const std::vector<Hypothesis>& expected) {
  ASSERT_EQ(got.size(), expected.size());
  for (std::size_t i = 0; i < got.size(); ++i) {
    EXPECT_EQ(got[i].tokens, expected[i].tokens);
    EXPECT_NEAR(got[i].log_prob, expected[i].log_prob, 1e-3);
  }
}

struct Way {
  SearchPlan plan;
  nn::KvCache::Precision precision = nn::KvCache::Precision::fp32;
  SpeculativeOptions speculative = {};
};

// Turns of a conversation, a change in the middle, something else, and the same again; with proposed tokens too.
TEST(PromptSession, GivesWhatReadingAnewGives) {
  Small small;
  const Small draft(4);
  std::vector<Way> list;
  for (const SearchPlan& o : ways()) {
    list.push_back({o});
    list.push_back({o, nn::KvCache::Precision::int8});
    list.push_back({o, nn::KvCache::Precision::fp32, {.draft = draft.m.get(), .tokens = 3}});
    list.push_back({o, nn::KvCache::Precision::int8, {.draft = small.m.get(), .tokens = 4}});
    list.push_back({o, nn::KvCache::Precision::fp32, {.lookup = 2, .tokens = 4}});
  }
  for (const Way& way : list) {
    const SearchPlan& o = way.plan;
    const SpeculativeOptions& speculative = way.speculative;
    CacheOptions cache;
    cache.kept.precision = way.precision;
    PromptSession kept(small.c, *small.m, cache, {}, speculative);
    const auto anew = [&](const Request& request) {
      return PromptSession(small.c, *small.m, cache).decode(request, o);
    };
    Ids text = some_ids(1, 9);
    const bool stays = o.n_best == 1;
    expect_same(kept.decode(request_of(text), o), anew(request_of(text)));
    EXPECT_EQ(kept.reused(), 0);
    EXPECT_EQ(kept.newly_read(), 9);

    const std::vector<Hypothesis> first = kept.decode(request_of(text, 10, 1), o);
    expect_same(first, anew(request_of(text, 10, 1)));
    EXPECT_EQ(kept.reused(), stays ? 8 : 0) << "all but the last, which is asked for what follows";

    // The answer and another turn: only tokens that were not generated are read.
    text.insert(text.end(), first[0].tokens.begin(), first[0].tokens.end());
    const auto so_far = static_cast<std::int64_t>(text.size());
    for (const std::int32_t id : some_ids(2, 4)) text.push_back(id);
    expect_same(kept.decode(request_of(text, 10, 2), o), anew(request_of(text, 10, 2)));
    EXPECT_EQ(kept.reused(), stays ? so_far - 1 : 0) << "the last generated token has not been read";

    text[5] = (text[5] + 1) % 29;
    expect_same(kept.decode(request_of(text, 10, 3), o), anew(request_of(text, 10, 3)));
    EXPECT_EQ(kept.reused(), stays ? 5 : 0);
    kept.read(text);
    EXPECT_EQ(kept.tokens(), text);
    expect_same(kept.decode(request_of(text, 5), o), anew(request_of(text, 5)));
    EXPECT_EQ(kept.newly_read(), 1);
    EXPECT_EQ(kept.speculation().proposed > 0, speculative.on() && stays);
  }
}

// A search reads a limited number of tokens at a time: the kept part may end within any portion.
TEST(PromptSession, LongTextsAreReadInPortionsBehindWhatIsThere) {
  constexpr int portion = ContinuousBatch::default_prompt_tokens;
  Small small(3, 2 * portion + 100);
  const Ids text = some_ids(6, 2 * portion + 50);
  const Request whole = request_of(text, 4);
  const auto expected = PromptSession(small.c, *small.m, {}).decode(whole, greedy());
  for (const int there : {10, portion, portion + 10, 2 * portion + 40}) {
    PromptSession kept(small.c, *small.m, {});
    kept.read(Ids(text.begin(), text.begin() + there));
    expect_same(kept.decode(whole, greedy()), expected);
    EXPECT_EQ(kept.reused(), there);
  }
}

TEST(PromptSession, KeepsWhatWasReadWhenAnAnswerIsCutShort) {
  Small small;
  PromptSession kept(small.c, *small.m, {});
  const Ids text = some_ids(4, 6);
  std::stop_source stop;
  int tokens = 0;
  const auto cut = kept.decode(request_of(text, 30), greedy(),
                               {.on_token =
                                    [&](const NewToken&) {
                                      if (++tokens == 3) stop.request_stop();
                                    },
                                .on_partial = {},
                                .stop = stop.get_token()});
  EXPECT_EQ(cut[0].stop_reason, StopReason::cancelled);
  EXPECT_EQ(cut[0].tokens.size(), 3u);
  Ids longer = text;
  longer.insert(longer.end(), cut[0].tokens.begin(), cut[0].tokens.end());
  EXPECT_EQ(kept.tokens(), Ids(longer.begin(), longer.end() - 1));
  expect_same(kept.decode(request_of(longer), greedy()),
              PromptSession(small.c, *small.m, {}).decode(request_of(longer), greedy()));

  SearchPlan wrong = greedy();
  wrong.forced_bos_id = 77;
  EXPECT_THROW(kept.decode(request_of(text), wrong), Error);
  EXPECT_TRUE(kept.tokens().empty());
  expect_same(kept.decode(request_of(longer), greedy()),
              PromptSession(small.c, *small.m, {}).decode(request_of(longer), greedy()));
}

struct Folder {
  Folder() {
    std::string name = (std::filesystem::temp_directory_path() / "tril-kept-XXXXXX").string();
    if (!mkdtemp(name.data())) throw std::runtime_error("no temporary folder");
    path = name;
  }
  ~Folder() { std::filesystem::remove_all(path); }
  std::string at(const char* name) const { return path + "/" + name; }
  std::string path;
};

void expect_refused(const std::function<void()>& load, const std::string& expected) {
  try {
    load();
    ADD_FAILURE() << "taken, and should be refused: " << expected;
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find(expected), std::string::npos) << error.what();
  }
}

TEST(PromptSession, IsSavedAndLoaded) {
  Small small;
  const Folder folder;
  for (const auto precision : {nn::KvCache::Precision::fp32, nn::KvCache::Precision::int8}) {
    CacheOptions cache;
    cache.kept.precision = precision;
    const Ids text = some_ids(7, 20);
    PromptSession first(small.c, *small.m, cache, "a model");
    first.read(text);
    first.save(folder.at("text"));
    const auto expected = first.decode(request_of(text), greedy());

    PromptSession second(small.c, *small.m, cache, "a model");
    second.load(folder.at("text"));
    EXPECT_EQ(second.tokens(), text);
    expect_same(second.decode(request_of(text), greedy()), expected);
    EXPECT_EQ(second.newly_read(), 1);
    Ids other(text.begin(), text.begin() + 12);
    for (const std::int32_t id : some_ids(8, 5)) other.push_back((id + text[12] + 1) % 29 == text[12] ? 0 : id);
    second.load(folder.at("text"));
    expect_same(second.decode(request_of(other), greedy()),
                PromptSession(small.c, *small.m, cache).decode(request_of(other), greedy()));
    EXPECT_GE(second.reused(), 12);

    PromptSession stranger(small.c, *small.m, cache, "another model");
    expect_refused([&] { stranger.load(folder.at("text")); }, "another model");
    CacheOptions differs = cache;
    differs.kept.precision =
        precision == nn::KvCache::Precision::int8 ? nn::KvCache::Precision::fp32 : nn::KvCache::Precision::int8;
    PromptSession coarser(small.c, *small.m, differs, "a model");
    expect_refused([&] { coarser.load(folder.at("text")); }, "another precision");
  }
}

// A truncated or changed file is an error, or has no effect; earlier contents are then dropped, not mixed in.
TEST(PromptSession, RefusesFilesThatAreNotWhole) {
  Small small;
  const Folder folder;
  PromptSession kept(small.c, *small.m, {}, "m");
  EXPECT_THROW(kept.save(folder.at("text")), Error) << "nothing has been read";
  const Ids text = some_ids(9, 8);
  kept.read(text);
  kept.save(folder.at("text"));
  const std::string whole = read_text(folder.at("text"), 1 << 20);
  for (std::size_t size : {std::size_t{0}, std::size_t{7}, whole.size() / 3, whole.size() - 1}) {
    std::ofstream(folder.at("cut"), std::ios::binary) << whole.substr(0, size);
    EXPECT_THROW(kept.load(folder.at("cut")), Error) << size;
  }
  RandomSequence random(1, 1);
  for (int i = 0; i < 300; ++i) {
    std::string changed = whole;
    const std::size_t at = random.below(i % 2 == 0 ? whole.size() : std::min<std::size_t>(whole.size(), 1200));
    const char before = changed[at];
    changed[at] = static_cast<char>(changed[at] ^ (1 << random.below(8)));
    const bool blank = before == ' ' || changed[at] == ' ';  // after the header's end
    std::ofstream(folder.at("changed"), std::ios::binary) << changed;
    try {
      kept.load(folder.at("changed"));
      EXPECT_TRUE(blank) << "taken with another byte at " << at;
      EXPECT_EQ(kept.tokens(), text);
    } catch (const Error&) {
      EXPECT_TRUE(kept.tokens().empty());
    }
  }
  kept.load(folder.at("text"));
  EXPECT_EQ(kept.tokens(), text);
  EXPECT_THROW(kept.load(folder.at("nothing")), Error);
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder.path), {}), 3);
}

TEST(PromptSession, AWindowKeepsNoOldText) {
  Small small;
  CacheOptions cache;
  cache.kept.window = 4;
  PromptSession kept(small.c, *small.m, cache, "m");
  Ids text = some_ids(11, 9);
  const Folder folder;
  kept.read(text);
  expect_refused([&] { kept.save(folder.at("text")); }, "window");  // also before any token has left the window
  const auto first = kept.decode(request_of(text), greedy());
  text.insert(text.end(), first[0].tokens.begin(), first[0].tokens.end());
  expect_same(kept.decode(request_of(text), greedy()),
              PromptSession(small.c, *small.m, cache).decode(request_of(text), greedy()));
  text[2] = (text[2] + 1) % 29;
  expect_same(kept.decode(request_of(text), greedy()),
              PromptSession(small.c, *small.m, cache).decode(request_of(text), greedy()));
  expect_refused([&] { kept.save(folder.at("text")); }, "window");
  CacheOptions none;
  none.use = false;
  expect_refused([&] { PromptSession(small.c, *small.m, none); }, "no cache");
}

}  // namespace
}  // namespace tril::search::prompt_session_test
