// Prints where the sentences of each line of standard input end, for bench/text/sentences.py: the byte offsets with
// spaces between them. The argument is the language, or "" for none.
#include <iostream>
#include <string>

#include "unicode/sentences.h"

int main(int argc, char** argv) {
  const std::string language = argc > 1 ? argv[1] : "";
  std::ios::sync_with_stdio(false);
  for (std::string line; std::getline(std::cin, line);) {
    std::string ends;
    for (std::size_t at = 0; at < line.size();) {
      at += tril::sentence_end(std::string_view(line).substr(at), language);
      if (!ends.empty()) ends += ' ';
      ends += std::to_string(at);
      at = std::min(line.find_first_not_of(' ', at), line.size());
    }
    std::cout << ends << '\n';
  }
}
