// A translation is written in UTF-8, and says so: a file that states another encoding is changed, or refused.
#include "document/segments/stated_encoding.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "document/formats/formats.h"
#include "support/contains.h"
#include "support/error_of.h"

namespace tril::document::stated_encoding_test {
namespace {

std::unique_ptr<Document> read(const std::string& bytes, const std::string& name) {
  return read_document(bytes, {.where = name, .target_language = "de"});
}
std::string refusal(const std::string& bytes, const std::string& name) {
  return error_of([&] { read(bytes, name); });
}

// A file with this statement and this text, and one with UTF-8 in its place.
struct Stating {
  std::string name, before, stated, after;

  std::string file(const std::string& encoding, const std::string& text) const {
    std::string rest = after;
    rest.replace(rest.find("TEXT"), 4, text);
    return before + encoding + rest;
  }
};

const std::vector<Stating> files{
    {"x.xml", "<?xml version='1.0' encoding='", "iso-8859-1",
     "'?><resources><string name='a'>TEXT</string></resources>"},
    {"x.resx", "<?xml version=\"1.0\"\n encoding = \"", "us-ascii",
     "\"?>\n<root><data name='a'><value>TEXT</value></data></root>"},
    {"x.ts", "<?xml version='1.0' encoding='", "windows-1252",
     "'?><TS language='de'><message><source>TEXT</source><translation>x</translation></message></TS>"},
    {"x.html", "<head><meta name=x><META charset=", "Shift_JIS", "></head><p>TEXT</p>"},
    {"x.htm", "<meta http-equiv='Content-Type' content='text/html; charset=", "iso-8859-15", "'><p>TEXT</p>"},
    {"x.xhtml", "<?xml version='1.0' encoding='", "latin1", "'?><p>TEXT</p>"},
    {"x.po", "msgid \"\"\nmsgstr \"\"\n\"Content-Type: text/plain; charset=", "ISO-8859-1",
     "\\n\"\n\nmsgid \"TEXT\"\nmsgstr \"x\"\n"},
    {"x.tex", "% \\usepackage[x]{inputenc}\n\\usepackage[", "latin1",
     "]{inputenc}\n\\begin{document}\nTEXT\n\\end{document}\n"}};

TEST(StatedEncoding, BecomesThatOfTheTranslation) {
  for (const Stating& f : files) {
    const std::string utf8 = f.name == "x.tex" ? "utf8" : "UTF-8";
    const auto written = [&](const std::string& encoding, const std::string& text) {
      const std::string bytes = f.file(encoding, text);
      return read(bytes, f.name)->write(read(bytes, f.name)->segments());
    };
    EXPECT_EQ(written(f.stated, "a dog"), f.file(utf8, "a dog"));
    for (const char* stated : {"utf-8", "UTF-8", "utf8"})
      EXPECT_EQ(written(stated, "caf\u00e9"), f.file(stated, "caf\u00e9")) << f.name;
    EXPECT_TRUE(contains(refusal(f.file(f.stated, "caf\u00e9"), f.name), f.name, f.stated, "expected UTF-8")) << f.name;
  }
}

TEST(StatedEncoding, OfATemplateIsSet) {
  const Stating& po = files[6];
  const std::string bytes = po.file("CHARSET", "caf\u00e9");
  EXPECT_EQ(read(bytes, "x.pot")->write(read(bytes, "x.pot")->segments()), po.file("UTF-8", "caf\u00e9"));
}

TEST(StatedEncoding, AByteOrderMarkIsCertain) {
  EXPECT_EQ(with_stated_utf8("\xef\xbb\xbf<?xml encoding='latin1'?><a>caf\u00e9</a>", StatesEncoding::xml, "x.resx"),
            "\xef\xbb\xbf<?xml encoding='UTF-8'?><a>caf\u00e9</a>");
}

TEST(StatedEncoding, IsReadWhereItStands) {
  for (const char* page : {"<p>charset=latin1 caf\u00e9</p>", "<meta name=charset content='a=b'><p>caf\u00e9</p>",
                           "<p>caf\u00e9 <?xml encoding='latin1'?></p>", "<meta charset=''><p>caf\u00e9</p>"})
    EXPECT_EQ(with_stated_utf8(page, StatesEncoding::html, "x.html"), page);
  EXPECT_EQ(with_stated_utf8("<?xml version='1.0'?><a encoding='latin1'>caf\u00e9</a>", StatesEncoding::xml, "x"),
            "<?xml version='1.0'?><a encoding='latin1'>caf\u00e9</a>");
  EXPECT_EQ(with_stated_utf8("charset=latin1", StatesEncoding::nowhere, "x.md"), "charset=latin1");
}

}  // namespace
}  // namespace tril::document::stated_encoding_test
