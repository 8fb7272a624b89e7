// Reads the file of a request as a document, and names its languages.
#pragma once

#include <memory>
#include <string>

#include "document/formats/formats.h"
#include "document/segments/document.h"
#include "serve/api/model_choice.h"
#include "serve/api/translate_request.h"

namespace tril::serve {

/// @throws HttpError: 400 if the file is malformed, 413 for more than a million lines, and as check_document_size()
std::unique_ptr<document::Document> read_document_file(std::string bytes, const document::DocumentOptions& options);

/// @throws HttpError (413) for more sentences than a document may have
void check_document_size(std::size_t sentences);

/// The beginning of a document without markup, for the detection of its language.
std::string sample_of_document(const document::Document& document);

/// The languages of a document, by the names of the models that read and write it, or as the request says; "": not known.
std::string document_source(const ModelChoice& choice, const TranslateRequest& request);
std::string document_target(const ModelChoice& choice, const TranslateRequest& request);

/// The name of a translated file: "notes.md" becomes "notes.de.md".
std::string translated_name(const std::string& name, const ModelChoice& choice, const TranslateRequest& request);

}  // namespace tril::serve
