// The page that shows a pass, in a browser.
#pragma once

#include "support/served_page.h"

namespace tril::serve {

struct InsidePage : Page {
  void look(const std::string& model, const std::string& text, const std::string& more = "", int width = 1280) {
    browser->open("about:blank");
    browser->open(fmt::format("http://127.0.0.1:{}/inside{}", server->port(), more), width, 900);
    ASSERT_TRUE(comes("document.body.dataset.ready")) << browser->console();
    type("model", model), type("text", text);
    click("#run");
    wait();
  }
  void wait() {
    ASSERT_TRUE(comes("document.body.dataset.ready && now.about && document.getElementById('value').children.length"))
        << browser->console() << eval("document.getElementById('trouble').textContent");
  }
  void choose(const std::string& point) {
    ASSERT_TRUE(eval("Boolean(document.querySelector('[data-point=\"" + point + "\"]'))")) << point;
    eval("chooseStage(pointOf('" + point + "').stage, '" + point + "')");
    ASSERT_TRUE(comes("document.getElementById('value-facts').textContent.startsWith('" + point +
                      " ') && document.getElementById('readout').textContent === t('choose_cell')"))
        << point << browser->console() << eval("document.getElementById('trouble').textContent");
  }
  /// A point that a switch leaves out.
  void choose_left_out(const std::string& point) {
    eval("chooseStage(pointOf('" + point + "').stage, '" + point + "')");
    ASSERT_TRUE(comes("document.getElementById('value-facts').textContent.startsWith('" + point + " ')"));
  }
  double number(const std::string& script) { return eval(script).get<double>(); }
  /// What a promise comes to.
  nlohmann::json awaited(const std::string& promise) {
    eval("(() => { window.came = undefined; (" + promise +
         ").then(r => { window.came = {value: r}; }, e => { window.came = {value: String(e)}; }); return 1; })()");
    EXPECT_TRUE(comes("window.came")) << promise;
    return eval("window.came.value");
  }
};

}  // namespace tril::serve
