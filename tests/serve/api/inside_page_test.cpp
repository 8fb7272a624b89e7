// The page that shows a pass, in a browser: its list is the pass's, its numbers are those of POST /trace, and what it recomputes agrees.
#include <numeric>

#include "base/as_size.h"
#include "inside/file.h"
#include "inside/page.h"
#include "model_io/source/model_source.h"
#include "model_io/source/registry.h"
#include "support/contains.h"
#include "support/golden.h"
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

// softmax(scale q k^T + mask) of the shown q and k is the shown attention, in every head of every kind of attention.
TEST_F(InsidePage, RecomputesAttentionFromWhatItShows) {
  look("de", "a dog runs");
  type("target", "the old dog");
  click("#run");
  wait();
  // What one explanation needs comes by one request.
  const auto before = number("performance.getEntriesByType('resource').length");
  awaited("attentionOf('decoder.1.self').then(() => 1)");
  EXPECT_EQ(number("performance.getEntriesByType('resource').length"), before + 1);
  for (const char* part : {"encoder.0.self", "decoder.0.self", "decoder.1.self", "decoder.1.cross"})
    for (int head = 0; head < 4; ++head) {
      eval("view.head = " + std::to_string(head));
      const auto found = awaited(std::string("recomputed('") + part + "')");
      EXPECT_TRUE(found["exact"]) << part;
      EXPECT_LT(found["difference"].get<double>(), 1e-5) << part << " " << head;
    }
  look("plays", "abcdefgh");
  EXPECT_LT(awaited("recomputed('decoder.1.self')")["difference"].get<double>(), 1e-5);
  EXPECT_EQ(browser->console(), "");
}

// A cell that the mask forbids has a hatch, -inf as score and 0 as weight: T (T - 1) / 2 of them in a causal layer.
TEST_F(InsidePage, HatchesMaskedCells) {
  look("plays", "abcdefgh");
  const auto T = static_cast<int>(number("now.about.tokens.ids.length"));
  ASSERT_GE(T, 8);
  choose("decoder.0.self.masked_scores");
  EXPECT_EQ(eval("document.querySelectorAll('#value td[data-masked]').length"), T * (T - 1) / 2);
  EXPECT_EQ(eval("[...document.querySelectorAll('#value td[data-masked]')].every(c => c.textContent === '−∞' && "
                 "+c.dataset.c > +c.dataset.r)"),
            true);
  choose("decoder.0.self.weights");
  EXPECT_EQ(eval("document.querySelectorAll('#value td[data-masked]').length"), T * (T - 1) / 2);
  EXPECT_EQ(eval("[...document.querySelectorAll('#value td[data-masked]')].every(c => c.textContent === '0')"), true);
  EXPECT_EQ(eval("[...document.querySelectorAll('#value td[data-r=\"0\"]:not([data-masked])')].length"), 1);
  keep_picture("inside-weights");
  choose("decoder.0.self.scores");
  EXPECT_EQ(eval("document.querySelectorAll('#value td[data-masked]').length"), 0);
  // From a cell to the dot product behind it, by keyboard.
  eval("document.querySelector('#value .matrix').focus()");
  browser->press("ArrowDown");
  ASSERT_TRUE(comes("document.querySelectorAll('#zoom tbody tr').length === 8")) << "the numbers of a head";
  const double sum =
      number("Number([...document.querySelectorAll('#zoom tfoot tr')][1].lastChild.textContent.replace('−', '-'))");
  const double shown =
      awaited("tensor('decoder.0.self.scores', {head: view.head}).then(s => s.data[s.shape[2]])").get<double>();
  EXPECT_NEAR(sum, shown, 1e-3 * (1 + std::abs(shown)));
  keep_picture("inside-dot-product");
  EXPECT_EQ(browser->console(), "");
}

