// A directory in which any number of processes translate one text together, a block of lines at a time:
//
//   DIR/manifest.json   what they must agree on, and where blocks begin; made by the first
//   DIR/state           locks: number 0 is for making the manifest and for the end, 1 is shared by all that are at work,
//                       2 + b is for block b; and the word "planned" once there is a manifest, "done" once the output
//                       is there
//   DIR/blocks/000042   the result of a block: written beside, synced, renamed
//   DIR/ended-…         of processes that were started together: this one needs the directory no longer
//
// Whether a block is done is whether its file is there, so that a process may end at any point. Two that do the same block
// (one was cut off from a shared file system, which gave its lock away) put the same file in the same place.
#pragma once

#include <cstdint>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "base/lock_file.h"
#include "cli/corpus_work/work_manifest.h"
#include "dist/launch.h"

namespace tril::cli {

struct WorkPlan {
  std::string directory;
  std::string input;
  std::optional<std::string> target_prefix;
  std::string output;                       ///< "": blocks are the result
  std::optional<std::int64_t> block_lines;  ///< of new work; none: 10,000
  bool skip_invalid = false;
  bool temporary = false;  ///< the directory goes when all that were started together are through
  std::vector<std::pair<std::string, std::string>> options, contents;
};

class WorkDirectory {
 public:
  /// Makes the directory, or joins the work in it. @throws Error where that is other work
  WorkDirectory(WorkPlan plan, const std::stop_token& stop);

  struct Claim {
    std::size_t block;
    LockFile::Lock lock;
  };
  /// A block that nobody does and that is not done, which is this process's as long as the claim lives. Waits while all that is left is
  /// being done by others. Nothing once all are done, or `stop` asks for it.
  std::optional<Claim> claim(const std::stop_token& stop);

  /// Puts the output together, unless somebody else did, and waits where somebody else does.
  /// @return false where `stop` asked for the end first
  bool assemble(const std::stop_token& stop);
  /// This process is through. The last of those that were started together removes a temporary directory.
  void leave(const dist::Launch& ranks);

  const WorkManifest& manifest() const { return manifest_; }
  std::string path_of(std::size_t block) const { return plan_.directory + "/" + block_file(block); }
  /// Whether somebody did the block.
  bool is_done(std::size_t block) const;
  /// Looks at what all processes have done by now.
  std::int64_t lines_done();
  std::int64_t blocks_done();

 private:
  std::optional<LockFile::Lock> lock_whole(const std::stop_token& stop);
  void enter(const std::stop_token& stop);
  void make_or_join(const std::stop_token& stop);
  void check_nothing_else_there() const;
  void make_manifest(const std::stop_token& stop);
  void look();

  WorkPlan plan_;
  std::optional<LockFile> state_;
  std::optional<LockFile::Lock> presence_;
  WorkManifest manifest_;
  std::vector<bool> done_;
  std::size_t first_open_ = 0;  ///< all blocks before it are done
};

}  // namespace tril::cli
