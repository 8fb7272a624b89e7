// The options of `tril translate` for documents.
#pragma once

#include <optional>
#include <string>

#include "base/fields.h"
#include "cli/commands/document_job.h"

namespace tril::cli {

struct DocumentFields {
  std::optional<std::string> document, watch, to, columns, separator;

  bool any() const { return document || watch; }
};

/// FILE, --watch, --to, --columns, --separator.
void add_document_fields(Fields& f, DocumentFields& o);
/// Declares the options that these fields exclude or need.
void add_document_rules(Fields& f);

/// The plan of the document, or of all documents in the watched directory: then its input and output are directories.
/// @param output  --output
/// @throws Error(usage) if the options do not fit together
DocumentPlan document_plan(const DocumentFields& o, const std::string& output);

}  // namespace tril::cli
