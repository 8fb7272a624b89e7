// Results at the paths that the user gives: files are written atomically, everything else is streamed.
#include "base/streams.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <thread>

#include "base/error.h"

namespace tril {
namespace {

namespace fs = std::filesystem;

class OutputFileTest : public testing::Test {
 protected:
  OutputFileTest() {
    std::string name = (fs::temp_directory_path() / "tril-output-XXXXXX").string();
    if (!::mkdtemp(name.data())) throw std::runtime_error("no temporary directory");
    directory_ = name;
    ::signal(SIGPIPE, SIG_IGN);
  }
  ~OutputFileTest() override { fs::remove_all(directory_); }

  std::string path(const std::string& name) const { return (directory_ / name).string(); }
  static std::string text_of(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }

  fs::path directory_;
};

TEST_F(OutputFileTest, AFileIsThereOnceItIsWhole) {
  EXPECT_FALSE(takes_a_stream(path("a")));
  {
    OutputFile file(path("a"));
    file.write("new");
    EXPECT_FALSE(fs::exists(path("a")));
    file.commit();
  }
  EXPECT_EQ(text_of(path("a")), "new");
  EXPECT_FALSE(takes_a_stream(path("a")));
  { OutputFile(path("a")).write("half"); }
  EXPECT_EQ(text_of(path("a")), "new");
}

// A program that is killed during its work, before it writes, leaves nothing; a path that cannot be written is an error at once.
TEST_F(OutputFileTest, NothingIsBesideAFileUntilItIsWritten) {
  {
    OutputFile file(path("a"));
    EXPECT_TRUE(fs::is_empty(directory_));
    file.write("x");
    EXPECT_FALSE(fs::is_empty(directory_));
  }
  EXPECT_TRUE(fs::is_empty(directory_));
  OutputFile(path("empty")).commit();
  EXPECT_EQ(text_of(path("empty")), "");
  EXPECT_TRUE(fs::exists(path("empty")));
  EXPECT_THROW(OutputFile(path("none/a")), Error);
  EXPECT_THROW(OutputFile(directory_.string()), Error);
}

TEST_F(OutputFileTest, APipeIsWaitedForAndWrittenTo) {
  ASSERT_EQ(::mkfifo(path("fifo").c_str(), 0600), 0);
  fs::create_symlink("fifo", path("link"));
  for (const char* name : {"fifo", "link"}) {
    EXPECT_TRUE(takes_a_stream(path(name)));
    std::string read;
    std::thread reader([&] { read = text_of(path(name)); });
    write_output(path(name), "through");
    reader.join();
    EXPECT_EQ(read, "through");
  }
  EXPECT_TRUE(fs::is_fifo(path("fifo")));
}

TEST_F(OutputFileTest, APipeThatNobodyReadsAnyMoreIsToldByType) {
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  OutputFile file("/dev/fd/" + std::to_string(ends[1]));
  ::close(ends[0]);
  EXPECT_THROW(file.write("x"), ReaderGone);
  ::close(ends[1]);
}

// An open file of the process is not truncated: it is not reopened by name.
TEST_F(OutputFileTest, AnOpenFileOfTheProcessGoesOnWhereItIs) {
  const int fd = ::open(path("log").c_str(), O_RDWR | O_CREAT | O_APPEND, 0600);
  ASSERT_GE(fd, 0);
  ASSERT_EQ(::write(fd, "first ", 6), 6);
  const std::string number = std::to_string(fd);
  fs::create_symlink("/dev/fd/" + number, path("link"));
  for (const std::string& name : {"/dev/fd/" + number, "/proc/self/fd/" + number,
                                  "/proc/" + std::to_string(::getpid()) + "/fd/" + number, path("link")}) {
    EXPECT_TRUE(takes_a_stream(name)) << name;
    write_output(name, "more ");
  }
  EXPECT_EQ(text_of(path("log")), "first more more more more ");
  EXPECT_EQ(::write(fd, "last", 4), 4) << "it is open still";
  ::close(fd);
  EXPECT_THROW(OutputFile("/dev/fd/" + number), Error);
}

TEST_F(OutputFileTest, DevicesTakeBytesOrSayWhyNot) {
  for (const char* name : {"-", "/dev/null", "/dev/stdout", "/dev/stderr"}) EXPECT_TRUE(takes_a_stream(name)) << name;
  EXPECT_NO_THROW(write_output("/dev/null", "x"));
  EXPECT_FALSE(takes_a_stream("/dev/tril_is_no_device"));
  EXPECT_THROW(OutputFile("/dev/tril_is_no_device"), Error);
  EXPECT_THROW(OutputFile{path("")}, Error);
  const auto full = [&] { write_output("/dev/full", "x"); };
  EXPECT_THROW(full(), Error);
}

TEST_F(OutputFileTest, APipeCanBeReadAsAText) {
  ASSERT_EQ(::mkfifo(path("fifo").c_str(), 0600), 0);
  std::thread writer([&] { std::ofstream(path("fifo")) << std::string(10'000, 'x'); });
  EXPECT_EQ(read_any_text(path("fifo"), 1 << 20), std::string(10'000, 'x'));
  writer.join();
  std::thread longer([&] { std::ofstream(path("fifo")) << std::string(10'000, 'x'); });
  EXPECT_THROW(read_any_text(path("fifo"), 100), Error);
  longer.join();
  EXPECT_EQ(read_any_text("/dev/null", 10), "");
  EXPECT_THROW(read_any_text(directory_.string(), 10), Error);
  EXPECT_THROW(read_any_text(path("none"), 10), Error);
}

}  // namespace
}  // namespace tril
