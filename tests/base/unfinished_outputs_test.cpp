// What a signal removes: temporary files and directories, and nothing that is at its place.
#include "base/unfinished_outputs.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "base/atomic_directory.h"
#include "base/file.h"
#include "support/run_program.h"

namespace tril::unfinished_outputs_test {
namespace {

// In a process of its own, which ends without destructors, as after a signal: nothing can be written after the removal.
void in_child(const std::function<void()>& work) {
  const pid_t child = fork();
  if (child == 0) {
    try {
      work();
      remove_unfinished_outputs();
      _exit(0);
    } catch (...) {
      _exit(1);
    }
  }
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

std::vector<std::string> names_in(const std::string& folder) {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(folder))
    names.push_back(entry.path().filename().string());
  return names;
}

TEST(UnfinishedOutputs, AreRemoved) {
  const ScratchFolder folder;
  in_child([&] {
    auto* const file = new AtomicFile(folder.at("file"));
    file->write(std::string(100'000, 'x'));
    write_file_atomic(folder.at("whole"), "text");
  });
  EXPECT_EQ(names_in(folder.at("")), std::vector<std::string>{"whole"});
}

TEST(UnfinishedOutputs, AreRemovedWithTheirDirectory) {
  const ScratchFolder folder;
  in_child([&] {
    write_directory(folder.at("whole"), "", [](const std::string& at) { write_file_atomic(at + "/a", "text"); });
    write_directory(folder.at("begun"), "", [](const std::string& at) {
      write_file_atomic(at + "/a", "text");
      auto* const file = new AtomicFile(at + "/b");
      file->write(std::string(100'000, 'x'));
      remove_unfinished_outputs();
      _exit(0);
    });
  });
  EXPECT_EQ(names_in(folder.at("")), std::vector<std::string>{"whole"});
  EXPECT_EQ(names_in(folder.at("whole")), std::vector<std::string>{"a"});
}

// A file that failed, or that its writer gave up, is nobody's any more: another file of that name stays.
TEST(UnfinishedOutputs, AreForgottenWithTheirWriter) {
  const ScratchFolder folder;
  in_child([&] {
    std::string temporary;
    {
      AtomicFile file(folder.at("file"));
      file.write(std::string("text"));
      temporary = file.temporary_path();
    }
    write_file_atomic(temporary, "another's");
  });
  EXPECT_EQ(names_in(folder.at("")).size(), 1u);
}

}  // namespace
}  // namespace tril::unfinished_outputs_test
