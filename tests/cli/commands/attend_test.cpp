// `tril attend`: the page in a browser, with the weights that an observer sees, and the picture.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "base/rng.h"
#include "decode/texts/attention_maps.h"
#include "model_io/source/model_source.h"
#include "model_io/source/registry.h"
#include "support/page_test.h"
#include "support/picture.h"

namespace tril {
namespace {

using Json = nlohmann::json;
using search::AttentionMaps;

// A model after a few updates: its weights are no longer uniform. `more` goes to tril train.
std::string trained(const ScratchFolder& folder, const std::string& name, const std::vector<std::string>& more) {
  RandomSequence random(7, 3);
  std::string lines;
  for (int i = 0; i < 200; ++i) {
    for (std::uint64_t n = 2 + random.below(5); n > 0; --n)
      lines += std::string(1 + random.below(3), static_cast<char>('a' + random.below(8))) + " ";
    lines += "\n";
  }
  const std::string text = folder.write(name + ".text", lines);
  std::vector<std::string> words{"train", "--model", folder.at(name), "--train-sets", text};
  if (name == "pairs") words.push_back(text);
  for (const char* word : {"--d-model", "16", "--num-heads", "2", "--ffn-dim", "24", "--dec-depth", "2", "--threads",
                           "1", "--after", "20u", "--learn-rate", "0.01"})
    words.emplace_back(word);
  words.insert(words.end(), more.begin(), more.end());
  const Ran ran = run_tril(words);
  EXPECT_EQ(ran.code, 0) << ran.err;
  return folder.at(name);
}

std::string trained_pairs(const ScratchFolder& folder) {
  return trained(folder, "pairs", {"--vocab-size", "40", "--enc-depth", "1", "--max-tokens", "300"});
}

std::string trained_text(const ScratchFolder& folder) {
  return trained(folder, "text",
                 {"--arch", "gpt2", "--vocab-type", "char", "--max-length", "32", "--max-tokens", "128"});
}

std::vector<AttentionMaps> maps_of(const std::string& directory, const std::string& source, const std::string& target) {
  const auto opened = model::ModelSource::open(directory);
  const auto model = model::load(opened);
  const auto tokenizer = opened.tokenizer();
  Arena arena;
  Context c(arena);
  return search::all_attention_maps(c, *model, *tokenizer, {source, target}, {.tokens = 100, .heads = 100});
}

// Checks the page script's data of one attention, and the document's view of one head.
void expect_maps(Browser& browser, const AttentionMaps& maps, std::size_t section) {
  const Json shown = browser.evaluate("sections[" + std::to_string(section) + "].queries.concat(sections[" +
                                      std::to_string(section) + "].keys)");
  std::vector<std::string> tokens = maps.queries;
  tokens.insert(tokens.end(), maps.keys.begin(), maps.keys.end());
  EXPECT_EQ(shown.get<std::vector<std::string>>(), tokens);
  const std::size_t size = maps.queries.size() * maps.keys.size();
  for (std::size_t l = 0; l < maps.layers.size(); ++l)
    for (std::size_t h = 0; h < static_cast<std::size_t>(maps.layers[l].heads); ++h) {
      const Json weights = browser.evaluate("Array.from(sections[" + std::to_string(section) + "].layers[" +
                                            std::to_string(l) + "].heads[" + std::to_string(h) + "])");
      ASSERT_EQ(weights.size(), size);
      for (std::size_t i = 0; i < size; ++i)
        ASSERT_NEAR(weights[i].get<double>(), maps.layers[l].weights[h * size + i], 1e-5) << l << " " << h << " " << i;
    }
}

using AttendPage = PageTest;

TEST_F(AttendPage, ShowsTheWeightsThatTheProbeSees) {
  const std::string model = trained_pairs(folder), page = folder.at("page.html");
  const Ran ran = run_tril({"attend", "--model", model, "--source", "aa b ccc", "--target", "ccc b", "-o", page});
  ASSERT_EQ(ran.code, 0) << ran.err;
  const std::vector<AttentionMaps> maps = maps_of(model, "aa b ccc", "ccc b");
  ASSERT_EQ(maps.size(), 3u);
  EXPECT_EQ(maps[0].kind, AttentionMaps::Kind::cross);
  EXPECT_EQ(maps[0].layers.size(), 2u);
  EXPECT_EQ(maps[1].layers.size(), 1u);
  EXPECT_EQ(maps[2].keys[0], "<pad>") << "the decoder begins with it";
  for (const AttentionMaps& m : maps)
    for (const AttentionMaps::Layer& l : m.layers)
      EXPECT_GT(*std::max_element(l.weights.begin(), l.weights.end()), 1.001 / static_cast<double>(m.keys.size()))
          << "a model whose heads look somewhere";

  // The document of the second layer's second head, with the first row chosen.
  const std::string dom = document_of(page + "#kind=cross&layer=2&head=2&row=1");
  for (std::size_t i = 0; i < maps.size(); ++i) expect_maps(*browser, maps[i], i);
  EXPECT_TRUE(contains(dom, "id=\"map-title\">layer 2, head 2<"));
  const Json titles =
      browser->evaluate("Array.from(document.querySelectorAll('#map .cell title'), t => t.textContent)");
  const AttentionMaps::Layer& layer = maps[0].layers[1];
  const std::size_t keys = maps[0].keys.size(), size = maps[0].queries.size() * keys;
  ASSERT_EQ(titles.size(), size);
  for (std::size_t i = 0; i < size; ++i) {
    const std::string title = titles[i].get<std::string>();
    EXPECT_TRUE(title.starts_with(maps[0].queries[i / keys] + " ← " + maps[0].keys[i % keys] + ": ")) << title;
    EXPECT_NEAR(std::stod(title.substr(title.rfind(' '))), layer.weights[size + i], 0.00051);
  }
  // The token with the largest weight in the first row.
  const auto row = layer.weights.begin() + static_cast<std::ptrdiff_t>(size);
  const auto most = std::max_element(row, row + static_cast<std::ptrdiff_t>(keys));
  EXPECT_EQ(browser->evaluate("document.querySelectorAll('#reading b')[1].textContent").get<std::string>(),
            maps[0].keys[static_cast<std::size_t>(most - row)]);
  EXPECT_EQ(browser->evaluate("document.querySelectorAll('#heads canvas').length"), 2 * 3 + 1) << "thumbnails";
}

// Of T tokens, the decoder's mask forbids T (T - 1) / 2 pairs. Only these are hatched: a weight of 0 is not.
TEST_F(AttendPage, MaskedPairsAreNotPairsOfWeightZero) {
  const std::string model = trained_pairs(folder), page = folder.at("page.html"), picture = folder.at("picture.svg");
  const Ran ran =
      run_tril({"attend", "--model", model, "--source", "aa b ccc", "--target", "ccc b", "-o", page, "--svg", picture});
  ASSERT_EQ(ran.code, 0) << ran.err;
  const std::vector<AttentionMaps> maps = maps_of(model, "aa b ccc", "ccc b");
  const std::size_t T = maps[2].queries.size();
  for (const AttentionMaps& m : maps)
    for (const AttentionMaps::Layer& l : m.layers) {
      if (m.kind != AttentionMaps::Kind::decoder) {
        EXPECT_TRUE(l.masked.empty());
        continue;
      }
      ASSERT_EQ(l.masked.size(), T * T);
      for (std::size_t i = 0; i < T * T; ++i) EXPECT_EQ(l.masked[i], i % T > i / T ? 1 : 0);
    }
  const auto hatched = [&](const std::string& choice) {
    document_of(page + choice);
    return browser->evaluate("document.querySelectorAll('#map [data-masked]').length").get<std::size_t>();
  };
  for (const char* head : {"", "&layer=1", "&layer=2&head=1"}) {
    EXPECT_EQ(hatched(std::string("#kind=decoder") + head), T * (T - 1) / 2) << head;
    EXPECT_EQ(browser->evaluate("[...document.querySelectorAll('#map [data-masked]')].every(c => Number(c.dataset.k) > "
                                "Number(c.dataset.q) && c.textContent.endsWith('masked'))"),
              true);
    EXPECT_EQ(browser->evaluate("document.querySelectorAll('#map .ramp.masked').length"), 1) << "the sign is explained";
  }
  EXPECT_EQ(hatched("#kind=cross"), 0u);
  EXPECT_EQ(browser->evaluate("document.querySelectorAll('#map .ramp.masked').length"), 0);
  // A weight of 0 in a pair that the mask allows.
  EXPECT_EQ(
      browser->evaluate("(() => { const a = { queries: ['x', 'y'], keys: ['x', 'y'] }; const svg = bigMap(a, { map: "
                        "[1, 0, 0, 1], masked: [false, true, false, false] }, ramp(), { keys: '', queries: '' }); "
                        "return [...svg.querySelectorAll('.cell')].map(c => 'masked' in c.dataset); })()"),
      nlohmann::json({false, true, false, false}));
  EXPECT_EQ(browser->console(), "");
  const std::string svg = file_text(picture);
  EXPECT_TRUE(contains(svg, "hatched: masked", "class=\"masked\""));
}

TEST_F(AttendPage, PointingAndChoosing) {
  const std::string model = trained_pairs(folder), page = folder.at("page.html");
  const Ran ran = run_tril({"attend", "-m", model, "-o", page}, "aa b ccc\n");
  ASSERT_EQ(ran.code, 0) << ran.err;
  document_of(page);
  const auto is_on = [&](const std::string& what) {
    return browser->evaluate("document.querySelector('" + what + "') !== null").get<bool>();
  };
  const auto act = [&](const std::string& what, const std::string& event) {
    browser->evaluate("document.querySelector('" + what + "').dispatchEvent(new PointerEvent('" + event +
                      "', { bubbles: true })), 0");
  };
  EXPECT_FALSE(is_on("#map .query.on"));
  act("#map .query[data-q=\"1\"]", "pointerover");
  EXPECT_TRUE(is_on("#map .query.on[data-q=\"1\"]"));
  EXPECT_TRUE(is_on("#map .band.row[visibility=visible]") && !is_on("#map .band.column[visibility=visible]"));
  EXPECT_TRUE(is_on("#strip-q button.on[data-token=\"1\"]"));
  act("#map svg", "pointerleave");
  EXPECT_FALSE(is_on("#map .query.on"));
  act("#map .key[data-k=\"0\"]", "click");  // stays
  EXPECT_TRUE(is_on("#map .key.on[data-k=\"0\"]") && is_on("#strip-k button[aria-pressed=true][data-token=\"0\"]"));
  EXPECT_TRUE(contains(browser->evaluate("location.hash").get<std::string>(), "column=1"));
  // Another head by its small map, another attention by its button.
  browser->evaluate("document.querySelector('#heads tbody tr:nth-child(2) td:nth-child(3) button').click(), 0");
  EXPECT_EQ(browser->evaluate("document.getElementById('map-title').textContent"), "layer 2, head 1");
  browser->evaluate("document.querySelectorAll('#controls button')[2].click(), 0");
  EXPECT_TRUE(contains(browser->evaluate("location.hash").get<std::string>(), "kind=decoder"));
  EXPECT_EQ(browser->evaluate("document.getElementById('map-title').textContent"), "mean of all layers and heads");
  EXPECT_EQ(browser->console(), "");
}

TEST_F(AttendPage, ALanguageModelShowsItself) {
  const std::string model = trained_text(folder), page = folder.at("page.html");
  const Ran ran = run_tril({"attend", "-m", model, "-s", "aa b", "-o", page});
  ASSERT_EQ(ran.code, 0) << ran.err;
  const std::string dom = document_of(page);
  const std::vector<AttentionMaps> maps = maps_of(model, "aa b", "");
  ASSERT_EQ(maps.size(), 1u);
  ASSERT_EQ(maps[0].kind, AttentionMaps::Kind::self);
  expect_maps(*browser, maps[0], 0);
  EXPECT_EQ(count(dom, "class=\"cell\""), static_cast<int>(maps[0].keys.size() * maps[0].keys.size()));
  EXPECT_EQ(run_tril({"attend", "-m", model, "-s", "aa", "-t", "b", "-o", page}).code, 2);
}

TEST_F(AttendPage, HostileTextIsOnlyText) {
  const std::string model = trained_pairs(folder), page = folder.at("page.html"), svg = folder.at("page.svg");
  const std::string attack = "</script><img src=x onerror=\"document.body.dataset.hacked=1\"> & \u202Eb";
  ASSERT_EQ(run_tril({"attend", "-m", model, "-s", attack, "-t", "<b>aa</b>", "-o", page, "--svg", svg}).code, 0);
  const std::string dom = document_of(page);
  EXPECT_FALSE(contains(dom, "data-hacked") || contains(dom, "<img") || contains(dom, "<b>aa")) << dom;
  EXPECT_TRUE(contains(dom, "&lt;/script&gt;&lt;img src=x onerror="));
  const std::string picture = file_text(svg);
  EXPECT_FALSE(contains(picture, "<img") || contains(picture, "<b>")) << "markup";
  EXPECT_TRUE(contains(picture, "&lt;/script&gt;&lt;img src=x onerror=&quot;"));
}

TEST_F(AttendPage, ScreenshotsInBothColourSchemesAndThePicture) {
  const std::string model = trained_pairs(folder), page = folder.at("page.html"), svg = folder.at("page.svg");
  ASSERT_EQ(run_tril({"attend", "-m", model, "-s", "aa b ccc dd", "-o", page, "--svg", svg}).code, 0);
  for (const auto& [theme, back] : {std::pair{"light", 0xffffffu}, {"dark", 0x12161bu}})
    for (const int width : {1280, 520}) {
      browser->open("file://" + page + "#row=1&theme=" + theme, width, 1000);
      EXPECT_EQ(browser->console(), "");
      const Picture p = read_png(browser->screenshot());
      const auto colours = p.colours();
      EXPECT_GT(colours.size(), 50u) << "texts, maps";
      ASSERT_TRUE(colours.contains(back));
      EXPECT_GT(colours.at(back), p.pixels.size() / 2);
      EXPECT_TRUE(colours.contains(back == 0xffffff ? 0xc2410c : 0xff9a5c)) << "the row that is looked at";
      EXPECT_LE(browser->evaluate("document.documentElement.scrollWidth").get<int>(), width);
    }
  browser->open("file://" + svg, 1280, 1600);
  EXPECT_EQ(browser->console(), "");
  const auto colours = read_png(browser->screenshot()).colours();
  EXPECT_GT(colours.size(), 50u);
  EXPECT_TRUE(colours.contains(0x08306b)) << "the strongest weight of each map";
  // Three attentions: their means and all heads.
  EXPECT_EQ(browser->evaluate("document.querySelectorAll('g').length"), 3 + 2 * (1 + 2 + 2));
  // Nothing is outside of the picture.
  EXPECT_EQ(
      browser->evaluate(
          "(() => { const all = document.documentElement.getBoundingClientRect(); "
          "return [...document.querySelectorAll('text, rect')].filter(t => { const b = t.getBoundingClientRect(); "
          "return b.left < all.left || b.right > all.right + 1 || b.bottom > all.bottom + 1; }).length; })()"),
      0);
}

// Marian's students decode with recurrent layers.
TEST(AttendCommand, ARecurrentDecoderHasNoSelfAttention) {
  const ScratchFolder folder;
  const std::string student = test::test_dir() + "/golden/marian/student", page = folder.at("page.html"),
                    svg = folder.at("page.svg");
  const Ran ran = run_tril({"attend", "-m", student, "-s", "a dog", "-o", page, "--svg", svg});
  ASSERT_EQ(ran.code, 0) << ran.err;
  const std::vector<AttentionMaps> maps = maps_of(student, "a dog", "a dog");
  ASSERT_EQ(maps.size(), 2u);
  EXPECT_EQ(maps[0].kind, AttentionMaps::Kind::cross);
  EXPECT_EQ(maps[1].kind, AttentionMaps::Kind::encoder);
  EXPECT_TRUE(contains(file_text(svg), "Encoder self-attention"));
  EXPECT_FALSE(contains(file_text(svg), "Decoder self-attention"));
}

TEST(AttendCommand, MistakesAreTold) {
  const ScratchFolder folder;
  EXPECT_EQ(run_tril({"attend"}).code, 2);
  EXPECT_EQ(run_tril({"attend", "-m", folder.at("none"), "-s", "a"}).code, 1);
  const std::string model = trained_pairs(folder);
  EXPECT_EQ(run_tril({"attend", "-m", model}, "\n").code, 2) << "an empty sentence";
  const Ran nowhere = run_tril({"attend", "-m", model, "-s", "a", "-o", folder.at("no/such/page.html")});
  EXPECT_EQ(nowhere.code, 1);
  EXPECT_TRUE(contains(nowhere.err, "no/such")) << nowhere.err;
  const Ran heads =
      run_tril({"attend", "-m", model, "-s", "a", "-t", "b", "--max-heads", "1", "-o", folder.at("p.html")});
  EXPECT_EQ(heads.code, 2);
  EXPECT_TRUE(contains(heads.err, "--max-heads")) << heads.err;
  EXPECT_FALSE(std::filesystem::exists(folder.at("p.html")));
}

}  // namespace
}  // namespace tril
