// Shared by the kernel tests: every table of this processor as a parameter, memory that ends at an inaccessible page,
// sizes around the vectors' lengths, and comparison with doubles.
#pragma once

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <cmath>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "base/rng.h"
#include "kern/kernels.h"

namespace tril::kern {

inline const std::vector<std::size_t>& sizes() {
  static const std::vector<std::size_t> all = [] {
    std::vector<std::size_t> n;
    for (std::size_t i = 0; i <= 2 * 16 + 3; ++i) n.push_back(i);
    for (std::size_t i : {64u, 67u, 130u, 1027u}) n.push_back(i);
    return n;
  }();
  return all;
}

/// n values that end `slack` (0 to 3) before a page without access, so that their alignment varies with n and slack.
/// The surrounding values are marked; intact() tells whether they are unchanged.
template <class T>
class Guarded {
 public:
  explicit Guarded(std::size_t n, std::size_t slack = 0) : n_(n), slack_(slack) {
    const std::size_t used = (n + slack + margin) * sizeof(T), pages = (used + page - 1) / page * page;
    bytes_ = pages + page;
    void* base = mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (base == MAP_FAILED) throw std::bad_alloc();
    base_ = static_cast<std::byte*>(base);
    mprotect(base_ + pages, page, PROT_NONE);
    begin_ = reinterpret_cast<T*>(base_ + pages) - slack - n;
    std::memset(static_cast<void*>(begin_ - margin), mark, used);
  }
  Guarded(const Guarded&) = delete;
  Guarded& operator=(const Guarded&) = delete;
  ~Guarded() { munmap(base_, bytes_); }

  T* data() { return begin_; }
  const T* data() const { return begin_; }
  operator T*() { return begin_; }
  T& operator[](std::size_t i) { return begin_[i]; }
  const T& operator[](std::size_t i) const { return begin_[i]; }
  std::size_t size() const { return n_; }
  std::vector<T> copy() const { return {begin_, begin_ + n_}; }

  bool intact() const {
    const auto marked = [](const T* from, const T* to) {
      const auto *p = reinterpret_cast<const unsigned char*>(from), *end = reinterpret_cast<const unsigned char*>(to);
      while (p < end && *p == mark) ++p;
      return p == end;
    };
    return marked(begin_ - margin, begin_) && marked(begin_ + n_, begin_ + n_ + slack_);
  }

 private:
  static constexpr std::size_t page = 4096, margin = 32;
  static constexpr unsigned char mark = 0xA5;
  std::size_t n_, slack_, bytes_ = 0;
  std::byte* base_ = nullptr;
  T* begin_ = nullptr;
};

using Floats32 = Guarded<float>;

inline void fill_normal(Floats32& x, std::uint64_t stream, double sigma = 1, double mean = 0) {
  RandomSequence random(7, stream);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(mean + sigma * random.normal());
}

/// Each value within tolerance * (1 + |expected|), infinities and NaN alike, nothing written around.
inline void expect_close(const Floats32& got, const std::vector<double>& expected, double tolerance,
                         const std::string& what) {
  ASSERT_EQ(got.size(), expected.size()) << what;
  EXPECT_TRUE(got.intact()) << what << ": wrote outside its output";
  for (std::size_t i = 0; i < got.size(); ++i) {
    const double g = got[i], e = expected[i];
    if (std::isnan(e) && std::isnan(g)) continue;
    if (g == e || std::abs(g - e) <= tolerance * (1 + std::abs(e))) continue;
    FAIL() << what << ": [" << i << "] of " << got.size() << " is " << g << ", expected " << e;
  }
}

class KernelTest : public testing::TestWithParam<const Kernels*> {
 protected:
  const Kernels& k = *GetParam();
};

inline auto every_table() {
  return testing::ValuesIn(tables().begin(), tables().end());
}
inline std::string table_name(const testing::TestParamInfo<const Kernels*>& p) {
  return std::string(p.param->name);
}

}  // namespace tril::kern
