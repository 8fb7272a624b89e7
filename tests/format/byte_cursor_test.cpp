// The cursor over a file's bytes: numbers at any alignment, and errors with file, offset and sizes.
#include "format/byte_cursor.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "support/raw_number.h"

namespace tril {
namespace {

TEST(ByteCursor, TakesNumbersTextsAndParts) {
  const std::string bytes = "ab" + test::raw(std::uint32_t{7}) + "cdef";
  ByteCursor cursor(std::as_bytes(std::span(bytes)), "x.bin");
  EXPECT_EQ(cursor.characters(2, "the name"), "ab");
  EXPECT_EQ(cursor.number<std::uint32_t>("the count"), 7u);
  EXPECT_EQ(cursor.position(), 6u);
  ByteCursor part = cursor.part(3, "the values");
  EXPECT_EQ(part.left(), 3u);
  EXPECT_EQ(part.characters(3, "the values"), "cde");
  EXPECT_EQ(cursor.left(), 1u);
  EXPECT_EQ(cursor.rest().size(), 1u);
  EXPECT_TRUE(cursor.take(0, "nothing").empty());
}

TEST(ByteCursor, ErrorsNameTheFileTheOffsetAndTheSizes) {
  const std::string bytes = "0123456789";
  ByteCursor cursor(std::as_bytes(std::span(bytes)), "x.bin", 100);
  cursor.take(4, "the name");
  ByteCursor part = cursor.part(2, "the values");
  const auto error_of = [](const auto& take) -> std::string {
    try {
      take();
    } catch (const Error& e) {
      EXPECT_EQ(e.kind(), ErrorKind::failure);
      EXPECT_EQ(e.where(), "x.bin");
      return e.message();
    }
    return "";
  };
  EXPECT_EQ(error_of([&] { cursor.take(~std::uint64_t{0}, "the padding"); }),
            "expected 18446744073709551615 bytes for the padding at byte 106, found 4");
  EXPECT_EQ(error_of([&] { part.number<std::uint64_t>("the count"); }),
            "expected 8 bytes for the count at byte 104, found 2");
  part.take(2, "the values");
  EXPECT_EQ(error_of([&] { part.number<std::uint8_t>("the type"); }),
            "expected 1 byte for the type at byte 106, found 0");
  EXPECT_EQ(cursor.left(), 4u) << "a refused take leaves the cursor where it was";
}

}  // namespace
}  // namespace tril
