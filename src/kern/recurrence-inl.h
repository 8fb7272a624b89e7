// Recurrences with a matrix as state (gated_delta.cpp, state_space.cpp). A vector of columns of the state passes through all
// tokens. In the backward pass, states are kept at the beginnings of chunks, and recomputed within one chunk after the other.
#if defined(TRIL_KERN_RECURRENCE_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef TRIL_KERN_RECURRENCE_INL_H_
#undef TRIL_KERN_RECURRENCE_INL_H_
#else
#define TRIL_KERN_RECURRENCE_INL_H_
#endif

#include <cmath>
#include <cstddef>

#include "hwy/highway.h"
#include "kern/math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tril::kern::HWY_NAMESPACE {

/// Tokens whose states the backward pass holds at once.
constexpr std::size_t kChunk = 64;

HWY_INLINE std::size_t ChunksOf(std::size_t tokens) {
  return (tokens + kChunk - 1) / kChunk;
}

/// Floats of a vector of columns of a state with this many rows.
HWY_INLINE std::size_t ColumnsScratch(std::size_t rows) {
  return rows * hn::MaxLanes(Floats());
}

/// A state [rows, width] of a text of `tokens`.
struct StateMatrix {
  std::size_t rows, width, tokens;
  float* values;   ///< null: zeros before the text, and not kept after it
  float* scratch;  ///< [ColumnsScratch(rows)]
};

/// Calls pass(S, stride) for the vector of columns of the state that begins at `column`; its rows lie `stride` apart. pass() goes
/// through all tokens and leaves the last state in S.
template <class Io, class Pass>
HWY_INLINE void ThroughTokens(const StateMatrix& m, std::size_t column, Io io, const Pass& pass) {
  if (m.values && m.tokens == 1) return pass(m.values + column, m.width);  // a copy would cost as much as the step
  const std::size_t lanes = hn::Lanes(Floats());
  for (std::size_t i = 0; i < m.rows; ++i)
    io.store(m.values ? io.load(m.values + i * m.width + column) : hn::Zero(Floats()), m.scratch + i * lanes);
  pass(m.scratch, lanes);
  for (std::size_t i = 0; i < m.rows && m.values; ++i)
    io.store(io.load(m.scratch + i * lanes), m.values + i * m.width + column);
}

/// Floats of scratch for BackInChunks(): the states at the chunks' beginnings, those of a chunk's tokens, and the gradient of a
/// state.
HWY_INLINE std::size_t BackInChunksScratch(std::size_t rows, std::size_t tokens) {
  return (ChunksOf(tokens) + kChunk + 2) * ColumnsScratch(rows);
}

/// For each token t, from the last to the first: back(t, S_{t-1}, S_t, dS), where dS is the gradient of S_t by later tokens,
/// which back() makes that of S_{t-1}. advance(t, S_{t-1}, S_t) computes a state; both places may be the same.
/// @param size  floats of a vector of columns of a state
template <class Advance, class Back>
HWY_INLINE void BackInChunks(std::size_t size, std::size_t tokens, float* scratch, const Advance& advance,
                             const Back& back) {
  const std::size_t chunks = ChunksOf(tokens);
  float *const begins = scratch, *const states = begins + chunks * size, *const ds = states + (kChunk + 1) * size;
  for (std::size_t i = 0; i < size; ++i) begins[i] = ds[i] = 0;
  for (std::size_t n = 0; n + 1 < chunks; ++n) {
    float* const next = begins + (n + 1) * size;
    advance(n * kChunk, begins + n * size, next);
    for (std::size_t t = 1; t < kChunk; ++t) advance(n * kChunk + t, next, next);
  }
  for (std::size_t n = chunks; n-- > 0;) {
    const std::size_t first = n * kChunk, count = tokens - first < kChunk ? tokens - first : kChunk;
    for (std::size_t i = 0; i < size; ++i) states[i] = begins[n * size + i];
    for (std::size_t t = 0; t < count; ++t) advance(first + t, states + t * size, states + (t + 1) * size);
    for (std::size_t t = count; t-- > 0;) back(first + t, states + t * size, states + (t + 1) * size, ds);
  }
}

/// log(1 + e^x), in double: near 1 a decay is exp of a small number.
HWY_INLINE double SoftplusOf(double x) {
  return x > 30 ? x : std::log1p(std::exp(x));
}

}  // namespace tril::kern::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // TRIL_KERN_RECURRENCE_INL_H_
