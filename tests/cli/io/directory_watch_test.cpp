// Files of a watched directory are reported when they are complete, and again when they change.
#include "cli/io/directory_watch.h"

#include <gtest/gtest.h>

#include <fstream>
#include <thread>

#include "support/run_program.h"

namespace tril::cli::directory_watch_test {
namespace {

using std::chrono::milliseconds;
using Names = std::vector<std::string>;

constexpr milliseconds quiet{300};

class Watch : public ::testing::TestWithParam<DirectoryWatch::By> {
 protected:
  // The names that come within the time; the first that come end it.
  Names next(milliseconds time = milliseconds(5000)) {
    std::stop_source stop;
    std::jthread timer([&](const std::stop_token& ended) {
      for (milliseconds waited{0}; waited < time && !ended.stop_requested(); waited += milliseconds(10))
        std::this_thread::sleep_for(milliseconds(10));
      stop.request_stop();
    });
    return watch.next(stop.get_token());
  }

  ScratchFolder folder;
  std::string before = folder.write("before", "x");
  DirectoryWatch watch{folder.at(""), {.by = GetParam(), .quiet = quiet, .interval = milliseconds(50)}};
};

TEST_P(Watch, FilesAreToldOnceAndAfterAChange) {
  EXPECT_EQ(next(), Names{"before"});
  folder.write("new", "x");
  EXPECT_EQ(next(), Names{"new"});
  EXPECT_EQ(next(3 * quiet), Names{});
  folder.write("new", "changed");
  EXPECT_EQ(next(), Names{"new"});
  const ScratchFolder other;
  std::filesystem::rename(other.write("moved", "x"), folder.at("moved"));
  EXPECT_EQ(next(), Names{"moved"});
  folder.write("empty", "");
  std::filesystem::create_directory(folder.at("directory"));
  EXPECT_EQ(next(3 * quiet), Names{});
}

TEST_P(Watch, AFileBeingWrittenIsWaitedFor) {
  EXPECT_EQ(next(), Names{"before"});
  std::ofstream file(folder.at("slow"));
  std::jthread writer([&] {
    for (int i = 0; i < 8; ++i) {
      file << "line\n" << std::flush;
      std::this_thread::sleep_for(quiet / 3);
    }
    if (GetParam() == DirectoryWatch::By::events) std::this_thread::sleep_for(2 * quiet);  // a pause is no end
    file << "end\n";
    file.close();
  });
  EXPECT_EQ(next(), Names{"slow"});
  EXPECT_EQ(file_text(folder.at("slow")).size(), 44u);
}

TEST_P(Watch, ADirectoryThatIsGoneIsAnError) {
  std::filesystem::remove_all(folder.at(""));
  EXPECT_THROW(next(), std::exception);
}

INSTANTIATE_TEST_SUITE_P(By, Watch, ::testing::Values(DirectoryWatch::By::events, DirectoryWatch::By::polling),
                         [](const auto& by) { return by.param == DirectoryWatch::By::events ? "events" : "polling"; });

}  // namespace
}  // namespace tril::cli::directory_watch_test
