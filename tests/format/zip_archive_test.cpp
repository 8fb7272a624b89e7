// ZIP archives: archives made by other programs are read, damaged ones are refused.
#include "format/zip_archive.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "support/raw_zip.h"
#include "support/temporary.h"

namespace tril {
namespace {

using test::raw;
using testing::raw_zip;

ZipArchive open(const TemporaryDirectory& directory, const std::string& bytes) {
  return ZipArchive::open(directory.write("x.zip", bytes));
}

void expect_archive_refused(const std::string& bytes, const std::string& part) {
  const TemporaryDirectory directory;
  const std::string text = error_of([&] { open(directory, bytes); });
  EXPECT_TRUE(contains(text, part));
}

TEST(ZipArchive, MembersAreReadStoredAndDeflated) {
  const TemporaryDirectory directory;
  const std::string repeated(100'000, 'a');
  const ZipArchive archive = open(directory, raw_zip({{"b", "stored"}, {"a/deflated", repeated, true}, {"none", ""}}));
  ASSERT_EQ(archive.members().size(), 3u);
  EXPECT_EQ(archive.members()[0].name, "a/deflated");
  EXPECT_EQ(archive.read(*archive.find("b"), 100), "stored");
  EXPECT_EQ(archive.read(*archive.find("a/deflated"), 100'000), repeated);
  EXPECT_EQ(archive.read(*archive.find("none"), 0), "");
  EXPECT_EQ(archive.find("c"), nullptr);
  EXPECT_TRUE(contains(error_of([&] { archive.read(*archive.find("a/deflated"), 99'999); }), "expected at most 99999"));
}

TEST(ZipArchive, ACommentMayFollowTheDirectory) {
  const TemporaryDirectory directory;
  std::string bytes = raw_zip({{"a", "text"}});
  const std::string comment = "with a signature PK\5\6 within";
  bytes.replace(bytes.size() - 2, 2, raw(static_cast<std::uint16_t>(comment.size())));
  EXPECT_EQ(open(directory, bytes + comment).members().size(), 1u);
}

TEST(ZipArchive, SizesOf64BitsStandInTheExtraField) {
  const TemporaryDirectory directory;
  std::string bytes =
      raw_zip({{"a", "text", false,
                raw<std::uint16_t>(1) + raw<std::uint16_t>(16) + raw<std::uint64_t>(4) + raw<std::uint64_t>(4)}});
  const std::size_t entry = bytes.find("PK\1\2");
  bytes.replace(entry + 20, 8, std::string(8, '\xff'));
  const ZipArchive archive = open(directory, bytes);
  EXPECT_EQ(archive.read(archive.members()[0], 10), "text");
}

TEST(ZipArchive, DamagedArchivesAreRefused) {
  const std::string whole = raw_zip({{"a", "text"}, {"b", std::string(1000, 'b'), true}});
  for (std::size_t length = 0; length < whole.size(); ++length)
    expect_archive_refused(whole.substr(0, length), "the archive is damaged");
  expect_archive_refused(raw_zip({{"a", "1"}, {"a", "2"}}), "two of its members are called a");

  const std::size_t entry = whole.find("PK\1\2");
  const auto changed = [&](std::size_t at, const std::string& bytes) {
    return std::string(whole).replace(at, bytes.size(), bytes);
  };
  expect_archive_refused(changed(entry + 8, raw<std::uint16_t>(1)), "is encrypted");
  expect_archive_refused(changed(entry + 10, raw<std::uint16_t>(12)), "compressed by method 12");
  expect_archive_refused(changed(entry + 24, raw<std::uint32_t>(5)), "its two sizes differ");
  expect_archive_refused(changed(entry + 42, raw<std::uint32_t>(1u << 31)), "is beyond the end of the file");
  expect_archive_refused(changed(entry + 42, raw<std::uint32_t>(1)), "not at the offset that the directory gives");
}

TEST(ZipArchive, MembersThatOverlapAreRefused) {
  const std::string inner = raw_zip({{"a", std::string(10, 'x')}});
  std::string bytes = raw_zip({{"a", inner}, {"b", "text"}});
  const std::size_t entry = bytes.rfind("PK\1\2");  // the entry of b now points into the content of a
  bytes.replace(entry + 20, 8, raw<std::uint32_t>(10) + raw<std::uint32_t>(10));
  bytes.replace(entry + 42, 4, raw(static_cast<std::uint32_t>(bytes.find(inner))));
  expect_archive_refused(bytes, "its members a and b overlap");
}

TEST(ZipArchive, AnArchiveInMemoryIsRead) {
  const auto bytes = std::make_shared<const std::string>(raw_zip({{"a", "text"}}));
  const ZipArchive archive("outer.zip: inner.zip", std::as_bytes(std::span(*bytes)), bytes);
  EXPECT_EQ(archive.read(*archive.find("a"), 10), "text");
  EXPECT_EQ(archive.bytes(), bytes->size());
}

TEST(ZipArchive, NamesThatLeadOutsideAreKnown) {
  for (const char* name : {"/etc/passwd", "../x", "a/../../x", "a\\b", "a/.."})
    EXPECT_TRUE(leads_outside(name)) << name;
  for (const char* name : {"a", "a/b.npy", "..a", "a..", "a/...", ""}) EXPECT_FALSE(leads_outside(name)) << name;
}

TEST(ZipArchive, DamagedContentIsRefused) {
  const TemporaryDirectory directory;
  const std::string whole = raw_zip({{"a", "text"}, {"b", std::string(1000, 'b'), true}});
  std::string bytes = whole;
  bytes[whole.find("text")] = 'T';
  const ZipArchive archive = open(directory, bytes);
  EXPECT_TRUE(contains(error_of([&] { archive.read(*archive.find("a"), 10); }), "its checksum does not match"));

  bytes = whole;  // claims more than deflate can make of it
  bytes.replace(whole.rfind("PK\1\2") + 24, 4, raw<std::uint32_t>(1u << 30));
  const ZipArchive bomb = open(directory, bytes);
  EXPECT_TRUE(contains(error_of([&] { bomb.read(*bomb.find("b"), 1u << 31); }), "claims more content"));
}

}  // namespace
}  // namespace tril
