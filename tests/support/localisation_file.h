// Files of a program's strings in tests: what is read, refused and written.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "document/formats/formats.h"
#include "support/document_text.h"
#include "support/error_of.h"

namespace tril::document::localisation {

/// A file of strings in English.
inline std::unique_ptr<Document> read(const std::string& bytes, const std::string& name,
                                      const std::string& target = "de") {
  return read_document(bytes, {name, "en", target});
}
inline std::string capitals(const std::string& bytes, const std::string& name, const std::string& target = "de") {
  return capitals_of(*read(bytes, name, target));
}
inline std::vector<std::string> texts(const std::string& bytes, const std::string& name) {
  return texts_of(*read(bytes, name));
}
inline std::string refusal(const std::string& bytes, const std::string& name) {
  return error_of([&] { read(bytes, name); });
}
/// The document with one text as the translation of its only segment.
inline std::string written(const std::string& bytes, const std::string& name, const std::string& translation) {
  return read(bytes, name)->write(std::vector<Segment>{{translation, {}, {}}});
}

}  // namespace tril::document::localisation
