// A counter-based random generator: value i of a stream is a function of (seed, stream, i) only. So dropout gives
// the same result for any number of threads, in any order, and again in the backward pass without storing it [idea:
// Salmon et al. 2011]. The mixing is a two-multiply 32-bit finaliser over a keyed counter; kern/ computes the same
// bits sixteen at a time.
#pragma once

#include <cstdint>

namespace tril {

/// The key of a stream of random numbers: 64 mixed bits that differ between streams.
struct RandomKey {
  std::uint32_t a = 0, b = 0;
  friend bool operator==(const RandomKey&, const RandomKey&) = default;
};

constexpr std::uint64_t mix64(std::uint64_t x) {
  x ^= x >> 30;
  x *= 0xbf58476d1ce4e5b9ull;
  x ^= x >> 27;
  x *= 0x94d049bb133111ebull;
  return x ^ (x >> 31);
}

/// The upper 64 bits of a * b.
constexpr std::uint64_t high_product(std::uint64_t a, std::uint64_t b) {
  const std::uint64_t a0 = a & 0xffffffffu, a1 = a >> 32, b0 = b & 0xffffffffu, b1 = b >> 32;
  const std::uint64_t middle = a1 * b0 + (a0 * b0 >> 32), other = a0 * b1 + (middle & 0xffffffffu);
  return a1 * b1 + (middle >> 32) + (other >> 32);
}

constexpr RandomKey random_key(std::uint64_t seed, std::uint64_t stream) {
  const std::uint64_t x = mix64(mix64(seed + 0x9e3779b97f4a7c15ull) ^ (stream * 0xd1342543de82ef95ull + 1));
  return {static_cast<std::uint32_t>(x), static_cast<std::uint32_t>(x >> 32)};
}

/// A sub-stream, such as the dropout of one head of one row.
constexpr RandomKey sub_key(RandomKey key, std::uint64_t part) {
  return random_key((std::uint64_t{key.b} << 32) | key.a, part + 1);
}

/// 32 uniform bits: value number `index` of the stream `key`.
constexpr std::uint32_t random_bits(RandomKey key, std::uint32_t index) {
  std::uint32_t x = index * 0x9e3779b9u + key.a;
  x ^= x >> 16;
  x *= 0x21f0aaadu;
  x ^= x >> 15;
  x += key.b;
  x *= 0xd35a2d97u;
  return x ^ (x >> 15);
}

/// The smallest value of random_bits that is kept at dropout probability p: an element is dropped if bits < threshold.
constexpr std::uint32_t dropout_threshold(float p) {
  return static_cast<std::uint32_t>(static_cast<double>(p) * 4294967296.0);
}

/// Streams in the order in which a computation asks for them; a copy repeats the same streams.
class Rng {
 public:
  explicit Rng(std::uint64_t seed = 1, std::uint64_t first_stream = 0) : seed_(seed), next_(first_stream) {}

  RandomKey next_key() { return random_key(seed_, next_++); }

  std::uint64_t seed() const { return seed_; }
  /// The whole state except the seed: save it to resume, restore it to recompute.
  std::uint64_t position() const { return next_; }
  void seek(std::uint64_t position) { next_ = position; }

 private:
  std::uint64_t seed_, next_;
};

/// Sequential draws from one stream, for shuffling and initialisation.
class RandomSequence {
 public:
  explicit RandomSequence(RandomKey key) : key_(key) {}
  RandomSequence(std::uint64_t seed, std::uint64_t stream) : key_(random_key(seed, stream)) {}

  std::uint32_t bits() { return random_bits(key_, index_++); }
  std::uint64_t bits64() {
    const std::uint64_t high = bits();
    return high << 32 | bits();
  }
  /// Uniform in [0, 1).
  double uniform() { return static_cast<double>(bits64() >> 11) * 0x1p-53; }
  /// Uniform in [0, n), practically unbiased for every n used here (n < 2^32: bias below 2^-32).
  std::uint64_t below(std::uint64_t n) { return high_product(bits64(), n); }
  /// Standard normal, by the trigonometric form of Box and Muller's method.
  double normal();

 private:
  RandomKey key_;
  std::uint32_t index_ = 0;
};

}  // namespace tril
