#include "serve/api/document_reading.h"

#include <algorithm>

#include "base/error.h"
#include "document/formats/formats.h"
#include "serve/http/http_error.h"
#include "unicode/characters.h"

namespace tril::serve {
namespace {

constexpr std::size_t most_sample_bytes = 20'000;  // of a text whose language is detected
constexpr std::size_t most_sentences = 200'000;    // of a document: each takes memory beside its text
constexpr std::int64_t most_lines = 1'000'000;     // of a file, so that reading it takes no more than some hundred MB

// A language in the name of a file.
std::string file_language(const ModelChoice& choice, const TranslateRequest& r) {
  std::string code = public_code(document_target(choice, r));
  const auto is_odd = [](unsigned char c) { return c >= 0x80 || !(std::isalnum(c) || c == '-' || c == '_'); };
  std::replace_if(code.begin(), code.end(), is_odd, '-');
  return code.empty() ? "translated" : code;
}

}  // namespace

std::string sample_of_document(const document::Document& document) {
  std::string sample;
  for (const document::Segment& segment : document.segments()) {
    const std::size_t room = most_sample_bytes - sample.size();
    if (segment.text.size() > room) return sample + segment.text.substr(0, last_character(segment.text, room + 1));
    if (segment.text.size() == room) return sample + segment.text;
    sample += segment.text + "\n";
  }
  return sample;
}

void check_document_size(std::size_t sentences) {
  if (sentences > most_sentences)
    throw HttpError(413, fmt::format("the file has {} sentences, but at most {} are allowed; split the file", sentences,
                                     most_sentences))
        .of_field("file");
}

std::unique_ptr<document::Document> read_document_file(std::string bytes, const document::DocumentOptions& options) {
  if (const auto lines = std::count(bytes.begin(), bytes.end(), '\n'); lines > most_lines)
    throw HttpError(413,
                    fmt::format("the file has {} lines, but at most {} are allowed; split the file", lines, most_lines))
        .of_field("file");
  std::unique_ptr<document::Document> read;
  try {
    read = document::read_document(std::move(bytes), options);
  } catch (const Error& error) {  // the file is at fault, not the server
    throw HttpError(400, error.what()).of_field("file");
  }
  check_document_size(read->segments().size());
  return read;
}

std::string document_source(const ModelChoice& choice, const TranslateRequest& r) {
  const std::string& by_model = choice.before.empty() ? choice.source : choice.before.front().source;
  return !by_model.empty() ? by_model : !choice.assumed.empty() ? choice.assumed : r.source == "auto" ? "" : r.source;
}

std::string document_target(const ModelChoice& choice, const TranslateRequest& r) {
  return choice.target.empty() ? r.target : choice.target;
}

std::string translated_name(const std::string& name, const ModelChoice& choice, const TranslateRequest& r) {
  return document::translated_path(name, file_language(choice, r));
}

}  // namespace tril::serve
