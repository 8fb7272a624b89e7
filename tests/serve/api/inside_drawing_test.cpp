// The next token on the page that shows a pass: the distribution that is drawn from, and the search as a tree.
#include <algorithm>
#include <numeric>

#include "support/contains.h"
#include "support/inside_page.h"

namespace tril::serve {
namespace {

// The stages of sampling: what is cut is what the definitions cut.
TEST_F(InsidePage, CutsTheRealDistribution) {
  look("plays", "abcdefgh");
  const auto stages = [&](const std::string& options) {
    return eval(
        "(() => { const s = stagesOf(draw.logits, now.about.tokens.ids, [], {temperature: 1, top_k: 0, top_p: 1, "
        "min_p: 0, "
        "repetition: 1, presence: 0, frequency: 0, seed: 1, " +
        options +
        "}); return {kept: s.kept, cut: s.cut, probs: [...s.probs], penalised: [...s.penalised], drawn: s.drawn}; "
        "})()");
  };
  const auto plain = stages("");
  double sum = 0;
  for (const auto& p : plain["cut"]) sum += p.get<double>();
  EXPECT_NEAR(sum, 1, 1e-9);
  EXPECT_EQ(plain["kept"].size(), plain["probs"].size());
  EXPECT_EQ(stages("top_k: 3")["kept"].size(), 3u);
  const auto nucleus = stages("top_p: 0.5");
  double mass = 0;
  for (const auto& id : nucleus["kept"]) {
    EXPECT_LT(mass, 0.5) << "no token more than it needs";
    mass += plain["probs"][id.get<std::size_t>()].get<double>();
  }
  EXPECT_GE(mass, 0.5);
  const double most = plain["probs"][plain["kept"][0].get<std::size_t>()].get<double>();
  const auto likely = stages("min_p: 0.3")["kept"];
  ASSERT_LT(likely.size(), plain["kept"].size()) << "nothing is cut";
  std::size_t enough = 0;
  for (const auto& p : plain["probs"]) enough += p.get<double>() >= 0.3 * most ? 1 : 0;
  EXPECT_EQ(likely.size(), enough);
  for (const auto& id : likely) EXPECT_GE(plain["probs"][id.get<std::size_t>()].get<double>(), 0.3 * most);
  EXPECT_GT(stages("temperature: 0.5")["probs"][plain["kept"][0].get<std::size_t>()].get<double>(), most);
  const auto id = eval("now.about.tokens.ids[0]").get<std::size_t>();
  const double before = plain["penalised"][id].get<double>(),
               after = stages("repetition: 2")["penalised"][id].get<double>();
  EXPECT_NEAR(after, before > 0 ? before / 2 : before * 2, 1e-5 * (1 + std::abs(before)));
  EXPECT_EQ(browser->console(), "");
}

// Presence and frequency count what follows the prompt. Of two quick choices of a token the later one stays, whichever answer comes first.
TEST_F(InsidePage, DrawsAfterTheChosenToken) {
  look("plays", "abc");
  type("target", "hgh");
  click("#run");
  wait();
  awaited(
      "(() => { const f = stagesOf; stagesOf = (l, before, generated, o) => { window.seen = generated; "
      "return f(l, before, generated, o); }; return drawStages().then(() => 1); })()");
  EXPECT_EQ(eval("window.seen"), eval("now.about.tokens.ids.slice(-3)"));
  EXPECT_TRUE(awaited("(async () => { const f = tensor; let slow = 500; tensor = async (n, p) => { const wait = slow; "
                      "slow = 0; await new Promise(r => setTimeout(r, wait)); return f(n, p); }; "
                      "draw.token = 0; const a = drawDistribution(); draw.token = 1; const b = drawDistribution(); "
                      "await Promise.all([a, b]); tensor = f; const want = await f('logits', {token: 1}); "
                      "return draw.logits.every((x, i) => x === want.data[i]); })()")
                  .get<bool>());
  EXPECT_EQ(browser->console(), "");
}

// The search is what POST /search answers: each node is drawn, and the thick path is the translation.
TEST_F(InsidePage, DrawsTheSearchAsATree) {
  look("de", "a dog runs");
  const auto search = [&](const std::vector<std::pair<std::string, std::string>>& settings) {
    for (const auto& [name, value] : settings) type("search-" + name, value);
    click("#search-run");
    ASSERT_TRUE(comes("!document.getElementById('search-run').disabled && searching.answer"))
        << eval("document.getElementById('trouble').textContent");
  };
  const auto drawn = [&] { return eval("[...document.querySelectorAll('#tree .node')].map(g => +g.dataset.node)"); };
  search({{"beam_size", "4"}, {"n", "3"}, {"max_length", "12"}});
  const Json request{{"model", "de"}, {"text", "a dog runs"}, {"beam_size", 4}, {"n", 3}, {"max_length", 12}};
  const Json expected = post("/search", request);
  EXPECT_EQ(eval("searching.answer.nodes"), nlohmann::json(expected["nodes"]));
  std::vector<std::size_t> all(expected["nodes"].size());
  std::iota(all.begin(), all.end(), 0);
  EXPECT_EQ(drawn(), nlohmann::json(all));
  const Json translated = post("/translate", {{"q", "a dog runs"},
                                              {"model", "de"},
                                              {"split", "none"},
                                              {"beam_size", 4},
                                              {"alternatives", 2},
                                              {"max_length", 12},
                                              {"scores", true}});
  EXPECT_EQ(eval("[...document.querySelectorAll('#search-results tbody .text')][0].textContent"),
            nlohmann::json(translated["translatedText"]));
  EXPECT_EQ(eval("[...document.querySelectorAll('#tree .node.best')].slice(1).map(g => "
                 "searching.answer.nodes[g.dataset.node].piece)"),
            nlohmann::json(translated["details"][0]["translations"][0]["tokens"]));
  EXPECT_LT(number("Math.max(...searching.answer.results.map(r => Math.abs(sumTo(searching.answer.nodes, r.node) - "
                   "r.log_prob)))"),
            1e-9);
  // No two nodes at one place; a fate has a shape of its own.
  EXPECT_EQ(eval("new Set([...document.querySelectorAll('#tree .node')].map(g => g.getAttribute('transform'))).size"),
            all.size());
  EXPECT_EQ(eval("new Set(FATES.map(f => markOf(f).innerHTML)).size === FATES.length"), true);
  keep_picture("inside-tree");
  // By keyboard: to the first token, and to the next one of its step.
  eval("(() => { document.querySelector('#tree [data-node=\"0\"].node').focus(); return 1; })()");
  browser->press("ArrowRight");
  const std::string first = eval("document.getElementById('search-readout').textContent");
  EXPECT_EQ(eval("document.activeElement.getAttribute('aria-label')"), first);
  EXPECT_TRUE(contains(first, "log p"));
  browser->press("ArrowDown");
  EXPECT_NE(eval("document.getElementById('search-readout').textContent"), first);
  EXPECT_EQ(eval("searching.answer.nodes[document.activeElement.dataset.node].step"), 1);
  // The list says the same, for those who do not see the picture.
  EXPECT_EQ(eval("document.querySelectorAll('#tree-list li').length"), all.size());
  // Without what was not taken.
  click("#search-lost");
  EXPECT_EQ(drawn().size(), static_cast<std::size_t>(
                                std::count_if(expected["nodes"].begin(), expected["nodes"].end(), [](const Json& n) {
                                  return n["fate"] == "living" || n["fate"] == "finished" || n["fate"] == "stopped";
                                })));
  click("#search-lost");

  // Samples share nodes, an expression cuts branches, drafts are accepted or not.
  search({{"temperature", "1"}, {"n", "5"}, {"seed", "3"}});
  EXPECT_EQ(eval("searching.answer.results.length"), 5);
  EXPECT_EQ(eval("searching.answer.plan.seed"), 3);
  look("plays", "abcabcab");
  search({{"temperature", "0"}, {"n", "2"}, {"regex", "(gh)+"}});
  EXPECT_GT(number("document.querySelectorAll('#tree .node.fate-forbidden').length"), 0);
  EXPECT_EQ(eval("searching.answer.results.every(r => /^(gh)+$/.test(r.text))"), true);
  keep_picture("inside-tree-constraint");
  search({{"regex", ""}, {"lookup", "2"}, {"max_length", "20"}});
  EXPECT_TRUE(comes("searching.answer.proposals")) << eval("document.getElementById('trouble').textContent");
  EXPECT_EQ(number("document.querySelectorAll('#tree .node.accepted').length"),
            number("searching.answer.proposals.accepted"));
  EXPECT_EQ(browser->console(), "");

  // The address keeps the search, in Chinese too; a phone scrolls the tree alone.
  search({{"lookup", "0"}, {"n", "1"}, {"beam_size", "3"}, {"length_penalty", "0.5"}});
  const std::string nodes = eval("JSON.stringify(searching.answer.nodes)");
  const std::string state = eval("location.hash");
  EXPECT_TRUE(contains(state, "length_penalty"));
  browser->open("about:blank");
  browser->open(fmt::format("http://127.0.0.1:{}/inside?lang=zh{}", server->port(), state), 390, 900);
  ASSERT_TRUE(comes("document.body.dataset.ready && searching.answer")) << browser->console();
  EXPECT_EQ(eval("JSON.stringify(searching.answer.nodes)"), nodes);
  EXPECT_EQ(eval("document.querySelector('#search-view h2').textContent"), eval("STRINGS.zh.search"));
  EXPECT_LE(number("document.documentElement.scrollWidth"), 390);
  EXPECT_GT(number("document.getElementById('tree').scrollWidth"), 390);
  for (const auto& node : browser->accessibility_tree())
    if (node.value("focusable", false) && node["role"] != "RootWebArea" && node["role"] != "generic") {
      EXPECT_NE(node["name"], "") << node;
    }
  keep_picture("inside-tree-zh-390");
  EXPECT_EQ(browser->console(), "");
}

// Groups of a beam, and a text that must be JSON: settings of the page, kept in its address.
TEST_F(InsidePage, SearchesWithGroupsAndASchema) {
  const auto search = [&](const std::vector<std::pair<std::string, std::string>>& settings) {
    for (const auto& [name, value] : settings) type("search-" + name, value);
    click("#search-run");
    ASSERT_TRUE(comes("!document.getElementById('search-run').disabled"));
  };
  const auto trouble = [&] { return eval("document.getElementById('trouble').textContent").get<std::string>(); };
  look("de", "a dog runs");
  search({{"beam_size", "4"}, {"n", "4"}, {"beam_groups", "2"}, {"diversity_penalty", "0.8"}, {"max_length", "8"}});
  ASSERT_TRUE(comes("searching.answer")) << trouble();
  Json request{{"model", "de"}, {"text", "a dog runs"}, {"beam_size", 4}, {"n", 4}, {"max_length", 8}};
  const Json alone = post("/search", request);
  request.update({{"beam_groups", 2}, {"diversity_penalty", 0.8}});
  const Json expected = post("/search", request);
  EXPECT_NE(expected["nodes"], alone["nodes"]);
  EXPECT_EQ(eval("searching.answer.nodes"), nlohmann::json(expected["nodes"]));
  EXPECT_EQ(eval("searching.answer.plan.beam_groups"), 2);
  // Each node names its group, and there are two.
  EXPECT_EQ(eval("[...document.querySelectorAll('#tree .node')].slice(1).every(g => g.querySelector('.group')"
                 ".textContent === String(searching.answer.nodes[g.dataset.node].group))"),
            true);
  EXPECT_EQ(eval("new Set([...document.querySelectorAll('#tree .node .group')].map(e => e.textContent)).size"), 2);
  keep_picture("inside-tree-groups");
  const std::string state = eval("location.hash");
  browser->open("about:blank");
  browser->open(fmt::format("http://127.0.0.1:{}/inside?lang=zh{}", server->port(), state), 390, 900);
  ASSERT_TRUE(comes("document.body.dataset.ready && searching.answer")) << browser->console();
  EXPECT_EQ(eval("searching.answer.nodes"), nlohmann::json(expected["nodes"]));
  EXPECT_LE(number("document.documentElement.scrollWidth"), 390);
  EXPECT_EQ(browser->console(), "");
  // A beam that cannot be divided is refused in the words of the server; greedy search and samples have no groups.
  search({{"beam_groups", "3"}});
  EXPECT_TRUE(contains(trouble(), "beam_groups")) << trouble();
  search({{"beam_size", "1"}, {"n", "1"}});
  EXPECT_EQ(trouble(), "");
  EXPECT_EQ(eval("'beam_groups' in searching.answer.plan"), false);
  search({{"temperature", "1"}, {"n", "2"}});
  EXPECT_EQ(trouble(), "");
  EXPECT_EQ(eval("searching.answer.results.length"), 2);

  serve({}, translator, small_writer("\"abc{}:,[] 0123"));
  look("plays", "abc");
  search({{"beam_size", "3"}, {"n", "2"}, {"max_length", "12"}, {"json_schema", R"({"enum": ["ab", "ac"]})"}});
  ASSERT_TRUE(comes("searching.answer")) << trouble();
  EXPECT_EQ(eval("searching.answer.results.map(r => JSON.parse(r.text)).sort()"), nlohmann::json({"ab", "ac"}));
  EXPECT_GT(number("document.querySelectorAll('#tree .node.fate-forbidden').length"), 0);
  keep_picture("inside-tree-schema");
  const std::string constrained = eval("location.hash");
  browser->open("about:blank");
  browser->open(fmt::format("http://127.0.0.1:{}/inside{}", server->port(), constrained));
  ASSERT_TRUE(comes("document.body.dataset.ready && searching.answer")) << browser->console();
  EXPECT_EQ(eval("document.getElementById('search-json_schema').value"), R"({"enum": ["ab", "ac"]})");
  EXPECT_EQ(eval("searching.answer.results.map(r => JSON.parse(r.text)).sort()"), nlohmann::json({"ab", "ac"}));
  search({{"json_schema", "{"}});
  EXPECT_TRUE(trouble().starts_with("the schema is no JSON")) << trouble();
  search({{"json_schema", R"({"type": "strange"})"}});
  EXPECT_TRUE(contains(trouble(), "json_schema")) << trouble();
  search({{"json_schema", ""}, {"regex", "(ab)+"}});
  EXPECT_EQ(trouble(), "");
}

}  // namespace
}  // namespace tril::serve
