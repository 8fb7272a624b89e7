#include "base/unfinished_outputs.h"

#include <filesystem>
#include <mutex>
#include <set>
#include <system_error>

namespace tril {
namespace {

struct List {
  std::mutex mutex;
  std::set<std::string> paths;
};

// Never destroyed: a signal may come while the program exits.
List& list() {
  static List& all = *new List;
  return all;
}

}  // namespace

void add_unfinished_output(const std::string& temporary) {
  const std::lock_guard lock(list().mutex);
  list().paths.insert(temporary);
}

void finish_output(const std::string& temporary, const std::function<void()>& action) {
  const std::lock_guard lock(list().mutex);
  action();
  list().paths.erase(temporary);
}

void remove_unfinished_outputs() {
  list().mutex.lock();  // and never unlocked: nothing is renamed that has been removed
  for (const std::string& path : list().paths) {
    std::error_code ignored;
    std::filesystem::remove_all(path, ignored);
  }
}

}  // namespace tril
