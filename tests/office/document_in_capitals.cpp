// Writes documents in capital letters, as if that were a translation whose words are all aligned:
//   document_in_capitals SOURCE RESULT [SOURCE RESULT]...
#include <cstdio>
#include <fstream>

#include "base/error.h"
#include "base/file.h"
#include "document/formats/formats.h"
#include "support/document_text.h"

int main(int count, char** arguments) {
  try {
    for (int a = 1; a + 1 < count; a += 2) {
      const std::string path = arguments[a];
      const auto document = tril::document::read_document(tril::read_text(path, std::uint64_t{64} << 20), {path});
      std::ofstream(arguments[a + 1], std::ios::binary) << tril::document::capitals_of(*document);
    }
  } catch (const tril::Error& e) {
    std::fprintf(stderr, "%s\n", e.what());
    return 1;
  }
}
