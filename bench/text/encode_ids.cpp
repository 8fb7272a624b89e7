// Encodes a file with the tokenizer of a directory, line by line (or --whole), on one thread. Writes the ids to a
// file as int32, each line's ids after their number, and prints MB/s of processor time. compare.py compares them
// with Hugging Face's library.
// usage: encode_ids DIRECTORY TEXT OUT [--whole]
#include <algorithm>
#include <cstdio>
#include <ctime>
#include <fstream>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/file.h"
#include "tokenizer/files/tokenizer.h"

int main(int argc, char** argv) {
  if (argc < 4) {
    std::fprintf(stderr, "usage: encode_ids DIRECTORY TEXT OUT [--whole]\n");
    return 2;
  }
  try {
    const auto tokenizer = tril::load_tokenizer(argv[1]);
    const std::string text = tril::read_text(argv[2], std::uint64_t{1} << 32);
    std::vector<std::string_view> lines;
    for (std::string_view rest = text; !rest.empty();) {
      const std::size_t end = argc > 4 ? rest.size() : std::min(rest.find('\n'), rest.size());
      lines.push_back(rest.substr(0, end));
      rest.remove_prefix(std::min(end + 1, rest.size()));
    }
    std::vector<std::int32_t> out, ids;
    double best = 1e9;
    for (int round = 0; round < 3; ++round) {
      out.clear();
      const auto begin = std::clock();
      for (std::string_view line : lines) {
        ids.clear();
        tokenizer->encode(line, tril::Side::source, ids);
        out.push_back(static_cast<std::int32_t>(ids.size()));
        out.insert(out.end(), ids.begin(), ids.end());
      }
      best = std::min(best, static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC);
    }
    std::ofstream(argv[3], std::ios::binary)
        .write(reinterpret_cast<const char*>(out.data()), static_cast<std::streamsize>(out.size() * sizeof out[0]));
    std::printf("%.1f MB/s\n", static_cast<double>(text.size()) / best / 1e6);
  } catch (const tril::Error& error) {
    std::fprintf(stderr, "encode_ids: %s\n", error.what());
    return 1;
  }
  return 0;
}
