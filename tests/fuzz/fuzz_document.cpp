// libFuzzer: any bytes as a document of each format. An Error is fine; what is accepted is written as it was, and can be translated
// to any text, with each mark once.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>

#include "base/error.h"
#include "document/formats/formats.h"
#include "document/segments/document_sentences.h"
#include "must.h"
#include "support/office_file.h"

namespace {

// For each mark that is an end of a range: the other end.
std::map<std::size_t, std::size_t> ends_of_ranges(const tril::document::Segment& segment) {
  std::map<std::size_t, std::size_t> ends;
  for (std::size_t m = 0; m < segment.marks.size(); ++m) {
    if (segment.marks[m].begin < 0) continue;
    const auto begin = static_cast<std::size_t>(segment.marks[m].begin);
    ends[m] = begin, ends[begin] = m;
  }
  return ends;
}

// The parts of a segment's rendering that are marks: each once. The ends of a range that changed places have changed their bytes.
void check_marks(const tril::document::Segment& source, const tril::document::Segment& placed) {
  tril::fuzz::must(source.marks.size() == placed.marks.size(), "no mark is lost");
  const std::map<std::size_t, std::size_t> ends = ends_of_ranges(source);
  for (std::size_t m = 0; m < source.marks.size(); ++m) {
    const tril::document::Mark &a = source.marks[m], &b = placed.marks[m];
    const auto other = ends.find(m);
    const bool is_exchanged =
        other != ends.end() && b.open == source.marks[other->second].open && placed.marks[other->second].open == a.open;
    tril::fuzz::must((a.open == b.open || is_exchanged) && a.close == b.close && a.parent == b.parent,
                     "a mark stays itself");
    tril::fuzz::must(b.at.begin <= b.at.end && b.at.end <= placed.text.size(), "a mark is within the text");
    if (b.parent >= 0)
      tril::fuzz::must(placed.marks[static_cast<std::size_t>(b.parent)].at.contains(b.at),
                       "a mark is within its parent");
  }
}

// A translation stands beside its source, so that text that equals its source is written, too; or plural forms are added.
bool is_bilingual(std::string_view format) {
  for (const std::string_view f :
       {"gettext", "XLIFF", "TMX", "Qt Linguist", "Apple string catalogue", "Apple plural forms", "Android strings"})
    if (f == format) return true;
  return false;
}

// The first inputs: small documents, each of the format with this number.
struct Sample {
  std::string_view extension, bytes;
};
constexpr auto samples = std::to_array<Sample>(
    {{"xlf",
      "<xliff version='1.2'><file source-language='en'><body><trans-unit><source>a <g id='1'>dog</g><x id='2'/> &amp; "
      "<bpt id='3'/>cat<ept id='3'/></source><target state='new'/></trans-unit></body></file></xliff>"},
     {"xlf",
      "<xliff version='2.0' srcLang='en' trgLang='de'><file><unit><segment><source>a <pc id='1'>dog</pc><ph "
      "id='2'/></source></segment></unit></file></xliff>"},
     {"tmx",
      "<tmx version='1.4'><header srclang='en'/><body><tu><tuv xml:lang='en'><seg>a <hi>dog</hi><ph "
      "x='1'>b</ph></seg></tuv></tu></body></tmx>"},
     {"yaml",
      "en:\n  a: dog # x\n  b: 'it''s'\n  c: |\n    one\n    two\n  d: [\"x\", {k: y z}]\n  e: >-\n    x\n    y\n"},
     {"csv", "a\n\"b \"\"c\"\"\"\n"},
     {"tsv", "\"a\" dog\n\"b \"\"c\"\"\"\n"},
     {"xml",
      "<resources><string name='a'>it\\'s <b>\\u00e4 %1$s</b>\\n \"x  y\" <xliff:g>z</xliff:g></string><plurals><item "
      "quantity='other'>%d <![CDATA[<i>dogs</i>]]></item></plurals></resources>"},
     {"strings", "/* c */ \"a\" = \"b \\\"c\\\" \\U00e4 %@\";\nd.e = f; // g\n\"h\";"},
     {"stringsdict",
      "<plist><dict><key>a</key><dict><key>NSStringLocalizedFormatKey</key><string>%#@b@ "
      "dog</string><key>b</key><dict><key>NSStringFormatSpecTypeKey</key><string>NSStringPluralRuleType</"
      "string><key>other</key>"
      "<string>%d &lt;b>dogs&lt;/b></string></dict></dict></dict></plist>"},
     {"xcstrings",
      "{\"sourceLanguage\":\"en\",\"strings\":{\"a "
      "dog\":{},\"k\":{\"localizations\":{\"en\":{\"variations\":{\"plural\":"
      "{\"other\":{\"stringUnit\":{\"value\":\"%lld dogs\"}}}},\"substitutions\":{\"a\":{\"argNum\":1}}}}}}}"},
     {"ts",
      "<TS language='de'><message numerus='yes'><source>a &amp;dog %n<byte value='x1'/></source><translation "
      "type='unfinished'><numerusform/></translation></message></TS>"},
     {"resx", "<root><data name='a'><value>a {0} &lt;b&gt;c&lt;/b&gt; &amp;d</value></data></root>"},
     {"tex",
      "\\section{A}\n\\emph{a {\\bf b}} $x$ \\cite{k} \\'e % c\n\\begin{align}x\\end{align}\\item[l] d\\footnote{e}"},
     {"docx",
      "<w:document xmlns:w='http://schemas.openxmlformats.org/wordprocessingml/2006/main'><w:p><w:pPr/><w:r><w:t>a "
      "</w:t></w:r><w:hyperlink><w:r><w:rPr><w:b/></w:rPr><w:t>dog</w:t><w:br/><w:tab/></w:r></"
      "w:hyperlink><w:bookmarkStart "
      "w:id='1'/><w:r><w:fldChar w:fldCharType='begin'/></w:r><w:r><w:instrText>REF</w:instrText></w:r><w:r><w:fldChar "
      "w:fldCharType='separate'/></w:r><w:r><w:t>x</w:t></w:r><w:r><w:fldChar "
      "w:fldCharType='end'/></w:r><w:bookmarkEnd "
      "w:id='1'/><w:r><w:pict><w:p><w:r><w:t>cat</w:t></w:r></w:p></w:pict></w:r></w:p></w:document>"},
     {"pptx",
      "<p:sld xmlns:a='http://schemas.openxmlformats.org/drawingml/2006/main'><a:p><a:pPr/><a:r><a:rPr b='1'/><a:t>a "
      "</a:t></a:r><a:fld><a:t>5</a:t></a:fld><a:br/><a:r><a:t>dog</a:t></a:r><a:endParaRPr/></a:p></p:sld>"},
     {"xlsx",
      "<sst xmlns='http://schemas.openxmlformats.org/spreadsheetml/2006/main'><si><t>a "
      "dog\nb</t></si><si><r><rPr><b/></rPr><t> "
      "a</t></r><r><t>cat</t></r><rPh><t>x</t></rPh></si></sst>"},
     {"odt",
      "<o:x xmlns:o='urn:oasis:names:tc:opendocument:xmlns:office:1.0' "
      "xmlns:text='urn:oasis:names:tc:opendocument:xmlns:text:1.0'><o:automatic-styles><o:style o:name='T' "
      "o:family='text'><o:text-properties o:size='9'/></o:style></o:automatic-styles><text:p>a <text:span "
      "text:style-name='T'>dog</text:span> <text:span text:style-name='U'>runs<text:tab/></text:span><text:s "
      "text:c='2'/>b<text:note><text:p>cat</text:p></text:note><text:tab/><text:line-break/>c<text:bookmark-start "
      "text:name='b'/>d<text:bookmark-end text:name='b'/></text:p></o:x>"},
     {"epub", "<html><p>a <b>dog</b> &amp; <img/></p></html>"}});

// A package in which the input is the member that is read. An input that begins like an archive is one.
std::string packed_as(std::string_view format, const std::string& input) {
  using namespace tril::testing;
  if (input.starts_with("PK")) return input;
  if (format == "DOCX") return ooxml_file({{"a.xml", "wordprocessingml.document.main+xml", input}});
  if (format == "PPTX") return ooxml_file({{"a.xml", "presentationml.slide+xml", input}});
  if (format == "XLSX") return ooxml_file({{"a.xml", "spreadsheetml.sharedStrings+xml", input}});
  if (format == "EPUB") return epub_file(input);
  return raw_zip({{"content.xml", input}, {"META-INF/manifest.xml", "<manifest/>"}});
}

}  // namespace

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t most);

