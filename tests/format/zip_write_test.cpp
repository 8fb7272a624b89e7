// ZIP archives are written as copies of others: what is not replaced stays as it is.
#include "format/zip_write.h"

#include <gtest/gtest.h>

#include "support/raw_zip.h"

namespace tril::zip_write_test {
namespace {

using testing::raw_zip;

ZipArchive archive_of(const std::string& bytes) {
  return ZipArchive("x.zip", std::as_bytes(std::span(bytes.data(), bytes.size())), nullptr);
}

TEST(ZipWrite, MembersAreCopiedOrReplaced) {
  const std::string text(10'000, 'a');
  const std::string source =
      raw_zip({{"b", "stored"}, {"a", text, true, std::string("\x55\x54\1\0x", 5)}, {"c", text, true}});
  const ZipArchive from = archive_of(source);
  const auto write = [&] {
    ZipWriter writer;
    writer.copy(*from.find("a"));
    writer.replace(*from.find("c"), "something else");
    writer.replace(*from.find("b"), "new");
    return writer.finish("x.zip");
  };
  const std::string bytes = write();
  EXPECT_EQ(bytes, write()) << "the same bytes each time";
  const ZipArchive to = archive_of(bytes);
  ASSERT_EQ(to.members().size(), 3u);
  EXPECT_EQ(to.read(*to.find("a"), 20'000), text);
  EXPECT_EQ(to.read(*to.find("c"), 20'000), "something else");
  EXPECT_EQ(to.read(*to.find("b"), 20'000), "new");
  EXPECT_TRUE(to.find("b")->is_stored());
  EXPECT_FALSE(to.find("c")->is_stored());
  EXPECT_EQ(to.find("a")->header.extra.size(), 5u);
  EXPECT_EQ(to.find("a")->packed.size(), from.find("a")->packed.size());
}

TEST(ZipWrite, TimesAndNamesStayAndSizesStandInFront) {
  const std::string source = raw_zip({{"a", "x"}});
  const ZipArchive from = archive_of(source);
  ZipMember member = *from.find("a");
  member.header.time = 0x5aa5'1234;
  member.header.flags = 1 << 3 | 1 << 11;  // a data descriptor, a name in UTF-8
  member.header.external_attributes = 0x81a4'0000;
  ZipWriter writer;
  writer.copy(member);
  const std::string bytes = writer.finish("x.zip");
  const ZipArchive archive = archive_of(bytes);
  const ZipHeader& header = archive.find("a")->header;
  EXPECT_EQ(header.time, 0x5aa5'1234u);
  EXPECT_EQ(header.flags, 1 << 11);
  EXPECT_EQ(header.external_attributes, 0x81a4'0000u);
}

TEST(ZipWrite, SizesOfZip64AreLeftOut) {
  const std::string field("\1\0\10\0abcdefgh", 12), time("\x55\x54\1\0x", 5);
  const std::string source = raw_zip({{"a", "x"}});
  const ZipArchive from = archive_of(source);
  ZipMember member = *from.find("a");
  const std::string extra = field + time + "\7";
  member.header.extra = std::as_bytes(std::span(extra.data(), extra.size()));
  ZipWriter writer;
  writer.copy(member);
  const std::string bytes = writer.finish("x.zip");
  EXPECT_EQ(archive_of(bytes).find("a")->header.extra.size(), time.size());
}

}  // namespace
}  // namespace tril::zip_write_test
