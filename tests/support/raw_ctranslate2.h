// Puts together model.bin of CTranslate2 by hand, right ones and wrong ones.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "support/raw_number.h"

namespace tril::testing {

struct RawVariable {
  std::string name;
  std::vector<std::uint32_t> shape;
  std::uint8_t type = 0;  ///< 0: float32
  std::string bytes;
  std::uint32_t size = 0;  ///< as the file says; 0: of `bytes`
};

inline std::string raw_text_of_ctranslate2(const std::string& text) {
  return test::raw(static_cast<std::uint16_t>(text.size() + 1)) + text + '\0';
}

inline std::string raw_ctranslate2(std::uint32_t version, const std::vector<RawVariable>& variables,
                                   const std::vector<std::pair<std::string, std::string>>& aliases = {}) {
  using test::raw;
  std::string file = raw(version) + raw_text_of_ctranslate2("TransformerSpec") + raw(std::uint32_t{7}) +
                     raw(static_cast<std::uint32_t>(variables.size()));
  for (const RawVariable& v : variables) {
    file += raw_text_of_ctranslate2(v.name) + static_cast<char>(v.shape.size());
    for (const std::uint32_t n : v.shape) file += raw(n);
    file += static_cast<char>(v.type);
    file += raw(v.size > 0 ? v.size : static_cast<std::uint32_t>(v.bytes.size())) + v.bytes;
  }
  if (version < 3) return file;
  file += raw(static_cast<std::uint32_t>(aliases.size()));
  for (const auto& [alias, name] : aliases) file += raw_text_of_ctranslate2(alias) + raw_text_of_ctranslate2(name);
  return file;
}

}  // namespace tril::testing
