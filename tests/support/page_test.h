// Tests of pages in a browser: headless Chromium runs the page's script, and the tests check the resulting document, its
// console and pictures. Without a browser these tests are skipped; on Debian, where `make test` installs one, they fail.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "support/browser.h"
#include "support/contains.h"

namespace tril {

/// The text between `begin` and the first `end` after it.
inline std::string between(const std::string& text, const std::string& begin, const std::string& end) {
  const std::size_t from = text.find(begin);
  if (from == std::string::npos) return "";
  return text.substr(from, text.find(end, from) - from);
}

inline int count(const std::string& text, const std::string& part) {
  int n = 0;
  for (std::size_t at = 0; (at = text.find(part, at)) != std::string::npos; at += part.size()) ++n;
  return n;
}

/// Words of a document's part, tags taken out: "6.5 training".
inline std::string words_of(const std::string& html) {
  std::string words;
  bool tag = false;
  for (const char ch : html) {
    if (ch == '<') tag = true;
    if (!tag) words += ch;
    if (ch == '>') tag = false;
  }
  return words;
}

class PageTest : public ::testing::Test {
 protected:
  void SetUp() override {
    const BrowserProgram program = find_browser();
    if (!program.path.empty()) {
      browser = std::make_unique<Browser>(program.path);
      return;
    }
    if (browser_is_expected()) FAIL() << program.why_not << " (TRIL_BROWSER=none leaves these tests out)";
    GTEST_SKIP() << "no browser to look at the page with: " << program.why_not;
  }

  /// The document after its script ran, without script elements. `page` may end with "#" and choices.
  std::string document_of(const std::string& page) {
    browser->open("file://" + page);
    EXPECT_EQ(browser->console(), "");
    std::string dom = browser->document();
    EXPECT_TRUE(contains(dom, "data-ready=\"true\"")) << "the script came to its end";
    for (std::size_t from; (from = dom.find("<script")) != std::string::npos;)
      dom.erase(from, dom.find("</script>", from) + 9 - from);
    for (const char* wrong : {"NaN", "undefined", "Infinity", "[object"})
      EXPECT_FALSE(contains(dom, wrong)) << wrong << " at " << dom.substr(dom.find(wrong) - 100, 200);
    return dom;
  }

  ScratchFolder folder;
  std::unique_ptr<Browser> browser;
};

}  // namespace tril
