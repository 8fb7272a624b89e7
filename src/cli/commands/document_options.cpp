#include "cli/commands/document_options.h"

#include <string_view>

#include "base/error.h"
#include "base/printable.h"
#include "document/formats/formats.h"

namespace tril::cli {
namespace {

// "2, title" as a list.
std::vector<std::string> names_in(const std::string& list) {
  std::vector<std::string> names;
  for (std::size_t begin = 0; begin <= list.size();) {
    const std::size_t end = std::min(list.find(',', begin), list.size());
    const std::size_t first = list.find_first_not_of(' ', begin), last = list.find_last_not_of(' ', end - 1);
    if (first >= end || last == std::string::npos)
      fail_usage("--columns", fmt::format("expected numbers or names between commas, got \"{}\"", printable(list, 80)));
    names.push_back(list.substr(first, last + 1 - first));
    begin = end + 1;
  }
  return names;
}

std::string separator_named(const std::string& name) {
  std::string s = name == "tab" || name == "\\t" ? "\t" : name;
  if (s.size() != 1 || s == "\"" || s == "\n" || s == "\r")
    fail_usage("--separator", fmt::format("expected one character, or tab, got \"{}\"", printable(name, 20)));
  return s;
}

}  // namespace

void add_document_fields(Fields& f, DocumentFields& o) {
  f.add("document", &o.document,
        "document to translate; the extension gives its format: " + document::known_extensions() +
            "; only the text changes (docs/documents.md)")
      .value_name("FILE")
      .positional();
  f.add("watch", &o.watch,
        "translate the documents in this directory, and those that appear or change there, until the command is "
        "stopped; --output names another directory for the translations")
      .value_name("DIR");
  f.add("to", &o.to,
        "target language of a document; the translation is written beside the document: notes.md to notes.de.md")
      .value_name("LANGUAGE");
  f.add("columns", &o.columns,
        "columns of a CSV or TSV document to translate: numbers from 1, for all rows, or names in the first row, which "
        "is then not translated; separated by commas")
      .value_name("LIST");
  f.add("separator", &o.separator,
        "character between the cells of a CSV document, or tab; unset: the most frequent one of comma, semicolon and "
        "tab in the first row")
      .value_name("CHARACTER");
}

void add_document_rules(Fields& f) {
  for (const char* of_lines : {"input", "n-best", "target-prefix", "skip-invalid", "alignment", "shard", "work-dir",
                               "block-lines", "keep-blocks", "split"}) {
    f.excludes("document", of_lines, "a document has no lines");
    f.excludes("watch", of_lines, "a document has no lines");
  }
  f.excludes("document", "json", "a document has no lines");
  f.excludes("document", "watch", "one names a document, the other a directory of documents");
  f.needs("watch", "to", "the names of the translations contain it");
}

DocumentPlan document_plan(const DocumentFields& o, const std::string& output) {
  for (const auto& [field, name] : {std::pair{&o.to, "--to"}, {&o.columns, "--columns"}, {&o.separator, "--separator"}})
    if (*field && !o.any()) fail_usage(name, "has an effect only on documents", "name a FILE, or pass --watch DIR");
  if (o.document && o.columns)
    if (const std::string_view format = document::format_of(*o.document).name; format != "CSV" && format != "TSV")
      fail_usage("--columns", fmt::format("has an effect only on CSV and TSV, but {} is {}", *o.document, format),
                 "leave it out");
  if (o.to && o.to->find('/') != std::string::npos)  // the language is a part of the translation's file name
    fail_usage("--to", fmt::format("expected a language, got \"{}\"", printable(*o.to)), "for example de or pt-BR");
  DocumentPlan plan{.input = o.document ? *o.document : o.watch.value_or(""), .output = output};
  if (o.columns) plan.columns = names_in(*o.columns);
  if (o.separator) plan.separator = separator_named(*o.separator);
  return plan;
}

}  // namespace tril::cli
