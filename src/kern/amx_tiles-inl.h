// The shapes of AMX's eight tiles. Included once for each instruction set; empty except for AVX-512.
#if defined(TRIL_KERN_AMX_TILES_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef TRIL_KERN_AMX_TILES_INL_H_
#undef TRIL_KERN_AMX_TILES_INL_H_
#else
#define TRIL_KERN_AMX_TILES_INL_H_
#endif

#include "hwy/highway.h"

#if HWY_TARGET == HWY_AVX3
#include <immintrin.h>

namespace tril::kern::N_AVX3 {

/// The operand of LDTILECFG [Intel, Architecture Instruction Set Extensions, 3.2]. All tiles are whole, but for those changed.
struct alignas(64) TileShapes {
  std::uint8_t palette = 1, start_row = 0, reserved[14] = {};
  std::uint16_t bytes[16] = {64, 64, 64, 64, 64, 64, 64, 64};  ///< of a row
  std::uint8_t rows[16] = {16, 16, 16, 16, 16, 16, 16, 16};

  /// Sums in tiles 0 to 3, A in 4 and 5, B in 6 and 7, for up to `most_rows` rows of A.
  static TileShapes of_product(std::size_t most_rows) {
    TileShapes t;
    if (most_rows < 16) t.rows[0] = t.rows[1] = t.rows[4] = static_cast<std::uint8_t>(most_rows);
    return t;
  }
  __attribute__((target("amx-tile"))) void load() const {
    __asm__ volatile("" : : "r"(this) : "memory");  // the intrinsic declares only its first bytes
    _tile_loadconfig(this);
  }
};

}  // namespace tril::kern::N_AVX3
#endif

#endif  // TRIL_KERN_AMX_TILES_INL_H_
