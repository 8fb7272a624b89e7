// Reads PNG pictures of the kind that browsers write: eight bits a channel, RGB or RGBA, not interlaced
// [W3C, Portable Network Graphics, sections 5, 9 and 11].
#pragma once

#include <zlib.h>

#include <cstdint>
#include <cstdlib>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

namespace tril {

struct Picture {
  std::size_t width = 0, height = 0;
  std::vector<std::uint32_t> pixels;  ///< 0xRRGGBB, row after row

  std::map<std::uint32_t, std::size_t> colours() const {
    std::map<std::uint32_t, std::size_t> counts;
    for (const std::uint32_t p : pixels) ++counts[p];
    return counts;
  }
};

inline Picture read_png(const std::string& file) {
  const auto byte = [&](std::size_t at) { return static_cast<std::uint32_t>(static_cast<unsigned char>(file.at(at))); };
  const auto number = [&](std::size_t at) {
    return byte(at) << 24 | byte(at + 1) << 16 | byte(at + 2) << 8 | byte(at + 3);
  };
  if (file.substr(0, 8) != "\x89PNG\r\n\x1a\n") throw std::runtime_error("not a PNG");
  Picture picture;
  std::size_t channels = 0;
  std::string packed;
  for (std::size_t at = 8; at + 12 <= file.size();) {
    const std::size_t length = number(at);
    const std::string kind = file.substr(at + 4, 4);
    if (kind == "IHDR") {
      picture.width = number(at + 8), picture.height = number(at + 12);
      if (byte(at + 16) != 8 || byte(at + 20) != 0) throw std::runtime_error("a PNG of another kind");
      channels = byte(at + 17) == 6 ? 4 : byte(at + 17) == 2 ? 3 : throw std::runtime_error("a PNG without RGB");
    }
    if (kind == "IDAT") packed += file.substr(at + 8, length);
    at += length + 12;
  }

  const std::size_t row = picture.width * channels;
  std::vector<unsigned char> raw((row + 1) * picture.height);
  uLongf size = raw.size();
  if (uncompress(raw.data(), &size, reinterpret_cast<const Bytef*>(packed.data()), packed.size()) != Z_OK ||
      size != raw.size())
    throw std::runtime_error("a PNG whose data is cut short");

  std::vector<int> above(row, 0), line(row);
  for (std::size_t y = 0; y < picture.height; ++y) {
    const unsigned char* const values = raw.data() + y * (row + 1);
    for (std::size_t i = 0; i < row; ++i) {
      const int a = i >= channels ? line[i - channels] : 0, b = above[i], c = i >= channels ? above[i - channels] : 0;
      const int p = a + b - c, pa = std::abs(p - a), pb = std::abs(p - b), pc = std::abs(p - c);
      const int paeth = pa <= pb && pa <= pc ? a : pb <= pc ? b : c;
      const int guesses[] = {0, a, b, (a + b) / 2, paeth};
      line[i] = (values[1 + i] + guesses[values[0] <= 4 ? values[0] : 0]) & 255;
    }
    for (std::size_t i = 0; i < row; i += channels)
      picture.pixels.push_back(static_cast<std::uint32_t>(line[i] << 16 | line[i + 1] << 8 | line[i + 2]));
    above = line;
  }
  return picture;
}

}  // namespace tril
