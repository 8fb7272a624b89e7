// Directories that are written atomically.
#include "base/atomic_directory.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <set>

#include "base/error.h"
#include "base/file.h"

namespace tril {
namespace {

namespace fs = std::filesystem;
using FileNames = std::set<std::string>;

class AtomicDirectory : public ::testing::Test {
 protected:
  AtomicDirectory() {
    std::string name = (fs::temp_directory_path() / "tril-directory-XXXXXX").string();
    folder_ = ::mkdtemp(name.data());
  }
  ~AtomicDirectory() override { fs::remove_all(folder_); }

  std::string path(const std::string& name) const { return (folder_ / name).string(); }
  FileNames list(const std::string& name = "") const {
    FileNames names;
    for (const fs::directory_entry& entry : fs::directory_iterator(folder_ / name))
      names.insert(entry.path().filename().string());
    return names;
  }
  static void put(const std::string& file, const std::string& text) { std::ofstream(file) << text; }

 private:
  fs::path folder_;
};

TEST_F(AtomicDirectory, IsThereOnceItIsWhole) {
  write_directory(path("a/new/"), "config.json", [&](const std::string& beside) {
    EXPECT_FALSE(fs::exists(path("a/new")));
    put(beside + "/config.json", "{}");
    create_directories(beside + "/inner");
    put(beside + "/inner/x", "1");
  });
  EXPECT_EQ(list("a"), FileNames{"new"});
  EXPECT_EQ(list("a/new"), (FileNames{"config.json", "inner"}));
  EXPECT_EQ(read_text(path("a/new/inner/x"), 10), "1");
}

TEST_F(AtomicDirectory, WhatFailsLeavesNothingAndNamesThePath) {
  create_directories(path("old"));
  put(path("old/notes"), "mine");
  for (const char* name : {"new", "old"}) {
    try {
      write_directory(path(name), "config.json", [&](const std::string& beside) {
        put(beside + "/notes", "other");
        put(beside + "/config.json", "{}");
        fail(beside + "/model.safetensors", "the disk is full", "look at " + beside);
      });
      ADD_FAILURE() << "written";
    } catch (const Error& error) {
      const std::string at = path(name);
      EXPECT_EQ(error.what(), at + "/model.safetensors: the disk is full; look at " + at);
      EXPECT_EQ(error.where(), at + "/model.safetensors");
    }
  }
  EXPECT_EQ(list(), FileNames{"old"});
  EXPECT_EQ(list("old"), FileNames{"notes"});
  EXPECT_EQ(read_text(path("old/notes"), 10), "mine");
}

TEST_F(AtomicDirectory, WhatIsThereStaysBeside) {
  create_directories(path("old"));
  put(path("old/notes"), "mine");
  put(path("old/vocab.json"), "before");
  fs::create_directory_symlink("old", path("link"));
  write_directory(path("link"), "config.json", [](const std::string& beside) {
    put(beside + "/vocab.json", "after");
    put(beside + "/config.json", "{}");
  });
  EXPECT_EQ(list(), (FileNames{"link", "old"}));
  EXPECT_EQ(list("old"), (FileNames{"config.json", "notes", "vocab.json"}));
  EXPECT_EQ(read_text(path("old/vocab.json"), 10), "after");
  create_directories(path("empty"));  // the path is kept: it may be on another disk
  struct stat before {
  }, after{};
  ASSERT_EQ(::stat(path("empty").c_str(), &before), 0);
  write_directory(path("empty"), "config.json", [&](const std::string& beside) {
    EXPECT_TRUE(beside.starts_with(path("empty") + "/"));
    put(beside + "/config.json", "{}");
  });
  ASSERT_EQ(::stat(path("empty").c_str(), &after), 0);
  EXPECT_EQ(before.st_ino, after.st_ino);
  EXPECT_EQ(list("empty"), FileNames{"config.json"});
  put(path("file"), "");
  EXPECT_THROW(write_directory(path("file"), "config.json", [](const std::string&) {}), Error);
}

TEST_F(AtomicDirectory, TheNextOneClearsUpBehindTheKilled) {
  const pid_t child = ::fork();
  if (child == 0)
    write_directory(path("new"), "config.json", [](const std::string& beside) {
      put(beside + "/config.json", "{}");
      ::_exit(0);
    });
  int status = 0;
  ::waitpid(child, &status, 0);
  EXPECT_EQ(list().size(), 1u);
  EXPECT_FALSE(fs::exists(path("new")));
  write_directory(path("new"), "config.json", [&](const std::string& beside) {
    EXPECT_EQ(list().size(), 1u);
    // A write in progress is left alone.
    write_directory(path("new"), "config.json", [](const std::string& other) { put(other + "/a", "1"); });
    put(beside + "/config.json", "{}");
  });
  EXPECT_EQ(list(), FileNames{"new"});
  EXPECT_EQ(list("new"), (FileNames{"a", "config.json"}));
}

TEST_F(AtomicDirectory, WhatOthersCalledAlikeStays) {
  for (const char* name : {"new.tmp-2024-01", "new.tmp-1", "new.old"}) create_directories(path(name));
  write_directory(path("new"), "config.json", [](const std::string& beside) { put(beside + "/config.json", "{}"); });
  EXPECT_EQ(list(), (FileNames{"new", "new.tmp-2024-01", "new.tmp-1", "new.old"}));
}

}  // namespace
}  // namespace tril
