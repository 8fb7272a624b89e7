#include "serve/api/split_text.h"

#include "decode/texts/split_translator.h"
#include "document/markup/html.h"
#include "document/markup/plain_text.h"
#include "document/xml/xml_markup.h"
#include "serve/api/service.h"

namespace tril::serve {
namespace {

// The segments of a text, by the request's format and how it is split.
std::unique_ptr<document::Document> read_text(const TranslateRequest& r, const std::string& text) {
  using document::PlainSegments;
  if (r.format == "html") return document::read_html(text);
  if (r.format == "xml") return document::read_xml_markup(text, r.xml, "q");
  return document::read_plain_text(text, r.split == "none"         ? PlainSegments::whole
                                         : r.split == "nonewlines" ? PlainSegments::prose
                                                                   : PlainSegments::lines);
}

}  // namespace

SplitTexts split_texts(const TranslateRequest& r, const std::string& language, const SentencesFor& reader) {
  // Line ends mean nothing in HTML and XML.
  const Split split = r.split == "sentences" || r.split == "nonewlines" ? Split::sentences
                      : r.split == "none" || r.format != "text"         ? Split::none
                                                                        : Split::lines;
  const search::SplitOptions how{.split = split, .source_language = language};
  const SegmentOptions options = search::segments_that_fit(how, reader.tag, reader.model.translation(), reader.options);
  auto texts = std::make_shared<std::vector<SplitText>>();
  for (const std::string& q : r.q) texts->emplace_back(read_text(r, q), options);
  return texts;
}

void warn_if_truncated(Warnings& warnings, const search::TextToTranslate& sentence, const ServedModel& model) {
  if (sentence.truncated)
    warnings.tell(
        fmt::format("model {} has {} positions, and a sentence that it reads is longer; its end was not translated",
                    model.name(), model.model().max_positions()));
}

std::vector<std::string> plain_texts(const TranslateRequest& r) {
  if (r.format == "text") return r.q;
  std::vector<std::string> plain;
  for (const std::string& q : r.q) {
    const std::unique_ptr<document::Document> read = read_text(r, q);
    const document::DocumentSentences parts(*read, {.split = Split::none});
    plain.emplace_back();
    for (std::size_t k = 0; k < parts.size(); ++k) plain.back() += parts.text(k) + "\n";
  }
  return plain;
}

}  // namespace tril::serve
