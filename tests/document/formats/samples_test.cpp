// Documents that other programs wrote (tests/office/samples): their texts, and that a translation changes nothing else.
#include <gtest/gtest.h>

#include "document/formats/formats.h"
#include "support/document_text.h"
#include "support/file_text.h"
#include "support/office_file.h"
#include "support/paths.h"

namespace tril::document::samples_test {
namespace {

struct SampleFile {
  std::string name;
  std::vector<std::string> texts;
  std::string member;
  std::vector<std::string> written;  ///< in a translation into capital letters
};

const std::vector<SampleFile> sample_files{
    {"letter.docx",
     {"A short letter", "The dog runs in the deep snow. See this page.  Two men play.", "The snow of yesterday."},
     "word/document.xml",
     {">DEEP</w:t></w:r>", ">THIS PAGE</w:t></w:r></w:hyperlink>", "  TWO MEN PLAY.</w:t></w:r>"}},
    {"notes.docx",
     {"A title", "A title", "A short letter", "The dog runs in the deep snow. Two men play football now.", "one point",
      "second point", "Name", "Price", "A red ball", "The snow of yesterday."},
     "word/footnotes.xml",
     {"THE SNOW OF YESTERDAY.</w:t></w:r>"}},
    {"slides.pptx",
     {"generated using python-pptx", "The dog and the snow", "A dog runs.", "Two men play."},
     "ppt/slides/slide1.xml",
     {"<a:r><a:rPr b=\"1\"/><a:t>MEN</a:t></a:r>"}},
    {"prices.xlsx",
     {"Name", "Price", "A red ball", "two", "lines", "No & yes", "This ball is sold."},
     "xl/worksheets/sheet1.xml",
     {"<f>A2</f>"}},
    {"letter.odt",
     {"A short letter", "The dog runs in the deep snow. See this page.\nTwo men play.", "The snow of yesterday."},
     "content.xml",
     {"<text:span text:style-name=\"Bold\">DEEP</text:span> SNOW<text:note ", ".<text:s text:c=\"2\"/>TWO MEN PLAY."}},
    {"book.epub",
     {"The dog in the snow", "First chapter", "First chapter", "The dog runs in the deep snow. Two men play.",
      "The dog in the snow", "First chapter", "The dog in the snow", "The dog in the snow", "First chapter"},
     "EPUB/first.xhtml",
     {"THE DOG RUNS IN THE <b>DEEP</b> SNOW. TWO MEN PLAY."}}};

TEST(Samples, OtherProgramsDocumentsAreTranslated) {
  for (const SampleFile& sample : sample_files) {
    SCOPED_TRACE(sample.name);
    const std::string bytes = file_text(test::test_dir() + "/office/samples/" + sample.name);
    const auto document = read_document(bytes, {sample.name});
    EXPECT_EQ(texts_of(*document), sample.texts);
    EXPECT_EQ(document->write(document->segments()), bytes);
    const std::string written = capitals_of(*document);
    for (const std::string& part : sample.written)
      EXPECT_NE(testing::member_of(written, sample.member).find(part), std::string::npos)
          << part << "\n"
          << testing::member_of(written, sample.member);
    const ZipArchive before("x.zip", std::as_bytes(std::span(bytes.data(), bytes.size())), nullptr);
    const ZipArchive after("x.zip", std::as_bytes(std::span(written.data(), written.size())), nullptr);
    ASSERT_EQ(before.members().size(), after.members().size());
    for (const ZipMember& m : before.members()) {
      const ZipMember* const other = after.find(m.name);
      ASSERT_NE(other, nullptr) << m.name;
      EXPECT_EQ(other->header.time, m.header.time);
    }
  }
}

}  // namespace
}  // namespace tril::document::samples_test
