// Files: writes are atomic, and every failure says what and where.
#include "base/file.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <functional>

#include "base/error.h"
#include "support/error_of.h"

namespace tril::file_test {
namespace {

namespace fs = std::filesystem;

std::string text_of(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

class FileTest : public testing::Test {
 protected:
  FileTest() {
    std::string name = (fs::temp_directory_path() / "tril-file-XXXXXX").string();
    if (!::mkdtemp(name.data())) throw std::runtime_error("no temporary directory");
    directory_ = name;
  }
  ~FileTest() override { fs::remove_all(directory_); }

  std::string path(const std::string& name) const { return (directory_ / name).string(); }
  void put(const std::string& name, std::string_view text) const { std::ofstream(path(name)) << text; }
  std::string read(const std::string& name) const { return read_text(path(name), 1 << 20); }
  std::vector<std::string> list() const {
    std::vector<std::string> names;
    for (const auto& entry : fs::directory_iterator(directory_)) names.push_back(entry.path().filename().string());
    std::sort(names.begin(), names.end());
    return names;
  }
  // Runs in a child process and returns its exit status, or minus the signal that ended it.
  static int in_child(const std::function<int()>& action) {
    const pid_t child = ::fork();
    if (child == 0) ::_exit(action());
    int status = 0;
    ::waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
  }

  fs::path directory_;
};

using Names = std::vector<std::string>;

TEST_F(FileTest, MapsBytesAndStaysPutWhenMoved) {
  put("a", "hello");
  MappedFile a = MappedFile::open(path("a"));
  EXPECT_EQ(text_of(a.bytes()), "hello");
  const std::byte* const at = a.bytes().data();
  MappedFile b = std::move(a);
  EXPECT_EQ(b.bytes().data(), at);
  EXPECT_EQ(b.path(), path("a"));
  put("c", "other");
  MappedFile c = MappedFile::open(path("c"));
  c = std::move(b);
  EXPECT_EQ(text_of(c.bytes()), "hello");
}

TEST_F(FileTest, EmptyFileHasNoBytes) {
  put("empty", "");
  EXPECT_TRUE(MappedFile::open(path("empty")).bytes().empty());
  EXPECT_EQ(read("empty"), "");
}

TEST_F(FileTest, AMapKeepsItsBytesWhenTheFileIsReplaced) {
  put("a", "old");
  const MappedFile a = MappedFile::open(path("a"));
  write_file_atomic(path("a"), "new!");
  EXPECT_EQ(text_of(a.bytes()), "old");
  EXPECT_EQ(read("a"), "new!");
}

TEST_F(FileTest, MissingFileNamesTheNearest) {
  put("config.json", "{}");
  EXPECT_EQ(error_of([&] { MappedFile::open(path("confg.json")); }),
            path("confg.json") + ": cannot open it: No such file or directory; did you mean config.json?");
  EXPECT_EQ(error_of([&] { read("nowhere/x"); }), path("nowhere/x") +
                                                      ": cannot open it: No such file or directory; the directory " +
                                                      path("nowhere") + " does not exist");
  EXPECT_NE(error_of([&] { read("config.json/x"); }).find("Not a directory"), std::string::npos);
}

TEST_F(FileTest, OnlyRegularFilesAndNeverAWait) {
  fs::create_directory(path("dir"));
  ASSERT_EQ(::mkfifo(path("fifo").c_str(), 0600), 0);
  for (const auto& open : {std::function([&](const std::string& p) { MappedFile::open(p); }),
                           std::function([&](const std::string& p) { read_text(p, 10); }),
                           std::function([&](const std::string& p) { AtomicFile file(p); })}) {
    EXPECT_EQ(error_of([&] { open(path("dir")); }), path("dir") + ": expected a regular file, got a directory");
    EXPECT_EQ(error_of([&] { open(path("fifo")); }), path("fifo") + ": expected a regular file, got a pipe (FIFO)");
    EXPECT_EQ(error_of([&] { open("/dev/null"); }), "/dev/null: expected a regular file, got a device");
    EXPECT_NE(error_of([&] { open(""); }), "");
    EXPECT_NE(error_of([&] { open(std::string("a\0b", 3)); }).find("NUL"), std::string::npos);
  }
  EXPECT_EQ(list(), (Names{"dir", "fifo"}));
}

TEST_F(FileTest, ReadTextRefusesWhatIsTooLong) {
  put("a", std::string(1000, 'x'));
  EXPECT_EQ(read_text(path("a"), 1000).size(), 1000u);
  EXPECT_EQ(error_of([&] { read_text(path("a"), 999); }),
            path("a") + ": has 1000 bytes, at most 999 are allowed for such a file; check that it is the right file");
  // Files whose size the system does not report are read to their end, within the limit.
  EXPECT_GT(read_text("/proc/self/status", 1 << 20).size(), 100u);
  EXPECT_NE(error_of([&] { read_text("/proc/self/status", 100); }), "");
}

TEST_F(FileTest, ReadTextAtEverySizeAroundItsSteps) {
  for (const std::size_t n : {1u, 4095u, 4096u, 4097u, 8192u, 100'000u}) {
    const std::string text(n, 'a' + n % 26);
    write_file_atomic(path("a"), text);
    EXPECT_EQ(read_text(path("a"), n), text);
  }
}

TEST_F(FileTest, AtomicFileIsInvisibleUntilCommitted) {
  put("a", "old");
  {
    AtomicFile file(path("a"));
    file.write("new ");
    EXPECT_EQ(read("a"), "old");
    file.write(std::string(200'000, 'x'));  // larger than any buffer
    file.write("end");
    EXPECT_EQ(file.size(), 200'007u);
    EXPECT_EQ(read("a"), "old");
    file.commit();
    EXPECT_EQ(read("a"), "new " + std::string(200'000, 'x') + "end");
    EXPECT_THROW(file.write("more"), Error);
    EXPECT_THROW(file.commit(), Error);
  }
  EXPECT_EQ(list(), Names{"a"});
}

TEST_F(FileTest, WithoutCommitNothingRemains) {
  put("a", "old");
  {
    AtomicFile file(path("a")), fresh(path("b"));
    file.write(std::string(100'000, 'x'));
    fresh.write("x");
  }
  EXPECT_EQ(list(), Names{"a"});
  EXPECT_EQ(read("a"), "old");
}

TEST_F(FileTest, WritesOfEverySizeArriveInOrder) {
  std::string expected;
  AtomicFile file(path("a"));
  for (std::size_t n = 0; expected.size() < 600'000; n = n * 5 / 3 + 1) {
    const std::string piece(n, static_cast<char>('a' + n % 23));
    file.write(piece);
    expected += piece;
  }
  file.commit();
  EXPECT_EQ(read("a"), expected);
}

TEST_F(FileTest, PermissionsOfAReplacedFileStay) {
  put("a", "secret");
  ASSERT_EQ(::chmod(path("a").c_str(), 0600), 0);
  write_file_atomic(path("a"), "new secret");
  struct stat status {};
  ASSERT_EQ(::stat(path("a").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0600u);
}

TEST_F(FileTest, ALinkIsReplacedAndItsTargetKept) {
  put("target", "precious");
  fs::create_symlink(path("target"), path("link"));
  write_file_atomic(path("link"), "new");
  EXPECT_EQ(read("target"), "precious");
  EXPECT_EQ(read("link"), "new");
  EXPECT_FALSE(fs::is_symlink(path("link")));
}

TEST_F(FileTest, LinksLeadToWhatTheyName) {
  put("target", "x");
  fs::create_symlink("target", path("link"));
  fs::create_symlink(path("link"), path("second"));
  fs::create_symlink(path("nothing"), path("dangling"));
  fs::create_symlink(path("loop"), path("loop"));
  EXPECT_EQ(behind_links(path("target")), path("target"));
  EXPECT_EQ(behind_links(path("second")), path("target"));
  EXPECT_EQ(behind_links(path("dangling")), path("nothing"));
  EXPECT_NE(error_of([&] { behind_links(path("loop")); }).find("symbolic links"), std::string::npos);
  EXPECT_NE(error_of([&] { AtomicFile file("/dev/tril_is_no_device"); }).find("device"), std::string::npos);
}

TEST_F(FileTest, ALinkToNothingIsToldAsOne) {
  fs::create_symlink("../gone/blob", path("config.json"));
  fs::create_symlink(path("nowhere"), path("model"));
  for (const auto& open : {std::function([&](const std::string& p) { MappedFile::open(p); }),
                           std::function([&](const std::string& p) { read_text(p, 10); })}) {
    EXPECT_NE(
        error_of([&] { open(path("config.json")); }).find(path("config.json") + " is a dangling link to ../gone/blob"),
        std::string::npos);
    EXPECT_NE(error_of([&] {
                open(path("model/config.json"));
              }).find(path("model") + " is a dangling link to " + path("nowhere")),
              std::string::npos);
  }
  put("a", "x");
  fs::create_symlink("a", path("b"));
  EXPECT_TRUE(is_present(path("a")));
  EXPECT_TRUE(is_present(path("b")));
  EXPECT_TRUE(is_present(directory_.string()));
  EXPECT_FALSE(is_present(path("c")));
  EXPECT_FALSE(is_present(""));
  EXPECT_EQ(error_of([&] { is_present(path("config.json")); }),
            path("config.json") + ": is a dangling link to ../gone/blob; restore its target, or remove the link");
}

TEST_F(FileTest, APointerOfGitLfsIsNotTheFile) {
  const std::string pointer =
      "version https://git-lfs.github.com/spec/v1\n"
      "oid sha256:e858f591abebb789508f8fa4f1982bb7c818d8f711050f24d6e27a66fd6794d0\nsize 10031780704\n";
  for (const std::string& text : {pointer, pointer.substr(0, pointer.size() - 1), pointer + "ext x y\n"}) {
    put("model.safetensors", text);
    const std::string expected = path("model.safetensors") +
                                 ": is a Git LFS pointer: the file itself (10031780704 bytes) was not fetched; run "
                                 "`git lfs pull` in " +
                                 directory_.string();
    EXPECT_EQ(error_of([&] { MappedFile::open(path("model.safetensors")); }), expected);
    EXPECT_EQ(error_of([&] { read_text(path("model.safetensors"), 1000); }), expected);
  }
  // Texts about pointers, and longer texts, are ordinary files.
  for (const std::string& text : {pointer.substr(0, 43), "x" + pointer, pointer.substr(0, pointer.find("size")),
                                  pointer.substr(0, pointer.find("1003")), pointer + std::string(1000, 'x')}) {
    put("a", text);
    EXPECT_EQ(read("a"), text);
    EXPECT_EQ(text_of(MappedFile::open(path("a")).bytes()), text);
  }
}

TEST_F(FileTest, TwoWritersOfOnePathDoNotMeet) {
  AtomicFile a(path("x")), b(path("x"));
  EXPECT_NE(a.temporary_path(), b.temporary_path());
  a.write("first");
  b.write("second");
  b.commit();
  EXPECT_EQ(read("x"), "second");
  a.commit();
  EXPECT_EQ(read("x"), "first");
}

TEST_F(FileTest, KilledBeforeTheRenameLeavesTheOldFileAndTheNextWriterClearsUp) {
  put("a", "old");
  put("a.tmp-backup", "not ours");
  const int status = in_child([&] {
    AtomicFile file(path("a"));
    file.write(std::string(200'000, 'x'));
    ::kill(::getpid(), SIGKILL);
    return 0;
  });
  EXPECT_EQ(status, -SIGKILL);
  EXPECT_EQ(read("a"), "old");
  EXPECT_EQ(list().size(), 3u);  // a, the dead writer's leftover, and a.tmp-backup
  { AtomicFile elsewhere(path("b")); }
  EXPECT_EQ(list().size(), 3u);
  {
    AtomicFile file(path("a"));
    EXPECT_EQ(list().size(), 3u);  // the dead writer's file is gone, this one's exists
  }
  EXPECT_EQ(list(), (Names{"a", "a.tmp-backup"}));
  EXPECT_EQ(read("a"), "old");
}

TEST_F(FileTest, ExitBeforeCommitLeavesTheOldFile) {
  put("a", "old");
  EXPECT_EQ(in_child([&] {
              auto* const file = new AtomicFile(path("a"));  // no destructor runs
              file->write("half of the n");
              ::_exit(7);
              return 0;
            }),
            7);
  EXPECT_EQ(read("a"), "old");
}

TEST_F(FileTest, DirectoriesAreMadeOrTheObstacleNamed) {
  create_directories(path("a/b/c"));
  EXPECT_TRUE(fs::is_directory(path("a/b/c")));
  EXPECT_NO_THROW(create_directories(path("a/b/c")));
  EXPECT_NO_THROW(create_directories(path("a/b/d/")));
  EXPECT_TRUE(fs::is_directory(path("a/b/d")));
  put("file", "");
  EXPECT_NE(error_of([&] { create_directories(path("file")); }).find("expected a directory, got a file"),
            std::string::npos);
  EXPECT_NE(error_of([&] { create_directories(path("file/x")); }).find("Not a directory"), std::string::npos);
  EXPECT_THROW(create_directories(""), Error);
}

TEST_F(FileTest, RenameReplacesAndSaysWhyNot) {
  put("a", "1");
  put("b", "2");
  rename_durably(path("a"), path("b"));
  EXPECT_EQ(list(), Names{"b"});
  EXPECT_EQ(read("b"), "1");
  create_directories(path("d/e"));
  create_directories(path("f/g"));
  EXPECT_NE(error_of([&] { rename_durably(path("d"), path("f")); }).find("not empty"), std::string::npos);
  rename_durably(path("d/e/"), path("moved/"));
  EXPECT_TRUE(fs::is_directory(path("moved")));
  EXPECT_NE(error_of([&] { rename_durably(path("none"), path("x")); }).find("No such file"), std::string::npos);
}

TEST_F(FileTest, MissingOrForbiddenDirectoryIsNamed) {
  EXPECT_EQ(error_of([&] { AtomicFile file(path("no/x")); }).find(path("no/x") + ": cannot create "), 0u);
  EXPECT_NE(error_of([&] { AtomicFile file(path("no/x")); }).find("the directory " + path("no") + " does not exist"),
            std::string::npos);
  EXPECT_NE(error_of([&] { AtomicFile file(path(std::string(300, 'n'))); }).find("File name too long"),
            std::string::npos);
}

TEST_F(FileTest, NoPermission) {
  put("secret", "x");
  fs::create_directory(path("closed"));
  fs::permissions(path("secret"), fs::perms::none);
  fs::permissions(path("closed"), fs::perms::owner_read | fs::perms::owner_exec);
  // Root may write anywhere: then a child process drops its rights first.
  const auto look = [&]() -> int {
    if (::geteuid() == 0) {
      fs::permissions(directory_, fs::perms::all);
      if (::setgid(65534) != 0 || ::setuid(65534) != 0) return 77;
    }
    const std::string reading = error_of([&] { read("secret"); }),
                      writing = error_of([&] { AtomicFile f(path("closed/x")); }),
                      making = error_of([&] { create_directories(path("closed/d")); });
    for (const std::string& text : {reading, writing, making})
      if (text.find("Permission denied") == text.npos || text.find("check the permissions") == text.npos) return 1;
    return 0;
  };
  const int status = in_child(look);
  fs::permissions(path("closed"), fs::perms::owner_all);
  if (status == 77) GTEST_SKIP() << "cannot give up root's rights here";
  EXPECT_EQ(status, 0);
}

TEST_F(FileTest, AFullDeviceSaysHowMuchWasLeft) {
  const int full = ::open("/dev/full", O_WRONLY | O_CLOEXEC);
  if (full < 0) GTEST_SKIP() << "no /dev/full here";
  const std::string text(1000, 'x');
  const std::string error =
      error_of([&] { detail::write_all(full, std::as_bytes(std::span(text)), "model.safetensors", 24); });
  ::close(full);
  EXPECT_EQ(error.find("model.safetensors: cannot write 1000 bytes after the first 24: No space left on device"), 0u)
      << error;
  EXPECT_NE(error.find("free some space there"), std::string::npos) << error;
}

TEST_F(FileTest, AFileSizeLimitIsAnErrorAndNothingRemains) {
  put("a", "old");
  const int status = in_child([&] {
    ::signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{150'000, 150'000};
    ::setrlimit(RLIMIT_FSIZE, &limit);
    const std::string error = error_of([&] { write_file_atomic(path("a"), std::string(200'000, 'x')); });
    return error.find("cannot write 50000 bytes after the first 150000: File too large") != error.npos ? 0 : 1;
  });
  EXPECT_EQ(status, 0);
  EXPECT_EQ(read("a"), "old");
  EXPECT_EQ(list(), Names{"a"});
}

TEST_F(FileTest, AFullDiskLosesNothing) {
  fs::create_directory(path("disk"));
  if (::mount("tmpfs", path("disk").c_str(), "tmpfs", 0, "size=256k") != 0)
    GTEST_SKIP() << "may not mount a small tmpfs here";
  struct Unmount {
    std::string path;
    ~Unmount() { ::umount2(path.c_str(), MNT_DETACH); }
  } unmount{path("disk")};
  write_file_atomic(path("disk/a"), "old");
  const std::string error = error_of([&] {
    AtomicFile file(path("disk/a"));
    for (int i = 0; i < 100; ++i) file.write(std::string(10'000, 'x'));
    file.commit();
  });
  EXPECT_NE(error.find("No space left on device (the file system has 0.0 of 0.2 MiB left); free some space"),
            std::string::npos)
      << error;
  EXPECT_EQ(read("disk/a"), "old");
  EXPECT_NO_THROW(write_file_atomic(path("disk/a"), std::string(100'000, 'y')));  // the space is free again
}

}  // namespace
}  // namespace tril::file_test
