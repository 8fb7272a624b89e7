#include "base/element.h"

#include <gtest/gtest.h>

#include <array>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace tril {
namespace {

TEST(Element, IsTheOneAtTheIndex) {
  std::vector<std::string> list{"a", "b"};
  element(list, 1) = "c";
  EXPECT_EQ(list[1], "c");
  EXPECT_EQ(element(std::as_const(list), 0), "a");
  const std::array<int, 3> array{1, 2, 3};
  EXPECT_EQ(element(array, std::int32_t{2}), 3);
  EXPECT_EQ(element(std::span(array).subspan(1), 0), 2);
  std::vector<bool> bits(2);
  element(bits, 1) = true;
  EXPECT_TRUE(bits[1]);
}

}  // namespace
}  // namespace tril