// The mask in both conventions: T (T - 1) / 2 pairs are forbidden in each.
TEST_F(InsidePage, ShowsTheMaskInBothForms) {
  look("plays", "abcdefgh");
  const auto T = static_cast<int>(number("now.about.tokens.ids.length"));
  EXPECT_FALSE(eval("document.getElementById('mask-form').checkVisibility()").get<bool>()) << "weights have no form";
  choose("decoder.0.self.mask");
  const auto cells = [&](const std::string& words) {
    return eval("[...document.querySelectorAll('#value tbody td')].filter(c => c.textContent === '" + words +
                "' && c.dataset.masked !== undefined).length");
  };
  const auto shows = [&](const std::string& id, const std::string& words) {
    const std::string text = eval("document.getElementById('" + id + "').textContent");
    EXPECT_TRUE(contains(text, words)) << text;
  };
  const auto open_pairs = [&](const std::string& words) {
    return eval("[...document.querySelectorAll('#value tbody td')].filter(c => c.textContent === '" + words +
                "' && c.dataset.masked === undefined).length");
  };
  EXPECT_EQ(cells("false"), T * (T - 1) / 2);
  EXPECT_EQ(open_pairs("true"), T * (T + 1) / 2);
  shows("value-about", "scaled_dot_product_attention"), shows("value-about", "key_padding_mask");
  type("mask-form", "additive");
  ASSERT_TRUE(comes("document.getElementById('readout').textContent === t('choose_cell')"));
  EXPECT_EQ(cells("−∞"), T * (T - 1) / 2);
  EXPECT_EQ(open_pairs("0"), T * (T + 1) / 2);
  shows("value-formula", "s + m"), shows("value-about", "added to the scores");
  keep_picture("inside-mask-additive");
  // What is added: the additive mask and the scores are the masked scores.
  EXPECT_EQ(
      awaited("Promise.all(['mask', 'scores', 'masked_scores'].map(n => tensor(`decoder.0.self.${n}`, {head: 0})))"
              ".then(([m, s, sum]) => sum.data.every((x, i) => x === s.data[i] + MASK_FORMS.additive.of(m.data[i])))"),
      true);
  eval("document.querySelector('#value .matrix').focus()");
  browser->press("ArrowRight");
  ASSERT_TRUE(comes("document.getElementById('readout').textContent.includes('−∞')"));
  // The address keeps the form.
  const std::string address = eval("location.href");
  browser->open("about:blank");
  browser->open(address);
  wait();
  ASSERT_TRUE(comes("document.getElementById('mask-form').value === 'additive'"));
  EXPECT_EQ(cells("−∞"), T * (T - 1) / 2);
  EXPECT_EQ(browser->console(), "");
}

