// Puts together ZIP archives by hand, right ones and wrong ones.
#pragma once

#include <zlib.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tril::testing {

struct RawMember {
  std::string name, content;
  bool deflated = false;
  std::string extra = {};  ///< of the directory's entry
};

inline std::string little_endian(std::uint64_t value, int bytes) {
  std::string text;
  for (int i = 0; i < bytes; ++i) text += static_cast<char>(value >> 8 * i & 0xff);
  return text;
}

inline std::string deflated(std::string_view content) {
  z_stream stream{};
  deflateInit2(&stream, Z_BEST_COMPRESSION, Z_DEFLATED, -MAX_WBITS, 8, Z_DEFAULT_STRATEGY);
  std::string packed(deflateBound(&stream, content.size()), '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(content.data()));
  stream.avail_in = static_cast<uInt>(content.size());
  stream.next_out = reinterpret_cast<Bytef*>(packed.data());
  stream.avail_out = static_cast<uInt>(packed.size());
  ::deflate(&stream, Z_FINISH);
  packed.resize(packed.size() - stream.avail_out);
  deflateEnd(&stream);
  return packed;
}

inline std::string raw_zip(const std::vector<RawMember>& members) {
  std::string archive, directory;
  for (const RawMember& m : members) {
    const std::string packed = m.deflated ? deflated(m.content) : m.content;
    const auto sum = crc32(0, reinterpret_cast<const Bytef*>(m.content.data()), static_cast<uInt>(m.content.size()));
    const std::string common = little_endian(m.deflated ? 8 : 0, 2) + std::string(4, '\0') + little_endian(sum, 4) +
                               little_endian(packed.size(), 4) + little_endian(m.content.size(), 4) +
                               little_endian(m.name.size(), 2);
    directory += "PK\1\2" + std::string(6, '\0') + common + little_endian(m.extra.size(), 2) + std::string(10, '\0') +
                 little_endian(archive.size(), 4) + m.name + m.extra;
    archive += "PK\3\4" + std::string(4, '\0') + common + little_endian(0, 2) + m.name + packed;
  }
  return archive + directory + "PK\5\6" + std::string(4, '\0') + little_endian(members.size(), 2) +
         little_endian(members.size(), 2) + little_endian(directory.size(), 4) + little_endian(archive.size(), 4) +
         little_endian(0, 2);
}

}  // namespace tril::testing
