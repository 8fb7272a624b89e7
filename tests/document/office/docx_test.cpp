// Word documents: paragraphs are whole across runs, marks and fields travel, and nothing is lost whatever the nesting.
#include <gtest/gtest.h>

#include <functional>
#include <map>

#include "document/formats/formats.h"
#include "document/segments/document_sentences.h"
#include "format/xml_file.h"
#include "support/document_text.h"
#include "support/linear_time.h"
#include "support/office_file.h"
#include "support/office_parts.h"
#include "support/rounds.h"

namespace tril::document::docx_test {
namespace {

using namespace tril::testing;

TEST(Docx, RunsOfEqualPropertiesAreOne) {
  EXPECT_EQ(word(p("<w:r w:rsidR=\"1\"><w:t>A d</w:t></w:r><w:proofErr w:type=\"spellStart\"/><w:r><w:rPr><w:lang "
                   "w:val=\"en-US\"/></w:rPr><w:t>og </w:t></w:r><w:r><w:t xml:space=\"preserve\">runs.</w:t></w:r>")),
            p(r("A DOG RUNS.")));
  EXPECT_EQ(texts(docx_file(p(r("a ") + r("red", "<w:b/>") + r(" ball", "<w:b w:val=\"0\"/>"))), "x.docx"),
            std::vector<std::string>{"a red ball"});
  EXPECT_EQ(word(p("<w:pPr><w:jc/></w:pPr>" + r("a dog ") + r("and", "<w:b/>") + r(" a cat"))),
            p("<w:pPr><w:jc/></w:pPr>" + r("A DOG ") + r("AND", "<w:b/>") + r(" A CAT")));
  EXPECT_EQ(word(p(r("all of it", "<w:b/>"))), p(r("ALL OF IT", "<w:b/>")));
  EXPECT_EQ(word(p(r("12 &amp; 3"))), p(r("12 &amp; 3"))) << "nothing to translate";
  EXPECT_EQ(word(p(r("a &lt;b&gt; &amp; c"))), p(r("A &lt;B&gt; &amp; C")));
}

TEST(Docx, MarksTravel) {
  const std::string link = "<w:hyperlink r=\"1\">",
                    note = "<w:r><w:rPr><w:x/></w:rPr><w:footnoteReference w:id=\"2\"/></w:r>";
  EXPECT_EQ(word(p(r("see ") + link + r("this page", "<w:u/>") + "</w:hyperlink>" + note + r(" now"))),
            p(r("SEE ") + link + r("THIS PAGE", "<w:u/>") + "</w:hyperlink>" + note + r(" NOW")));
  EXPECT_EQ(word(p(link + r("all") + "</w:hyperlink>")), p(link + r("ALL") + "</w:hyperlink>"));
  EXPECT_EQ(word(p(r("a ") + "<w:bookmarkStart w:id=\"1\"/>" + r("dog") + "<w:bookmarkEnd w:id=\"1\"/>" + r(" runs"))),
            p(r("A ") + "<w:bookmarkStart w:id=\"1\"/>" + r("DOG") + "<w:bookmarkEnd w:id=\"1\"/>" + r(" RUNS")));
  EXPECT_EQ(word(p("<w:r><w:t>one</w:t><w:br/><w:t>two</w:t></w:r>")),
            p("<w:r><w:t>ONE</w:t><w:br/><w:t>TWO</w:t></w:r>"));
  EXPECT_EQ(word(p("<w:r><w:t>name:</w:t><w:tab/><w:t>ann</w:t></w:r>")),
            p("<w:r><w:t>NAME:</w:t><w:tab/><w:t>ANN</w:t></w:r>"));
  EXPECT_EQ(texts(docx_file(p("<w:r><w:t>one</w:t><w:br/><w:t>two</w:t><w:tab/><w:t>three</w:t></w:r>")), "x.docx"),
            (std::vector<std::string>{"one\ntwo", "three"}));
  EXPECT_EQ(word(p(r("a dog") + "<m:oMath><m:r><m:t>x</m:t></m:r></m:oMath>" + r(" runs"))),
            p(r("A DOG") + "<m:oMath><m:r><m:t>x</m:t></m:r></m:oMath>" + r(" RUNS")));
}

TEST(Docx, PropertiesOfPairsComeFirst) {
  for (const std::string pair : {"smartTag", "customXml"}) {
    const std::string open = "<w:" + pair + "><w:" + pair + "Pr/>", close = "</w:" + pair + ">";
    EXPECT_EQ(word(p(r("see ") + open + r("ann") + close + r(" now"))),
              p(r("SEE ") + open + r("ANN") + close + r(" NOW")));
  }
  const std::string open = "<text:a><office:event-listeners/>";
  EXPECT_EQ(open_document("<text:p>see " + open + "ann</text:a> now</text:p>"),
            "<text:p>SEE " + open + "ANN</text:a> NOW</text:p>");
}

TEST(Docx, ChangesAndFieldsStay) {
  const std::string deleted = "<w:del><w:r><w:delText>old</w:delText></w:r></w:del>";
  EXPECT_EQ(word(p(r("a ") + deleted + "<w:ins>" + r("new") + "</w:ins>" + r(" dog"))),
            p(r("A ") + deleted + "<w:ins>" + r("NEW") + "</w:ins>" + r(" DOG")));
  const auto field = [](const std::string& code, const std::string& result) {
    return "<w:r><w:fldChar w:fldCharType=\"begin\"/></w:r><w:r><w:instrText> " + code +
           "</w:instrText></w:r><w:r><w:fldChar w:fldCharType=\"separate\"/></w:r>" + result +
           "<w:r><w:fldChar w:fldCharType=\"end\"/></w:r>";
  };
  const std::string figure = field("REF figure", r("Figure 1"));
  EXPECT_EQ(word(p(r("see ") + figure + r(" there"))), p(r("SEE ") + figure + r(" THERE")));
  EXPECT_EQ(texts(docx_file(p(r("see ") + figure + r(" there"))), "x.docx"),
            std::vector<std::string>{"see Figure 1 there"});
  EXPECT_EQ(word(p(r("see ") + field("HYPERLINK \"x\"", r("this")) + r(" now"))),
            p(r("SEE ") + field("HYPERLINK \"x\"", r("THIS")) + r(" NOW")));
  EXPECT_EQ(word(p(field("PAGE", r("4")))), p(field("PAGE", r("4"))));
  const std::string simple = "<w:fldSimple w:instr=\"PAGE\"><w:r><w:t>4</w:t></w:r></w:fldSimple>";
  EXPECT_EQ(word(p(r("page ") + simple + r(" of it"))), p(r("PAGE ") + simple + r(" OF IT")));
  const std::string toc = "<w:r><w:fldChar w:fldCharType=\"begin\"/></w:r><w:r><w:instrText>TOC</w:instrText></w:r>";
  EXPECT_EQ(word(p(toc + r("entry")) + p("<w:r><w:fldChar w:fldCharType=\"end\"/></w:r>")),
            p(toc + r("ENTRY")) + p("<w:r><w:fldChar w:fldCharType=\"end\"/></w:r>"));
}

TEST(Docx, FieldsThatShareARunEndASegment) {
  const std::string field =
      "<w:r><w:fldChar w:fldCharType=\"begin\"/><w:instrText>REF a</w:instrText><w:fldChar "
      "w:fldCharType=\"separate\"/></w:r>";
  const std::string end = "<w:r><w:fldChar w:fldCharType=\"end\"/></w:r>";
  const std::string written = word(p(r("see ") + field + r("this") + end + r(" there")));
  EXPECT_EQ(written, p("<w:r><w:t xml:space=\"preserve\">SEE </w:t>" + field.substr(5, field.size() - 11) +
                       "<w:t>THIS</w:t></w:r>" + end + r(" THERE")));
}

TEST(Docx, ParagraphsWithinParagraphsAreSegments) {
  const std::string box =
      "<w:r><w:pict><x><w:txbxContent>" + p(r("in the box")) + "</w:txbxContent></x></w:pict></w:r>";
  EXPECT_EQ(texts(docx_file(p(r("around ") + box + r(" it"))), "x.docx"),
            (std::vector<std::string>{"around  it", "in the box"}));
  const std::string capital =
      "<w:r><w:pict><x><w:txbxContent>" + p(r("IN THE BOX")) + "</w:txbxContent></x></w:pict></w:r>";
  EXPECT_EQ(word(p(r("around") + box + r(" it"))), p(r("AROUND") + capital + r(" IT")));
  EXPECT_EQ(word(p(box)), p(capital));
  EXPECT_EQ(word(p(box + r("it"))), p(capital + r("IT")));
}

TEST(Docx, MembersAreKnownByTheirTypes) {
  const auto part = [](const std::string& text) {
    return "<w:x xmlns:w=\"" + word_space + "\">" + p(r(text)) + "</w:x>";
  };
  const std::string file = ooxml_file({{"a.xml", "wordprocessingml.document.main+xml", part("text")},
                                       {"b.xml", "wordprocessingml.header+xml", part("header")},
                                       {"c.xml", "wordprocessingml.footnotes+xml", part("note")},
                                       {"d.xml", "wordprocessingml.comments+xml", part("comment")},
                                       {"e.xml", "wordprocessingml.styles+xml", part("style")}});
  EXPECT_EQ(texts(file, "x.docx"), (std::vector<std::string>{"text", "header", "note", "comment"}));
  EXPECT_EQ(texts(file, "x.DOCM").size(), 4u);
  const std::string strict = ooxml_file({{"a.xml", "wordprocessingml.document.main+xml",
                                          "<x xmlns=\"http://purl.oclc.org/ooxml/wordprocessingml/main\"><p><r><t>a "
                                          "dog</t></r></p></x>"}});
  EXPECT_EQ(member_of(capitals_of(*read_document(strict, {"x.docx"})), "a.xml"),
            "<x xmlns=\"http://purl.oclc.org/ooxml/wordprocessingml/main\"><p><r><t>A DOG</t></r></p></x>");
}

// A random paragraph: runs of some properties, links, bookmarks, breaks and notes, properly nested.
std::string random_inlines(RandomSequence& random, int depth) {
  std::string all;
  for (std::uint64_t n = random.below(6); n > 0; --n) {
    const std::string id = std::to_string(random.below(4));
    switch (random.below(depth > 0 ? 11 : 8)) {
      case 0:
        all += "<w:r><w:t>one</w:t><w:br/><w:t xml:space=\"preserve\"> two. </w:t></w:r>";
        break;
      case 1:
        all += "<w:r><w:footnoteReference w:id=\"" + id + "\"/></w:r>";
        break;
      case 2:
        all += "<w:bookmarkStart w:id=\"" + id + "\"/>";
        break;
      case 3:
        all += "<w:bookmarkEnd w:id=\"" + id + "\"/>";
        break;
      case 4:
        all += "<w:r><w:rPr><w:b/></w:rPr><w:t>x</w:t><w:tab/><w:drawing/></w:r>";
        break;
      case 5:
        all += "<w:r><w:fldChar w:fldCharType=\"" + std::string(random.below(2) == 0 ? "begin" : "end") + "\"/></w:r>";
        break;
      case 8:
        all += "<w:hyperlink>" + random_inlines(random, depth - 1) + "</w:hyperlink>";
        break;
      case 9:
        all += "<w:sdt><w:sdtPr/><w:sdtContent>" + random_inlines(random, depth - 1) + "</w:sdtContent></w:sdt>";
        break;
      case 10:
        all += "<w:r><w:pict>" + p(random_inlines(random, depth - 1)) + "</w:pict></w:r>";
        break;
      default:
        all +=
            r(random.below(3) == 0 ? " " : "a dog runs. ", random.below(2) == 0 ? "" : "<w:u w:val=\"" + id + "\"/>");
    }
  }
  return all;
}

// How often each element occurs, except for runs and their text, which are joined and divided.
std::map<std::string, int> elements_of(const std::string& xml) {
  const pugi::xml_document file = parse_xml(xml, "x.xml");
  std::map<std::string, int> counts;
  struct Walker final : pugi::xml_tree_walker {
    std::map<std::string, int>* counts = nullptr;
    bool for_each(pugi::xml_node& node) override {
      const std::string name = node.name();
      const std::string parent = node.parent().name();
      EXPECT_FALSE(name == "w:r" && (parent == "w:r" || parent == "w:t")) << parent;
      EXPECT_FALSE(name == "w:t" && parent != "w:r") << parent;
      if (!name.empty() && name != "w:r" && name != "w:t" && name != "w:rPr" && name != "w:b" && name != "w:u")
        ++(*counts)[name + node.attribute("w:id").value() + node.attribute("w:fldCharType").value()];
      return true;
    }
  } walker;
  walker.counts = &counts;
  pugi::xml_document& tree = const_cast<pugi::xml_document&>(file);
  tree.traverse(walker);
  return counts;
}

// Paragraphs that would take minutes in quadratic time.
TEST(Docx, ManyPartsTakeLinearTime) {
  using Part = std::function<std::string(std::size_t)>;
  const auto many = [](std::size_t n, const Part& part) {
    std::string all;
    for (std::size_t i = 0; i < n; ++i) all += part(i);
    return all;
  };
  const auto id = [](std::size_t i) { return " w:id=\"" + std::to_string(i) + "\"/>"; };
  const Part begins = [](std::size_t) { return "<w:r><w:fldChar w:fldCharType=\"begin\"/></w:r>"; };
  const Part ends = [](std::size_t) { return "<w:r><w:fldChar w:fldCharType=\"end\"/></w:r>"; };
  const Part starts = [&](std::size_t i) { return "<w:bookmarkStart" + id(i); };
  const Part stops = [&](std::size_t i) { return "<w:bookmarkEnd" + id(i); };
  const std::vector<Part> bodies{
      [&](std::size_t n) { return many(n, starts) + many(n, stops); },
      [&](std::size_t n) { return many(n, starts) + "<w:hyperlink>" + many(n, stops) + "</w:hyperlink>"; },
      [&](std::size_t n) {
        return many(n, [](std::size_t) { return "<w:fldSimple>" + r("a 1") + "</w:fldSimple>" + r(" b "); });
      },
      [&](std::size_t n) { return many(n, begins) + r("a") + many(n, ends); },
      [&](std::size_t n) { return many(n, begins) + "<w:hyperlink>" + many(n, ends) + "</w:hyperlink>"; },
      [&](std::size_t n) { return many(n, [&](std::size_t i) { return r("a", "<w:u" + id(i)); }); },
      [&](std::size_t n) { return many(n, [](std::size_t) { return "<w:r><w:x/><w:tab/></w:r>"; }); },
      [&](std::size_t n) {
        return many(n, [](std::size_t i) {
          return "<w:hyperlink xmlns:a" + std::to_string(i) + "=\"b\">" + r("a") + "</w:hyperlink>";
        });
      }};
  for (std::size_t b = 0; b < bodies.size(); ++b) {
    SCOPED_TRACE(b);
    const auto file = [&](std::size_t n) {
      const std::string xml = word_xml(p(r("begin") + bodies[b](n) + r("end")));
      return ooxml_file({{"word/document.xml", "wordprocessingml.document.main+xml", xml, false}});
    };
    test::expect_linear_time(150, file, [](const std::string& bytes) {
      const auto document = read_document(bytes, {"x.docx"});
      EXPECT_EQ(document->write(document->segments()), bytes);
      const std::string xml = member_of(bytes, "word/document.xml");
      const std::string written = member_of(capitals_of(*document), "word/document.xml");
      EXPECT_NE(written, xml);
      EXPECT_EQ(elements_of(written), elements_of(xml));
    });
  }
}

// The deepest end of a field that has no beginning; and whether all ranges begin before they end that did.
int least_depth(const std::string& xml) {
  int depth = 0, least = 0;
  for (std::size_t at = xml.find("fldCharType=\""); at != std::string::npos; at = xml.find("fldCharType=\"", at + 1)) {
    depth += xml.compare(at + 13, 5, "begin") == 0 ? 1 : -1;
    least = std::min(least, depth);
  }
  return least;
}
void expect_ordered_ranges(const std::string& before, const std::string& after) {
  for (const char id : {'0', '1', '2', '3'}) {
    const std::string begin = std::string("<w:bookmarkStart w:id=\"") + id + "\"/>",
                      end = std::string("<w:bookmarkEnd w:id=\"") + id + "\"/>";
    if (before.find(begin) != before.rfind(begin) || before.find(end) != before.rfind(end)) continue;
    if (before.find(begin) < before.find(end)) {
      EXPECT_LE(after.find(begin), after.find(end)) << before << "\n" << after;
    }
  }
}

TEST(Docx, NothingIsLostWhateverTheNesting) {
  test::rounds(3000, [](RandomSequence& random) {
    const std::string source = docx_file(p(random_inlines(random, 3)));
    const auto document = read_document(source, {"x.docx"});
    ASSERT_EQ(document->write(document->segments()), source);
    // Words in any order, with or without links.
    const DocumentSentences sentences(*document, {});
    const std::string written = sentences.write("de", [&](std::size_t s) {
      const std::string text = sentences.text(s);
      Translated t{random.below(4) == 0 ? "z" : "ein " + text + " hund", {}};
      for (std::uint64_t n = random.below(6); n > 0 && !text.empty(); --n) {
        const std::size_t from = random.below(text.size()), to = random.below(t.text.size());
        t.links.push_back({{from, from + 1}, {to, to + 1}, 1});
      }
      return t;
    });
    const std::string before = member_of(source, "word/document.xml"), after = member_of(written, "word/document.xml");
    ASSERT_EQ(elements_of(after), elements_of(before)) << before << "\n" << after;
    EXPECT_EQ(least_depth(after), least_depth(before)) << before << "\n" << after;
    expect_ordered_ranges(before, after);
    read_document(written, {"x.docx"});
  });
}

}  // namespace
}  // namespace tril::document::docx_test
