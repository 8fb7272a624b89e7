// Checks that work on hostile input takes linear time. Processor time is measured, and the shortest of several runs
// counts, so that other processes do not disturb the result.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <ctime>
#include <limits>
#include <string>

namespace tril::test {

/// The least processor time of a few runs, in seconds.
template <class Work>
double least_processor_seconds(const Work& work) {
  double least = std::numeric_limits<double>::infinity();
  for (int run = 0; run < 3; ++run) {
    const std::clock_t begin = std::clock();
    work();
    least = std::min(least, static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC);
  }
  return least;
}

/// Expects that 16 times the input takes at most 64 times as long, or at most 20 ms. Quadratic work takes 256 times as
/// long, and work of n log n about 25 times.
/// @param input  makes the input of a number of parts
/// @param work   takes it
template <class Input, class Work>
void expect_linear_time(std::size_t parts, const Input& input, const Work& work) {
  const auto small = input(parts), large = input(16 * parts);
  const double seconds = least_processor_seconds([&] { work(small); });
  const double longer = least_processor_seconds([&] { work(large); });
  EXPECT_LE(longer, std::max(64 * seconds, 0.02)) << "16 times the input; the small one takes " << seconds << " s";
}

/// A text repeated.
inline std::string repeated(const std::string& text, std::size_t times) {
  std::string all;
  for (std::size_t i = 0; i < times; ++i) all += text;
  return all;
}

}  // namespace tril::test
