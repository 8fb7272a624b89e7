// Markdown: words of blocks are translated, their marks and everything else stay.
#include "document/markup/markdown.h"

#include <gtest/gtest.h>

#include "document/segments/sentences.h"
#include "support/document_text.h"
#include "support/linear_time.h"
#include "support/rounds.h"
#include "unicode/letter_case.h"

namespace tril::document::markdown_test {
namespace {

std::string capitals(const std::string& markdown) {
  return capitals_of(*read_markdown(markdown));
}

std::vector<std::string> texts(const std::string& markdown) {
  return texts_of(*read_markdown(markdown));
}

TEST(Markdown, BlocksKeepTheirMarks) {
  EXPECT_EQ(capitals("# one #\n\ntwo\nthree\n===\n\nfour\n---\n***\n"),
            "# ONE #\n\nTWO\nTHREE\n===\n\nFOUR\n---\n***\n");
  EXPECT_EQ(capitals("- a\n- [ ] b\n  c\n\n  d\n    1. e\n\n> f\n> g\n>\n> > h\n"),
            "- A\n- [ ] B\n  C\n\n  D\n    1. E\n\n> F\n> G\n>\n> > H\n");
  EXPECT_EQ(texts("> a dog\n> runs\nlazily\n"), std::vector<std::string>{"a dog\nruns\nlazily"});
  EXPECT_EQ(capitals("a\n\n    code b\n\n```c\nint x; // c\n```\n~~~\n- x\n~~~\nb"),
            "A\n\n    code b\n\n```c\nint x; // c\n```\n~~~\n- x\n~~~\nB");
  EXPECT_EQ(capitals("| a | b |\n|---|:-:|\n| c `x|y` | *d* \\| e |\n\nf"),
            "| A | B |\n|---|:-:|\n| C `x|y` | *D* \\| E |\n\nF");
  EXPECT_EQ(capitals("---\ntitle: x\n---\na\n\n[r]: http://x.y \"t\"\n[^1]: note\n"),
            "---\ntitle: x\n---\nA\n\n[r]: http://x.y \"t\"\n[^1]: NOTE\n");
  EXPECT_EQ(capitals("<div align=\"center\">\n<b>a</b> b\n</div>\n\nc <!-- d --> e\n\n<pre>\nx\n\ny</pre>\nf"),
            "<div align=\"center\">\n<b>A</b> B\n</div>\n\nC <!-- d --> E\n\n<pre>\nx\n\ny</pre>\nF");
  EXPECT_EQ(capitals("a  \nb\\\nc\r\n\r\nd"), "A  \nB\\\nC\r\n\r\nD");
}

TEST(Markdown, InlineMarksStayAroundTheirWords) {
  EXPECT_EQ(capitals("a *b* **c _d_** ~~e~~ ***f***"), "A *B* **C _D_** ~~E~~ ***F***");
  EXPECT_EQ(capitals("a [b *c*](http://x.y/(z) \"t\") ![d](e.png) [f][r]\n\n[r]: x"),
            "A [B *C*](http://x.y/(z) \"t\") ![D](e.png) [F][r]\n\n[r]: x");
  EXPECT_EQ(capitals("a [b c] d [b  c][] [x] e\n\n[B c]: y"), "A [B C][b c] D [B  C][b  c] [X] E\n\n[B c]: y");
  EXPECT_EQ(capitals("use `x *y*` and ``a`b``, $x^2$, <https://a.b>, https://c.d/e. <kbd>x</kbd>"),
            "USE `x *y*` AND ``a`b``, $x^2$, <https://a.b>, https://c.d/e. <kbd>x</kbd>");
  EXPECT_EQ(capitals("a \\*b\\* 2 * 3 &amp; snake_case a[1] < b [^1]"),
            "A \\*B\\* 2 \\* 3 &amp; SNAKE_CASE A[1] < B [^1]")
      << "escaped, as the segment escapes others";
  EXPECT_EQ(capitals("ask a.b@c.de (<d@e.fg>,\n<h@i.jk>)\n[http://x.yz](http://x.yz)"),
            "ASK a.b@c.de (<d@e.fg>,\n<h@i.jk>)\n[http://x.yz](http://x.yz)");
  EXPECT_EQ(texts("one *two*\nthree"), std::vector<std::string>{"one two\nthree"});
}

// What a model writes is text, and means no mark.
TEST(Markdown, TranslationsAreEscaped) {
  const auto document = read_markdown("a dog");
  const auto written = [&](const std::string& text) { return document->write(std::vector<Segment>{{text, {}, {}}}); };
  EXPECT_EQ(written("*a* [b](c) <i> `d`"), "\\*a\\* \\[b\\](c) \\<i\\> \\`d\\`");
  EXPECT_EQ(written("1. a"), "1\\. a");
  EXPECT_EQ(written("# a"), "\\# a");
  EXPECT_EQ(written("a &amp; b & c"), "a &amp;amp; b & c");
}

TEST(Markdown, FilesStayThemselves) {
  const std::vector<std::string> parts{"a dog. ", "two", " ",     "\n",   "\n\n",         "    ",       "- ",
                                       "> ",      "1. ", "# ",    "*",    "**",           "_",          "`",
                                       "```\n",   "[",   "]",     "(x)",  "[r]",          "\n[r]: y\n", "<b>",
                                       "</b>",    "\\",  "&amp;", "|",    "\n|-|\n",      "$",          "<!-- ",
                                       "-->",     "![",  "~~",    "\r\n", "---\n",        "<div>",      "http://x.yz ",
                                       "\t",      "é",   "[^1]",  "  \n", "<https://a.b>"};
  test::rounds(8000, [&](RandomSequence& random) {
    std::string text;
    for (std::uint64_t n = random.below(30); n > 0; --n) text += parts[random.below(parts.size())];
    const auto document = read_markdown(text);
    ASSERT_EQ(document->write(document->segments()), text);
    capitals(text);
  });
}

TEST(Markdown, HostileInputTakesLinearTime) {
  for (const std::string part : {"*",   "[",       "](",  "![",  "`", "``` ` ", "<",      "<b>", "> ",    "- ",
                                 "_a_", "*a **b ", "[](", "$a ", "|", "a\n",    "[a][b]", "\\",  "<!-- ", "1. "}) {
    SCOPED_TRACE(part);
    test::expect_linear_time(
        400, [&](std::size_t n) { return test::repeated(part, n); },
        [](const std::string& text) {
          const auto document = read_markdown(text);
          EXPECT_EQ(document->write(document->segments()), text);
        });
  }
}

}  // namespace
}  // namespace tril::document::markdown_test
