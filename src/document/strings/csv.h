// CSV and TSV [RFC 4180]: the cells of some columns.
#pragma once

#include <memory>
#include <string>

#include "document/segments/document.h"

namespace tril::document {

/// The columns of DocumentOptions::columns are translated, by number in all rows, or by the names in the first row,
/// which is then not translated. Quotes and line ends are kept. The separator, if not given, is the most frequent one
/// of comma, semicolon and tab in the first row. Between tabs, quotes_of_tsv() says what quotation marks mean
/// (delimited_text.h). Placeholders and tags are marks (string_segment.h).
/// @throws Error(usage) that lists the columns if there are several and none is chosen, or a column is unknown
/// @throws Error naming the line where a quote is not closed
std::unique_ptr<Document> read_csv(std::string bytes, const DocumentOptions& options);

}  // namespace tril::document