// Mutates the input, or begins again with a sample.
extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t most, unsigned seed) {
  const Sample& sample = samples[seed / 64 % samples.size()];
  if (seed % 64 != 0 || sample.bytes.size() + 2 > most) return LLVMFuzzerMutate(data, size, most);
  const auto formats = tril::document::document_formats();
  std::uint8_t number = 0;
  for (std::size_t f = 0; f < formats.size(); ++f)
    if (formats[f].extensions[0] == sample.extension) number = static_cast<std::uint8_t>(f);
  data[0] = number, data[1] = static_cast<std::uint8_t>(seed / 7);
  std::copy(sample.bytes.begin(), sample.bytes.end(), data + 2);
  return LLVMFuzzerMutate(data, sample.bytes.size() + 2, most);
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 2) return 0;
  const auto formats = tril::document::document_formats();
  const tril::document::DocumentFormat& format = formats[data[0] % formats.size()];
  const std::string name = "x." + std::string(format.extensions[0]);
  const std::size_t seed = data[1];
  std::string bytes(reinterpret_cast<const char*>(data + 2), size - 2);
  const bool is_packed = format.encoding == tril::document::Encoding::packed;
  if (is_packed) bytes = packed_as(format.name, bytes);
  tril::document::DocumentOptions options{name};
  const bool names_languages = seed % 2 == 0;  // a file that states its language then states the other one
  if (names_languages) options.source_language = "en", options.target_language = "de";
  try {
    const auto document = tril::document::read_document(bytes, options);
    if (!names_languages && !is_bilingual(format.name))
      tril::fuzz::must(document->write(document->segments()) == bytes, "an untranslated document stays as it is");
    // The translation: words of the source in another order, with some missing.
    std::vector<tril::document::Segment> placed;
    for (const tril::document::Segment& s : document->segments()) {
      const auto sentences = tril::document::sentences_of(s, {});
      std::vector<tril::document::Translated> list;
      for (const tril::document::Range& at : sentences) {
        const std::string text = tril::document::sentence_text(s, at);
        const std::size_t cut = text.empty() ? 0 : seed % text.size();
        std::size_t begin = cut;
        while (begin < text.size() && (static_cast<unsigned char>(text[begin]) & 0xc0) == 0x80) ++begin;
        list.push_back({seed % 3 == 0 ? text.substr(begin) : text.substr(begin) + " " + text.substr(0, begin), {}});
      }
      placed.push_back(tril::document::joined(s, sentences, list, "en"));
      check_marks(s, placed.back());
    }
    const std::string written = document->write(placed);
    if (is_packed)
      tril::fuzz::must_read("the translation", [&] { return tril::document::read_document(written, options); });
  } catch (const tril::Error&) {
  }
  return 0;
}
