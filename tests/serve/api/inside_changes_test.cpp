// Switches on the page that shows a pass, and another precision: what a change does to every value after it.
#include <algorithm>

#include "support/inside_page.h"

namespace tril::serve {
namespace {

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

}  // namespace
}  // namespace tril::serve