// A bias by distance, and a soft cap: the scores are recomputed from q, k and what the trace shows of these.
TEST_F(InsidePage, RecomputesScoresWithBiasAndCap) {
  const auto golden = [](const Loaded& like, const std::string& name) {
    Loaded l = like;
    l.model = model::load(model::ModelSource::open((test::golden_directory() / "hf" / name).string()));
    l.tokenizer = translator.tokenizer;
    l.search.suppress_ids.clear();
    return l;
  };
  struct Case {
    const char* name;
    std::vector<std::string> parts;
    const char *formula, *row;
  };
  for (const Case& one :
       {Case{"t5", {"encoder.0.self", "encoder.1.self", "decoder.1.self", "decoder.1.cross"}, "+ b", "+ bias"},
        {"bloom", {"decoder.0.self", "decoder.1.self"}, "+ b", "+ bias"},
        {"mpt", {"decoder.0.self"}, "+ b", "+ bias"},
        {"gemma2", {"decoder.0.self", "decoder.1.self"}, "tanh", "c · tanh(x / c)"}}) {
    SCOPED_TRACE(one.name);
    const bool translates = one.parts[0].starts_with("encoder");
    if (translates)
      serve({}, golden(translator, one.name), writer);
    else
      serve({}, translator, golden(writer, one.name));
    look(translates ? "de" : "plays", "a dog runs in the snow");
    if (translates) {
      type("target", "the old dog"), click("#run");
      wait();
    }
    for (const std::string& part : one.parts)
      for (int head = 0; head < 4; ++head) {
        eval("view.head = " + std::to_string(head));
        const auto found = awaited("recomputed('" + part + "')");
        EXPECT_TRUE(found["exact"]) << part;
        EXPECT_LT(found["difference"].get<double>(), 1e-5) << part << " " << head;
      }
    choose(one.parts[0] + ".scores");
    EXPECT_TRUE(contains(eval("document.getElementById('value-formula').textContent").get<std::string>(), one.formula));
    eval("document.querySelector('#value .matrix').focus()");
    browser->press("ArrowDown");
    ASSERT_TRUE(comes("document.querySelectorAll('#zoom tfoot tr').length === 3"));
    // The last row is the score.
    EXPECT_EQ(eval("[...document.querySelectorAll('#zoom tfoot tr')][2].cells[0].textContent"), one.row);
    EXPECT_EQ(awaited("tensor(view.point, {head: view.head}).then(s => [...document.querySelectorAll('#zoom tfoot "
                      "tr')][2].lastChild.textContent === digits(s.data[s.shape[2]]))"),
              true);
    keep_picture(std::string("inside-scores-") + one.name);
    if (std::string(one.name) == "bloom") {  // ALiBi as the page computes it is the model's own
      eval("(() => { kinds.on = 'alibi'; return 1; })()");
      awaited("drawKind().then(() => 1)");
      EXPECT_EQ(eval("document.getElementById('kind-own').textContent"), eval("t('k_own_alibi')"));
    }
    // Without positions there is no bias. (The switch would continue the text, with ids that the tokenizer does not know.)
    eval("(() => { now.edits = ['*positions=skip']; return 1; })()");
    EXPECT_LT(awaited("recomputed('" + one.parts[0] + "')")["difference"].get<double>(), 1e-5);
    if (std::string(one.row) == "+ bias") {
      choose_left_out(one.parts[0] + ".bias");
      EXPECT_EQ(eval("document.getElementById('readout').textContent"), eval("t('left_out')"));
    }
    EXPECT_EQ(browser->console(), "");
  }
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

// A switch changes the pass as `tril trace --edit` does, and taking it back leaves nothing.
TEST_F(InsidePage, SwitchesShowWhatAChangeDoes) {
  look("plays", "abcdefgh");
  const auto flip = [&](const std::string& name) { click("[data-switch=\"" + name + "\"] [type=checkbox]"); };
  const std::string best = eval("now.about.next.map(n => n.best_id).join()");
  flip("mask");
  ASSERT_TRUE(comes("document.querySelectorAll('#changes tbody tr').length === now.about.tokens.ids.length"))
      << eval("document.getElementById('trouble').textContent");
  const Json expected =
      post("/trace", {{"model", "plays"}, {"text", "abcdefgh"}, {"edit", {"decoder.*.self.mask=all"}}});
  const double after = number(
      "Number([...document.querySelectorAll('#change-facts tr')].find(r => r.cells[0].textContent === "
      "t('loss_after')).cells[1].textContent)");
  EXPECT_NEAR(after, expected["change"]["loss_after"].get<double>(), 1e-2);
  EXPECT_TRUE(comes("document.getElementById('effect').textContent.includes(t('text_after'))"));
  choose("decoder.0.self.weights");
  EXPECT_EQ(eval("document.querySelectorAll('#value td[data-masked]').length"), 0) << "there is no mask now";
  keep_picture("inside-change");
  flip("mask");
  ASSERT_TRUE(comes("document.getElementById('effect').textContent === t('nothing_on')"));
  EXPECT_EQ(eval("now.about.next.map(n => n.best_id).join()"), best);
  for (const char* name : {"uniform", "positions", "ff", "head", "layer", "temperature", "window", "head_mean"}) {
    SCOPED_TRACE(name);
    flip(name);
    EXPECT_TRUE(
        comes(std::string("now.edits.length === 1 && document.querySelectorAll('#changes tbody tr').length > 0")));
    EXPECT_FALSE(eval("document.getElementById('trouble').checkVisibility()").get<bool>())
        << eval("document.getElementById('trouble').textContent");
    flip(name);
    ASSERT_TRUE(comes("document.getElementById('effect').textContent === t('nothing_on')"));
  }
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

// A switch that fails changes nothing: neither the numbers, nor the question, nor the other switches.
TEST_F(InsidePage, ASwitchWorksWhollyOrNotAtAll) {
  look("plays", "abcdefgh");
  const auto fill = [&](const std::string& name, const std::string& where, const std::string& text) {
    eval("(() => { const l = document.querySelector('[data-switch=" + name +
         "]'); l.querySelector('select').value = '" + where + "'; l.querySelector('input[data-field]').value = '" +
         text + "'; return 1; })()");
  };
  const auto flip = [&](const std::string& name) { click("[data-switch=" + name + "] [type=checkbox]"); };
  const auto is_on = [&](const std::string& name) {
    return eval("document.querySelector('[data-switch=" + name + "] [type=checkbox]').checked").get<bool>();
  };
  const auto second = [&] { return eval("document.querySelectorAll('#tokens .piece')[1].firstChild.textContent"); };
  const auto ids = eval("now.about.tokens.ids");
  const auto before = second();
  fill("token", "decoder.tokens@1", "h");
  flip("token");
  ASSERT_TRUE(comes("now.edits.length === 1")) << eval("document.getElementById('trouble').textContent");
  EXPECT_NE(eval("now.about.tokens.ids"), ids);
  EXPECT_EQ(second(), "h");
  EXPECT_EQ(eval("document.getElementById('draw-token').options[1].textContent"), "1 h");
  flip("token");
  ASSERT_TRUE(comes("now.edits.length === 0"));
  EXPECT_EQ(eval("now.about.tokens.ids"), ids);
  EXPECT_EQ(second(), before);

  fill("patch", "decoder.0", "");
  eval("(() => { document.querySelector('[data-switch=patch] select').selectedIndex = 0; return 1; })()");
  eval("(() => { document.querySelector('[data-switch=patch] input[data-field]').value = 'hgfedcba'; return 1; })()");
  flip("patch");
  ASSERT_TRUE(comes("now.edits.length === 1")) << eval("document.getElementById('trouble').textContent");
  EXPECT_EQ(eval("now.question.patch_text"), "hgfedcba");
  fill("token", "decoder.tokens@1", "hhh");  // three tokens for one
  flip("token");
  ASSERT_TRUE(comes("document.getElementById('trouble').textContent.includes('3 tokens')"));
  EXPECT_FALSE(is_on("token"));
  EXPECT_TRUE(is_on("patch"));
  EXPECT_EQ(eval("now.edits.length"), 1);
  flip("patch");
  ASSERT_TRUE(comes("now.edits.length === 0"));
  EXPECT_EQ(eval("now.question.patch_text === undefined"), true);
  // Nor does a question that is refused replace the one that is shown.
  type("text", std::string(300, 'a'));
  click("#run");
  ASSERT_TRUE(comes("document.getElementById('trouble').textContent.includes('300 tokens')"));
  EXPECT_EQ(eval("now.question.text"), "abcdefgh");
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

// The same model in 8 bits, if the server has it, beside the model in float32.
TEST_F(InsidePage, ComparesAnotherPrecision) {
  look("plays", "abcdef");
  EXPECT_EQ(eval("document.querySelector('[data-switch=against]')"), nullptr) << "there is no other writer";
  serve({}, writer, small_writer(letters, 0, nn::Precision::int8));
  look("de", "abcdef");
  click("[data-switch=against] [type=checkbox]");
  ASSERT_TRUE(comes("document.querySelectorAll('#changes tbody tr').length === now.about.tokens.ids.length"))
      << eval("document.getElementById('trouble').textContent");
  const Json expected =
      post("/trace", {{"model", "de"}, {"text", "abcdef"}, {"against", "plays"}})["against"]["change"];
  const double most = number(
      "Number([...document.querySelectorAll('#change-facts tr')].find(r => r.cells[0].textContent === "
      "t('most_logit')).cells[1].textContent)");
  double largest = 0;
  for (const Json& token : expected["tokens"])
    largest = std::max(largest, token["largest_logit_difference"].get<double>());
  EXPECT_NEAR(most, largest, 1e-3 * largest);
  EXPECT_GT(largest, 0);
  click("[data-switch=against] [type=checkbox]");
  ASSERT_TRUE(comes("document.getElementById('effect').textContent === t('nothing_on')"));
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
