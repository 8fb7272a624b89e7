// Puts together ZIP archives by hand, right ones and wrong ones.
#pragma once

#include <zlib.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "support/packed.h"
#include "support/raw_number.h"

namespace tril::testing {

struct RawMember {
  std::string name, content;
  bool deflated = false;
  std::string extra = {};  ///< of the directory's entry
};

inline std::string raw_zip(const std::vector<RawMember>& members) {
  using test::packed, test::raw;
  const auto raw16 = [](std::size_t value) { return raw(static_cast<std::uint16_t>(value)); };
  const auto raw32 = [](std::size_t value) { return raw(static_cast<std::uint32_t>(value)); };
  std::string archive, directory;
  for (const RawMember& m : members) {
    const std::string bytes = m.deflated ? packed(m.content, -MAX_WBITS) : m.content;
    const auto sum = crc32(0, reinterpret_cast<const Bytef*>(m.content.data()), static_cast<uInt>(m.content.size()));
    const std::string common = raw16(m.deflated ? 8 : 0) + std::string(4, '\0') + raw32(sum) + raw32(bytes.size()) +
                               raw32(m.content.size()) + raw16(m.name.size());
    directory += "PK\1\2" + std::string(6, '\0') + common + raw16(m.extra.size()) + std::string(10, '\0') +
                 raw32(archive.size()) + m.name + m.extra;
    archive += "PK\3\4" + std::string(4, '\0') + common + raw16(0) + m.name + bytes;
  }
  return archive + directory + "PK\5\6" + std::string(4, '\0') + raw16(members.size()) + raw16(members.size()) +
         raw32(directory.size()) + raw32(archive.size()) + raw16(0);
}

}  // namespace tril::testing
