// Token ids with a special meaning; -1 means none.
#pragma once

#include <cstdint>

namespace tril {

struct SpecialIds {
  std::int32_t pad = -1, bos = -1, eos = -1, unk = -1;
  std::int32_t decoder_start = -1;  ///< the token before a decoder's output; the pad in Marian's models
  friend bool operator==(const SpecialIds&, const SpecialIds&) = default;
};

}  // namespace tril
