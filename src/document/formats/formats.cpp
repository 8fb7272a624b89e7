#include "document/formats/formats.h"

#include <array>

#include "base/error.h"
#include "base/printable.h"
#include "document/markup/html.h"
#include "document/markup/latex.h"
#include "document/markup/markdown.h"
#include "document/markup/plain_text.h"
#include "document/markup/subtitles.h"
#include "document/office/epub.h"
#include "document/office/office.h"
#include "document/strings/android_strings.h"
#include "document/strings/apple_property_list.h"
#include "document/strings/apple_strings.h"
#include "document/strings/csv.h"
#include "document/strings/dotnet_resources.h"
#include "document/strings/gettext.h"
#include "document/strings/json_strings.h"
#include "document/strings/properties.h"
#include "document/strings/qt_linguist.h"
#include "document/strings/string_catalog.h"
#include "document/strings/yaml_strings.h"
#include "document/xml/tmx.h"
#include "document/xml/xliff.h"
#include "unicode/letter_case.h"

namespace tril::document {
namespace {

constexpr std::array<std::string_view, 2> text_names{"txt", "text"};
constexpr std::array<std::string_view, 3> html_names{"html", "htm", "xhtml"};
constexpr std::array<std::string_view, 2> markdown_names{"md", "markdown"};
constexpr std::array<std::string_view, 1> srt_names{"srt"};
constexpr std::array<std::string_view, 1> vtt_names{"vtt"};
constexpr std::array<std::string_view, 2> gettext_names{"po", "pot"};
constexpr std::array<std::string_view, 2> json_names{"json", "arb"};
constexpr std::array<std::string_view, 1> properties_names{"properties"};
constexpr std::array<std::string_view, 3> xliff_names{"xlf", "xliff", "sdlxliff"};
constexpr std::array<std::string_view, 1> tmx_names{"tmx"};
constexpr std::array<std::string_view, 4> docx_names{"docx", "docm", "dotx", "dotm"};
constexpr std::array<std::string_view, 4> pptx_names{"pptx", "pptm", "ppsx", "ppsm"};
constexpr std::array<std::string_view, 2> xlsx_names{"xlsx", "xlsm"};
constexpr std::array<std::string_view, 4> opendocument_names{"odt", "ott", "odp", "ods"};
constexpr std::array<std::string_view, 1> epub_names{"epub"};
constexpr std::array<std::string_view, 2> yaml_names{"yaml", "yml"};
constexpr std::array<std::string_view, 1> csv_names{"csv"};
constexpr std::array<std::string_view, 2> tsv_names{"tsv", "tab"};
constexpr std::array<std::string_view, 2> latex_names{"tex", "latex"};
constexpr std::array<std::string_view, 1> android_names{"xml"};
constexpr std::array<std::string_view, 1> strings_names{"strings"};
constexpr std::array<std::string_view, 1> stringsdict_names{"stringsdict"};
constexpr std::array<std::string_view, 1> catalog_names{"xcstrings"};
constexpr std::array<std::string_view, 1> qt_names{"ts"};
constexpr std::array<std::string_view, 2> resource_names{"resx", "resw"};

std::unique_ptr<Document> read_tsv(std::string bytes, const DocumentOptions& options) {
  DocumentOptions o = options;
  if (o.separator.empty()) o.separator = "\t";
  return read_csv(std::move(bytes), o);
}

// The end of a name after its last dot, in small letters.
std::string extension_of(std::string_view path) {
  const std::string_view name = path.substr(path.find_last_of('/') + 1);
  const std::size_t dot = name.find_last_of('.');
  return dot == std::string_view::npos || dot == 0 ? "" : lower_case(name.substr(dot + 1));
}

bool is_old_office(std::string_view extension) {
  return extension == "doc" || extension == "xls" || extension == "ppt";
}

const DocumentFormat* find_format(std::string_view path) {
  const std::string extension = extension_of(path);
  for (const DocumentFormat& f : document_formats())
    for (const std::string_view e : f.extensions)
      if (e == extension) return &f;
  return nullptr;
}

}  // namespace

std::span<const DocumentFormat> document_formats() {
  static constexpr std::array<DocumentFormat, 25> formats{
      {{"plain text", text_names,
        [](std::string bytes, const DocumentOptions&) { return read_plain_text(std::move(bytes)); }},
       {"HTML", html_names, [](std::string bytes, const DocumentOptions&) { return read_html(std::move(bytes)); },
        Encoding::utf8, StatesEncoding::html},
       {"Markdown", markdown_names,
        [](std::string bytes, const DocumentOptions&) { return read_markdown(std::move(bytes)); }},
       {"SubRip", srt_names,
        [](std::string bytes, const DocumentOptions& o) { return read_srt(std::move(bytes), o.where); }},
       {"WebVTT", vtt_names,
        [](std::string bytes, const DocumentOptions& o) { return read_vtt(std::move(bytes), o.where); }},
       {"gettext", gettext_names,
        [](std::string bytes, const DocumentOptions& o) { return read_gettext(std::move(bytes), o.where); },
        Encoding::utf8, StatesEncoding::gettext},
       {"JSON", json_names,
        [](std::string bytes, const DocumentOptions& o) { return read_json_strings(std::move(bytes), o.where); }},
       {"Java properties", properties_names,
        [](std::string bytes, const DocumentOptions&) { return read_properties(std::move(bytes)); }},
       {"Android strings", android_names, read_android_strings, Encoding::utf8, StatesEncoding::xml},
       {"Apple strings", strings_names, read_apple_strings, Encoding::own},
       {"Apple plural forms", stringsdict_names, read_apple_property_list, Encoding::utf8, StatesEncoding::xml},
       {"Apple string catalogue", catalog_names, read_string_catalog},
       {"Qt Linguist", qt_names, read_qt_linguist, Encoding::own},
       {".NET resources", resource_names, read_dotnet_resources, Encoding::utf8, StatesEncoding::xml},
       {"XLIFF", xliff_names, read_xliff, Encoding::utf8, StatesEncoding::xml},
       {"TMX", tmx_names, read_tmx, Encoding::utf8, StatesEncoding::xml},
       {"YAML", yaml_names, read_yaml_strings},
       {"CSV", csv_names, read_csv},
       {"TSV", tsv_names, read_tsv},
       {"LaTeX", latex_names, [](std::string bytes, const DocumentOptions&) { return read_latex(std::move(bytes)); },
        Encoding::utf8, StatesEncoding::latex},
       {"DOCX", docx_names, read_office_open_xml, Encoding::packed},
       {"PPTX", pptx_names, read_office_open_xml, Encoding::packed},
       {"XLSX", xlsx_names, read_office_open_xml, Encoding::packed},
       {"OpenDocument", opendocument_names, read_open_document, Encoding::packed},
       {"EPUB", epub_names, read_epub, Encoding::packed}}};
  return formats;
}

std::string known_extensions() {
  std::string all;
  for (const DocumentFormat& f : document_formats())
    for (const std::string_view e : f.extensions) all += (all.empty() ? "" : ", ") + std::string(e);
  return all;
}

const DocumentFormat& format_of(std::string_view path) {
  if (const DocumentFormat* const format = find_format(path)) return *format;
  if (const std::string extension = extension_of(path); is_old_office(extension))
    fail_usage(printable(path, 400), "is a document of Office 97 to 2003, which tril does not read",
               fmt::format("open it with its program or LibreOffice, and save it as .{}x", extension));
  fail_usage(printable(path, 400), "its name does not end like a document that tril reads",
             "expected one of: " + known_extensions());
}

bool is_known(std::string_view path) {
  return find_format(path) != nullptr;
}

std::unique_ptr<Document> read_document(std::string bytes, const DocumentOptions& options) {
  const DocumentFormat& format = format_of(options.where);
  if (format.encoding == Encoding::utf8) {
    check_encoding(bytes, options.where);
    bytes = with_stated_utf8(std::move(bytes), format.states, options.where);
  }
  return format.read(std::move(bytes), options);
}

std::string translated_path(std::string_view path, std::string_view language) {
  const std::size_t dot = path.find_last_of('.');
  return std::string(path.substr(0, dot)) + "." + std::string(language) + std::string(path.substr(dot));
}

}  // namespace tril::document
