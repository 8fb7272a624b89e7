// A directory in which any number of processes translate one text together, in blocks of lines:
//
//   DIR/manifest.json   the options and files that must be the same, and where blocks begin; written by the first
//   DIR/state           locks: 0 for writing the manifest and for the end, 1 shared by all processes at work, 2 + b
//                       for block b; and the word "planned" once there is a manifest, "done" once the output exists
//   DIR/blocks/000042   the result of a block: written to a temporary file, synced, renamed
//   DIR/ended-…         of processes that were started together: this one no longer needs the directory
//
// A block is done if its file exists, so a process may end at any point. If two do the same block (one lost its
// connection to a shared file system, which released its lock), both write the same file.
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
  std::string output;                       ///< "": the blocks are the result
  std::optional<std::int64_t> block_lines;  ///< for new work; none: 10,000
  bool skip_invalid = false;
  bool temporary = false;  ///< removed when all processes that were started together have finished
  std::vector<std::pair<std::string, std::string>> options, contents;
};

class WorkDirectory {
 public:
  /// Creates the directory, or joins the work in it. @throws Error if that is other work
  WorkDirectory(WorkPlan plan, const std::stop_token& stop);

  struct Claim {
    std::size_t block;
    LockFile::Lock lock;
  };
  /// Claims a block that is neither done nor claimed, for the lifetime of the claim. Waits while other processes
  /// translate the last blocks. Nothing once all are done, or if `stop` is requested.
  std::optional<Claim> claim(const std::stop_token& stop);

  /// Assembles the output, unless another process did; waits while another does.
  /// @return false if `stop` was requested first
  bool assemble(const std::stop_token& stop);
  /// Ends this process's work. The last of those that were started together removes a temporary directory.
  void leave(const dist::Launch& ranks);

  const WorkManifest& manifest() const { return manifest_; }
  std::string path_of(std::size_t block) const { return plan_.directory + "/" + block_file(block); }
  /// Whether the block is done.
  bool is_done(std::size_t block) const;
  /// Lines that all processes have done by now.
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
