// Puts together .bin files of Marian's by hand, right ones and wrong ones (src/format/marian_bin_file.h).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "support/raw_number.h"

namespace tril::testing {

struct RawBinTensor {
  std::string name;
  std::uint64_t type = 0x404;
  std::vector<std::int32_t> shape;
  std::string values;
};

inline std::string raw_marian_bin(const std::vector<RawBinTensor>& tensors, std::uint64_t padding = 0) {
  using test::raw;
  const auto raw64 = [](std::size_t value) { return raw(static_cast<std::uint64_t>(value)); };
  std::string headers = raw64(1) + raw64(tensors.size()), names, shapes, values;
  for (const RawBinTensor& t : tensors) {
    headers += raw64(t.name.size() + 1) + raw64(t.type) + raw64(t.shape.size()) + raw64(t.values.size());
    names += t.name + '\0';
    for (const std::int32_t n : t.shape) shapes += raw(n);
    values += t.values;
  }
  return headers + names + shapes + raw64(padding) + std::string(padding, '\0') + values;
}

}  // namespace tril::testing
