#include "corpus/reader.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <thread>

#include "base/rng.h"
#include "support/rounds.h"
#include "support/temporary.h"
#include "unicode/trim.h"

namespace tril {
namespace {

using Lines = std::vector<std::string>;

TEST(Reader, StripsLineEndsAndTheByteOrderMark) {
  const TemporaryDirectory at;
  EXPECT_EQ(read_lines(at.write("a", "\xef\xbb\xbfone\r\ntwo\n\n\r\nlast")), (Lines{"one", "two", "", "", "last"}));
  EXPECT_EQ(read_lines(at.write("b", "a\rb\n")), (Lines{"a\rb"}));
  EXPECT_EQ(read_lines(at.write("c", "\n")), (Lines{""}));
  EXPECT_EQ(read_lines(at.write("d", "")), Lines{});
}

TEST(Reader, ReadsGzipByItsBytes) {
  const TemporaryDirectory at;
  std::string text;
  for (int i = 0; i < 50'000; ++i) text += "line " + std::to_string(i * 7919) + "\n";
  const Lines plain = read_lines(at.write("plain", text));
  EXPECT_EQ(plain.size(), 50'000u);
  EXPECT_EQ(read_lines(at.write("text.gz", gzip(text))), plain);
  EXPECT_EQ(read_lines(at.write("no_extension", gzip(text))), plain);
  const std::size_t middle = text.size() / 2;  // two members, as in `cat a.gz b.gz`, then padding
  EXPECT_EQ(
      read_lines(at.write("two.gz", gzip(text.substr(0, middle)) + gzip(text.substr(middle)) + std::string(100, '\0'))),
      plain);
}

TEST(Reader, NamesGzipThatIsCutOffOrDamaged) {
  const TemporaryDirectory at;
  std::string text;
  for (int i = 0; i < 5'000; ++i) text += "line " + std::to_string(i * 7919) + "\n";
  const std::string packed = gzip(text);
  for (std::size_t n : {std::size_t{3}, std::size_t{12}, packed.size() / 2, packed.size() - 8, packed.size() - 1}) {
    const std::string path = at.write("cut.gz", packed.substr(0, n));
    EXPECT_TRUE(contains(error_of([&] { read_lines(path); }), "is truncated")) << n;
  }
  std::string damaged = packed;
  damaged[damaged.size() - 6] = static_cast<char>(damaged[damaged.size() - 6] ^ 1);  // the checksum
  EXPECT_TRUE(contains(error_of([&] { read_lines(at.write("bad.gz", damaged)); }), "damaged"));
  // A member whose head is damaged is no padding: its text would be lost.
  EXPECT_TRUE(contains(error_of([&] { read_lines(at.write("tail.gz", packed + "?" + packed.substr(1))); }),
                       "tail.gz: ", "after its gzip data", "again"));
  EXPECT_TRUE(contains(error_of([&] { read_lines(at.write("plain.gz", "not packed\n")); }), "is not gzip"));
}

TEST(Reader, NamesWhatIsNoText) {
  const TemporaryDirectory at;
  EXPECT_TRUE(contains(error_of([&] { LineReader reader(at.path("missing")); }), "No such file"));
  EXPECT_TRUE(contains(error_of([&] { LineReader reader(at.path()); }), "directory"));
  EXPECT_TRUE(contains(error_of([&] { LineReader reader(at.write("e", ""), {.refuse_empty = true}); }), "is empty"));
  EXPECT_TRUE(
      contains(error_of([&] { LineReader reader(at.write("e.gz", gzip("")), {.refuse_empty = true}); }), "is empty"));
  EXPECT_TRUE(contains(error_of([&] {
                         LineReader reader(at.write("b", std::string("\x7f"
                                                                     "ELF\0\0",
                                                                     6)));
                       }),
                       "binary"));
  EXPECT_TRUE(contains(error_of([&] { LineReader reader(at.write("b.gz", gzip(std::string("a\0b", 3)))); }), "binary"));
  EXPECT_TRUE(contains(error_of([&] {
                         LineReader reader(at.write("u", std::string("\xff\xfe"
                                                                     "a\0",
                                                                     4)));
                       }),
                       "UTF-16"));
  EXPECT_TRUE(contains(error_of([&] {
                         LineReader reader(at.write("x", std::string("\xfd"
                                                                     "7zXZ\0",
                                                                     6)));
                       }),
                       "xz"));
  EXPECT_TRUE(contains(error_of([&] { read_lines(at.write("long", std::string((16 << 20) + 1, 'a'))); }), "16 MiB"));
  if (::geteuid() != 0) {
    const std::string secret = at.write("secret", "a\n");
    ::chmod(secret.c_str(), 0);
    EXPECT_TRUE(contains(error_of([&] { LineReader reader(secret); }), "Permission denied"));
  }
}

TEST(Reader, NamesLineAndColumnOfInvalidUtf8) {
  const TemporaryDirectory at;
  const std::string path = at.write("de", "gut\nM\u00e4nner \xc3( da\nauch gut\n");
  const std::string error = error_of([&] { read_lines(path); });
  EXPECT_TRUE(contains(error, path + ": line 2"));
  EXPECT_TRUE(contains(error, "byte 0xC3 at column 8"));
  EXPECT_TRUE(contains(error, "`skip_invalid`"));

  LineReader reader(path, {.skip_invalid = true});
  std::string line;
  EXPECT_EQ(reader.next(line), Line::text);
  EXPECT_EQ(reader.next(line), Line::invalid);
  EXPECT_EQ(line, "");
  EXPECT_EQ(reader.next(line), Line::text);
  EXPECT_EQ(line, "auch gut");
  EXPECT_EQ(reader.line_number(), 3);
  EXPECT_EQ(reader.next(line), Line::end);
  EXPECT_EQ(reader.next(line), Line::end);
}

TEST(Reader, SkipsLinesWithoutCheckingThem) {
  const TemporaryDirectory at;
  LineReader reader(at.write("a", "1\n\xff\n3\n4"));
  std::string line;
  EXPECT_EQ(reader.skip(2), 2);
  EXPECT_EQ(reader.next(line), Line::text);
  EXPECT_EQ(line, "3");
  EXPECT_EQ(reader.skip(10), 1);
  EXPECT_EQ(reader.next(line), Line::end);
}

TEST(Reader, HandsOutThePipesLinesAsTheyCome) {
  const TemporaryDirectory at;
  const std::string pipe = at.path("pipe");
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  std::ofstream writer;
  std::thread opener([&] {
    writer.open(pipe);
    writer << "first\n" << std::flush;
  });
  LineReader reader(pipe);
  opener.join();
  std::string line;
  EXPECT_EQ(reader.next(line), Line::text);  // although the writer has not closed the pipe
  EXPECT_EQ(line, "first");
  writer << "second" << std::flush;
  writer.close();
  EXPECT_EQ(reader.next(line), Line::text);
  EXPECT_EQ(line, "second");
  EXPECT_EQ(reader.next(line), Line::end);
}

// For any bytes: lines of valid UTF-8, or an Error; never a crash.
TEST(Reader, SurvivesMutatedFiles) {
  const TemporaryDirectory at;
  std::string text;
  for (int i = 0; i < 60; ++i) text += "Zwei M\u00e4nner, Zeile " + std::to_string(i * 37) + " \u6f22\u5b57\r\n";
  const std::string packed = gzip(text);
  std::uint64_t refused = 0, read = 0;
  const std::uint64_t files = test::rounds(1'500, [&](RandomSequence& random) {
    std::string bytes = random.below(2) ? packed : text;
    for (std::uint64_t n = 1 + random.below(4); n > 0 && !bytes.empty(); --n) {
      const std::size_t position = random.below(bytes.size());
      if (random.below(4) == 0)
        bytes.resize(position);
      else
        bytes[position] = static_cast<char>(random.below(256));
    }
    const std::string path = at.write("mutated", bytes);
    try {
      for (const std::string& line : read_lines(path, {.skip_invalid = random.below(3) == 0}))
        ASSERT_TRUE(is_utf8(line));
      ++read;
    } catch (const Error&) {
      ++refused;
    }
  });
  EXPECT_GT(refused, files / 3);
  EXPECT_GT(read, files / 15);
}

}  // namespace
}  // namespace tril
