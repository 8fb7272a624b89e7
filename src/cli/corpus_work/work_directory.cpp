#include "cli/corpus_work/work_directory.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <filesystem>
#include <map>
#include <string_view>
#include <system_error>
#include <thread>

#include "base/error.h"
#include "base/file.h"
#include "base/number_text.h"
#include "base/printable.h"
#include "base/progress.h"

namespace tril::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::chrono::milliseconds between_looks{200};
constexpr std::int64_t most_blocks = 100'000;
constexpr std::int64_t whole = 0, present = 1, first_block = 2;  // lock numbers
constexpr std::string_view ended = "ended-";

bool is_there(const std::string& path) {
  std::error_code problem;
  return fs::exists(path, problem);
}

}  // namespace

WorkDirectory::WorkDirectory(WorkPlan plan, const std::stop_token& stop) : plan_(std::move(plan)) {
  enter(stop);
  done_.assign(manifest_.blocks.size(), false);
}

void WorkDirectory::enter(const std::stop_token& stop) {
  for (;;) {
    create_directories(plan_.directory);
    check_nothing_else_there();
    state_.emplace(plan_.directory + "/state");
    const auto lock = lock_whole(stop);
    if (!lock) return;
    if (!state_->is_there()) continue;  // another process has just finished and removed the directory
    presence_.emplace(*state_->try_share(present));
    return make_or_join(stop);
  }
}

// Refuses a directory that already has other contents.
void WorkDirectory::check_nothing_else_there() const {
  if (is_there(plan_.directory + "/state")) return;
  std::error_code problem;
  for (fs::directory_iterator entry(plan_.directory, problem); !problem && entry != fs::directory_iterator();
       entry.increment(problem)) {
    const std::string name = entry->path().filename().string();
    if (name == "state" || name.starts_with("manifest.json") || name == "blocks") continue;  // of a faster process
    fail("--work-dir",
         fmt::format("{} is neither empty nor a work directory of tril translate: it contains {}", plan_.directory,
                     name),
         "pass a separate directory");
  }
}

std::optional<LockFile::Lock> WorkDirectory::lock_whole(const std::stop_token& stop) {
  while (!stop.stop_requested()) {
    if (auto lock = state_->try_lock(whole)) return lock;
    std::this_thread::sleep_for(between_looks);
  }
  return std::nullopt;
}

void WorkDirectory::make_or_join(const std::stop_token& stop) {
  manifest_ = {.input = printable(plan_.input),
               .output = plan_.output.empty() ? "" : printable(fs::absolute(plan_.output).lexically_normal().string()),
               .options = plan_.options,
               .contents = plan_.contents,
               .blocks = {},
               .prefixes = {}};
  const auto name_file = [&](const char* name, const std::string& path) {
    manifest_.contents.emplace_back(name, file_fingerprint(path));
  };
  name_file("input", plan_.input);
  if (plan_.target_prefix) name_file("target-prefix", *plan_.target_prefix);

  const std::string path = plan_.directory + "/manifest.json";
  if (state_->word().empty()) return make_manifest(stop);
  WorkManifest was = read_work_manifest(path);
  check_same_work(was, manifest_, plan_.directory);
  if (plan_.block_lines && was.blocks.size() > 1 && was.blocks[0].lines != *plan_.block_lines)
    fail_usage("--block-lines", fmt::format("the work in {} was started with {}", plan_.directory, was.blocks[0].lines),
               "leave it out, or pass another --work-dir");
  manifest_ = std::move(was);
}

