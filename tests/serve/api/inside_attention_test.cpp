// Attention on the page that shows a pass: what it recomputes agrees with what it shows, in every form of the mask.
#include "model_io/source/model_source.h"
#include "model_io/source/registry.h"
#include "support/contains.h"
#include "support/golden.h"
#include "support/inside_page.h"

namespace tril::serve {
namespace {

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

}  // namespace
}  // namespace tril::serve
