// The page that shows a pass, in a browser: its list is the pass's, its numbers are those of POST /trace, and it says what is wrong.
#include <algorithm>

#include "inside/file.h"
#include "inside/page.h"
#include "support/contains.h"
#include "support/inside_page.h"
#include "support/temporary.h"
#include "trace/next.h"
#include "trace/report.h"

namespace tril::serve {
namespace {

std::vector<std::string> points_of_pass(const Loaded& loaded, const trace::Texts& texts) {
  const trace::TextReader reader(*loaded.model, loaded.tokenizer);
  std::vector<std::string> names;
  const trace::Trace points = trace::points_of(*loaded.model, reader.read(texts));
  for (const trace::Value& v : points.values()) names.push_back(v.name);
  std::sort(names.begin(), names.end());
  return names;
}

TEST_F(InsidePage, ListsEveryOperationOfThePass) {
  for (const auto& [name, loaded, text] : {std::tuple("de", &translator, "a dog runs"), {"plays", &writer, "abcdef"}}) {
    SCOPED_TRACE(name);
    look(name, text);
    const auto shown =
        eval("[...document.querySelectorAll('[data-point]')].map(b => b.dataset.point).sort((a, b) => a < b ? -1 : 1)");
    EXPECT_EQ(shown, nlohmann::json(points_of_pass(*loaded, {text, ""})));
    EXPECT_EQ(eval("[...document.querySelectorAll('.column h3')].map(h => h.textContent)"),
              name == std::string("de") ? nlohmann::json({"Encoder", "Decoder", "Cross-attention"})
                                        : nlohmann::json({"Decoder"}));
    // Each of them can be shown: a value, a formula, words.
    for (const auto& point : shown) {
      const std::string at = point;
      if (at == "logits") continue;
      choose(at);
      EXPECT_TRUE(eval("document.querySelector('.matrix td, .matrix canvas') !== null")) << at;
    }
  }
  EXPECT_EQ(browser->console(), "");
}

// What the page says of the next token is what the model does.
TEST_F(InsidePage, AgreesWithTheModel) {
  look("de", "a dog runs");
  const std::string source = "a dog runs", target = "the old dog";
  const auto scores = post("/score", {{"model", "de"}, {"source", source}, {"target", target}})["scores"][0];
  type("target", target);
  click("#run");
  wait();
  const auto logs = eval("now.about.next.map(n => n.log_prob)");
  ASSERT_EQ(logs.size(), scores["token_log_probs"].size());
  for (std::size_t i = 0; i < logs.size(); ++i)
    EXPECT_NEAR(logs[i].get<double>(), scores["token_log_probs"][i].get<double>(), 1e-4) << i;
  // Greedy search goes where the logits that the page draws from are largest, and so does its temperature 0.
  Loaded greedy = translator;
  search::TranslatorOptions o;
  o.decoding.search = greedy.search;
  o.decoding.search.beam_size = 1;
  o.max_length = 24;
  const search::Translation best = search::Translator(*greedy.model, greedy.tokenizer, o).translate({&source, 1})[0][0];
  ASSERT_FALSE(best.tokens.empty());
  type("target", best.text);
  click("#run");
  wait();
  // As far as the text is read as the tokens that made it: a model of random weights writes what no one would split like that.
  const std::vector<std::int32_t> ids = greedy.tokenizer->encode(best.text, Side::target);
  std::size_t alike = 0;
  while (alike < ids.size() && alike + 1 < best.tokens.size() && ids[alike] == best.tokens[alike]) ++alike;
  for (std::size_t i = 0; i <= alike; ++i) {
    EXPECT_EQ(eval(fmt::format("now.about.next[{}].best_id", i)), best.tokens[i]) << i;
    EXPECT_EQ(awaited(fmt::format("tensor('logits', {{token: {}}}).then(l => largest(l.data, 1)[0])", i)),
              best.tokens[i])
        << i;
  }
  eval("(() => { document.getElementById('draw-temperature').value = 0; return 1; })()");
  awaited("drawStages()");
  EXPECT_EQ(eval("Number(document.getElementById('drawn').dataset.id)"), eval("now.about.next[draw.token].best_id"));
  EXPECT_EQ(browser->console(), "");
}

// Attention with a sink, without any key, and with more than a factor between q k and the scores.
TEST_F(InsidePage, ExplainsUnusualAttention) {
  look("plays", "abcd");
  const auto explained = [&](const std::string& key, const std::string& parts) {
    return awaited(
               "(async () => { const f = attentionOf, T = now.about.tokens.ids.length, of = (n, x) => ({shape: [1, T, "
               "n], data: new Float32Array(T * n).fill(x)}); attentionOf = async () => ({q: of(2, 1), k: of(2, 1), v: "
               "of(2, 1), d: 2, allowed: null, scores: of(T, 1), weights: of(T, 0.5 / T), " +
               parts + "}); const told = await howOfAttention({key: '" + key +
               "', part: 'x', side: 'decoder'}, {rows: piecesOf('decoder'), columns: piecesOf('decoder')}, [0, 0]); "
               "attentionOf = f; return told.how + '\\n' + (told.table ? [...told.table.querySelectorAll('tr')].map(r "
               "=> "
               "[...r.cells].map(c => c.textContent).join('|')).join('\\n') : ''); })()")
        .get<std::string>();
  };
  EXPECT_TRUE(contains(explained("weights", ""), "sink||", "|0.5000")) << explained("weights", "");
  const std::string none = explained("weights", "allowed: {data: new Uint8Array(T * T)}, weights: of(T, 0)");
  EXPECT_FALSE(contains(none, "sink") || contains(none, "NaN") || contains(none, "?")) << none;
  EXPECT_FALSE(contains(explained("weights", "weights: of(T, 1 / T)"), "sink"));
  const std::string exact = explained("scores", "scores: of(T, Math.SQRT2)");
  EXPECT_TRUE(contains(exact, "× scale")) << exact;
  const std::string biased =
      explained("scores", "scores: {shape: [1, T, T], data: Float32Array.from({length: T * T}, (_, i) => i)}");
  EXPECT_TRUE(contains(biased, "adds more than a factor", "score|||0")) << biased;
  EXPECT_FALSE(contains(biased, "× scale")) << biased;
}

// Texts may say anything; the page and the file show them as text.
TEST_F(InsidePage, ShowsHostileTextAsText) {
  const std::string hostile = R"(</script><!--<script><img src=x onerror=hit=1>"'`%DATA%%SCRIPT%$&)";
  const auto is_harmless = [&] {
    EXPECT_EQ(eval("typeof hit"), "undefined");
    EXPECT_EQ(eval("document.querySelectorAll('img').length + document.querySelectorAll('main script').length"), 0);
    EXPECT_EQ(eval("[...document.querySelectorAll('#tokens .piece')].map(p => p.firstChild.textContent)"),
              eval("now.about.tokens.pieces.map(plain)"));
  };
  look("plays", hostile);
  is_harmless();
  EXPECT_EQ(browser->console(), "");
  const trace::TextReader reader(*writer.model, writer.tokenizer);
  const trace::Texts texts{hostile, hostile};
  const std::string data = inside::file_data(
      *writer.model, reader,
      {.texts = texts, .only = {"*.heads"}, .edits = {}, .new_tokens = 1, .most_bytes = std::int64_t{64} << 20});
  const TemporaryDirectory folder;
  const std::string path = folder.write("hostile.html", inside::page(data, ""));
  browser->open("about:blank");
  browser->open("file://" + path);
  ASSERT_TRUE(comes("document.body.dataset.ready")) << browser->console();
  is_harmless();
  EXPECT_EQ(eval("now.about.tokens.ids"), nlohmann::json(reader.read(texts).tokens));
}

// Chinese has every word that English has; a phone needs no scrolling sideways; the address keeps the view.
TEST_F(InsidePage, SpeaksChineseAndFitsAPhone) {
  for (const bool dark : {false, true}) {
    browser->prefer_dark(dark);
    for (const char* language : {"en", "zh"})
      for (const int width : {1280, 390}) {
        look("de", "a dog runs", std::string("?lang=") + language, width);
        EXPECT_LE(number("document.documentElement.scrollWidth"), width) << language;
        keep_picture(fmt::format("inside-{}-{}-{}", language, width, dark ? "dark" : "light"));
      }
  }
  EXPECT_EQ(eval("document.documentElement.lang"), "zh-CN");
  EXPECT_EQ(eval("document.querySelector('h1').textContent"), eval("STRINGS.zh.title"));
  EXPECT_EQ(eval("Object.keys(STRINGS.en).filter(k => !STRINGS.zh[k]).concat(Object.keys(STRINGS.zh).filter(k => "
                 "!STRINGS.en[k]))"),
            nlohmann::json::array());
  look("de", "a dog runs", "?lang=constructor");
  EXPECT_EQ(eval("document.documentElement.lang"), "en") << "not a language of the page";
  choose("decoder.1.cross.weights");
  const std::string address = eval("location.href");
  browser->open("about:blank");
  browser->open(address);
  ASSERT_TRUE(comes("document.body.dataset.ready && view.point === 'decoder.1.cross.weights'"));
  EXPECT_EQ(eval("document.getElementById('text').value"), "a dog runs");
  // Every control has a name.
  for (const auto& node : browser->accessibility_tree())
    if (node.value("focusable", false) && node["role"] != "RootWebArea" && node["role"] != "generic") {
      EXPECT_NE(node["name"], "") << node;
    }
  EXPECT_EQ(browser->console(), "");
}

TEST_F(InsidePage, SaysWhatIsWrong) {
  browser->open(fmt::format("http://127.0.0.1:{}/inside", server->port()));
  ASSERT_TRUE(comes("document.body.dataset.ready"));
  type("model", "plays"), type("text", std::string(300, 'a'));
  click("#run");
  EXPECT_TRUE(comes("document.getElementById('trouble').textContent.includes('300 tokens')"));
  type("text", "abc");
  click("#run");
  wait();
  EXPECT_FALSE(eval("document.getElementById('trouble').checkVisibility()").get<bool>());
  type("search-regex", "(");
  click("#search-run");
  EXPECT_TRUE(comes("document.getElementById('trouble').textContent.startsWith('regex')"));
}

}  // namespace
}  // namespace tril::serve