void WorkDirectory::make_manifest(const std::stop_token& stop) {
  const ReadOptions options{.skip_invalid = plan_.skip_invalid, .refuse_empty = false};
  const auto stopped = [&] { return stop.stop_requested(); };
  const std::int64_t lines_each = plan_.block_lines.value_or(10'000);
  manifest_.blocks = find_blocks(plan_.input, lines_each, options, stopped);
  if (std::ssize(manifest_.blocks) > most_blocks)
    fail_usage("--block-lines",
               fmt::format("{} lines make {} blocks, but at most {} are supported", format_count(manifest_.lines()),
                           format_count(std::ssize(manifest_.blocks)), format_count(most_blocks)),
               fmt::format("pass {} or more", manifest_.lines() / most_blocks + 1));
  if (plan_.target_prefix) {
    manifest_.prefixes = find_blocks(*plan_.target_prefix, lines_each, {.refuse_empty = false}, stopped);
    const auto lines = [](const std::vector<TextBlock>& blocks) {
      return blocks.empty() ? 0 : blocks.back().first + blocks.back().lines;
    };
    if (!stop.stop_requested())
      check(lines(manifest_.prefixes) == manifest_.lines(), *plan_.target_prefix, "has {}, but the text has {}",
            counted(lines(manifest_.prefixes), "line"), manifest_.lines());
  }
  if (stop.stop_requested()) return manifest_.blocks.clear();  // an incomplete plan is discarded
  create_directories(plan_.directory + "/blocks");
  write_file_atomic(plan_.directory + "/manifest.json", to_json(manifest_));
  state_->set_word("planned");
}

std::optional<WorkDirectory::Claim> WorkDirectory::claim(const std::stop_token& stop) {
  while (!stop.stop_requested()) {
    bool waits = false;
    for (std::size_t b = first_open_; b < done_.size(); ++b) {
      if (done_[b]) continue;
      auto lock = state_->try_lock(first_block + static_cast<std::int64_t>(b));
      if (!lock) {
        waits = true;
        continue;
      }
      // Checked under the lock: its last owner may have done the block, or even moved it into the output.
      if (is_done(b))
        done_[b] = true;
      else
        return Claim{b, std::move(*lock)};
    }
    while (first_open_ < done_.size() && done_[first_open_]) ++first_open_;
    if (!waits) return std::nullopt;
    std::this_thread::sleep_for(between_looks);
  }
  return std::nullopt;
}

bool WorkDirectory::is_done(std::size_t block) const {
  return state_->word() == "done" || is_there(path_of(block));
}

bool WorkDirectory::assemble(const std::stop_token& stop) {
  const auto lock = lock_whole(stop);
  if (!lock) return false;
  if (state_->word() == "done") {
    if (plan_.output.empty())
      fail("--keep-blocks",
           fmt::format("the blocks in {} have been joined into {} and removed", plan_.directory, manifest_.output));
    if (!is_there(plan_.output))
      fail(plan_.output, fmt::format("no longer exists, although the work in {} is done", plan_.directory),
           "to translate the text again, remove that directory");
  } else if (!plan_.output.empty()) {
    AtomicFile output(behind_links(plan_.output));  // replaces the file, not a link to it
    for (std::size_t b = 0; b < manifest_.blocks.size(); ++b) {
      if (stop.stop_requested()) return false;
      output.write(MappedFile::open(path_of(b)).bytes());
    }
    output.commit();
    state_->set_word("done");
  }
  if (!plan_.output.empty()) {  // the blocks are in the output, or are leftovers of an ended process
    std::error_code ignored;
    fs::remove_all(plan_.directory + "/blocks", ignored);
  }
  return true;
}

// A process that starts late must find that everything is done, not an empty place where it would start again. So the
// directory stays until all processes of one start have been there and nobody else is in it (for example of an earlier
// start whose launcher was killed).
void WorkDirectory::leave(const dist::Launch& ranks) {
  if (!plan_.temporary) return;
  const auto lock = lock_whole({});
  write_file_atomic(fmt::format("{}/{}{}-{}-{}", plan_.directory, ended, ranks.job, ranks.size, ranks.rank), "");
  std::vector<fs::path> own{plan_.directory + "/manifest.json"};
  std::map<std::string, std::int64_t> through;  // by the identity that processes of one start share
  for (const auto& entry : fs::directory_iterator(plan_.directory)) {
    const std::string name = entry.path().filename().string();
    if (!name.starts_with(ended)) continue;
    own.push_back(entry.path());
    if (name.find(".tmp-") == std::string::npos) ++through[name.substr(0, name.rfind('-'))];
  }
  const auto is_complete = [](const auto& start) { return start.first.ends_with(fmt::format("-{}", start.second)); };
  if (std::none_of(through.begin(), through.end(), is_complete) || !state_->try_lock(present)) return;
  own.emplace_back(plan_.directory + "/state");  // last: it identifies the directory
  std::error_code ignored;                       // foreign files stay, and so does the directory
  for (const fs::path& path : own) fs::remove(path, ignored);
  fs::remove(plan_.directory, ignored);
}

void WorkDirectory::look() {
  std::error_code problem;
  for (fs::directory_iterator entry(plan_.directory + "/blocks", problem);
       !problem && entry != fs::directory_iterator(); entry.increment(problem)) {
    const std::string name = entry->path().filename().string();
    std::size_t block = 0;
    const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), block);
    if (error == std::errc() && end == name.data() + name.size() && block < done_.size()) done_[block] = true;
  }
}

std::int64_t WorkDirectory::lines_done() {
  look();
  std::int64_t lines = 0;
  for (std::size_t b = 0; b < done_.size(); ++b) lines += done_[b] ? manifest_.blocks[b].lines : 0;
  return lines;
}

std::int64_t WorkDirectory::blocks_done() {
  look();
  return std::count(done_.begin(), done_.end(), true);
}

}  // namespace tril::cli
