// The page in a browser, over a service with two small models.
#pragma once

#include <cstdlib>
#include <fstream>

#include "support/page_test.h"
#include "support/serving.h"

namespace tril::serve {

inline constexpr const char* done = "document.getElementById('target').getAttribute('aria-busy') === 'false'";

struct Page : Serving {
  void SetUp() override {
    const BrowserProgram program = find_browser();
    if (program.path.empty()) {
      if (browser_is_expected()) FAIL() << program.why_not << " (TRIL_BROWSER=none leaves these tests out)";
      GTEST_SKIP() << "no browser to look at the page with: " << program.why_not;
    }
    browser = std::make_unique<Browser>(program.path);
    serve();
  }
  void open(int width = 1280, int height = 900) {
    browser->open("http://127.0.0.1:" + std::to_string(server->port()) + "/", width, height);
    EXPECT_TRUE(comes("document.getElementById('model').options.length === 1")) << browser->console();
  }
  nlohmann::json eval(const std::string& script) { return browser->evaluate(script); }
  /// Whether the condition becomes true in time.
  bool comes(const std::string& condition, double seconds = 60) {
    const auto until = Clock::now() + std::chrono::milliseconds(static_cast<int>(seconds * 1000));
    while (Clock::now() < until) {
      if (eval("Boolean(" + condition + ")") == true) return true;
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
    }
    return false;
  }
  void type(const std::string& id, const std::string& text) {
    eval("(() => { const e = document.getElementById('" + id +
         "'); e.focus(); e.value = " + nlohmann::json(text).dump() +
         "; e.dispatchEvent(new Event('input')); e.dispatchEvent(new Event('change')); return 1; })()");
  }
  /// Chooses a file to translate, or for another field.
  void choose_file(const std::string& name, const std::string& text, const std::string& field = "file") {
    eval("(() => { const d = new DataTransfer(), f = document.getElementById('" + field + "'); d.items.add(new File([" +
         nlohmann::json(text).dump() + "], " + nlohmann::json(name).dump() +
         ")); f.files = d.files; f.dispatchEvent(new Event('change')); return 1; })()");
  }
  /// Uploads an English-German glossary, which gets the file's name without its ending.
  void upload_glossary(const std::string& file, const std::string& text) {
    choose_file(file, text, "upload-file");
    type("upload-from", "en"), type("upload-into", "de");
    click("#upload");
  }
  void click(const std::string& selector) {
    eval("(() => { document.querySelector(" + nlohmann::json(selector).dump() + ").click(); return 1; })()");
  }
  /// Saved to the directory in TRIL_SCREENSHOTS.
  void keep_picture(const std::string& name) {
    const std::string png = browser->screenshot();
    EXPECT_TRUE(png.starts_with("\x89PNG"));
    if (const char* folder = std::getenv("TRIL_SCREENSHOTS"); folder && *folder)
      std::ofstream(std::string(folder) + "/" + name + ".png", std::ios::binary) << png;
  }

  std::unique_ptr<Browser> browser;
};

}  // namespace tril::serve
