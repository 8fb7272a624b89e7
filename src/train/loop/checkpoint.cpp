#include "train/loop/checkpoint.h"

#include <fcntl.h>
#include <spdlog/spdlog.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <sstream>
#include <thread>
#include <utility>

#include "base/as_size.h"
#include "base/error.h"
#include "base/file.h"
#include "base/hash.h"
#include "format/safetensors.h"
#include "format/safetensors_write.h"
#include "train/loop/state_json.h"
#include "train/optim/averaging.h"
#include "train/optim/stored_values.h"

namespace tril::train {
namespace {

namespace fs = std::filesystem;

std::string name_of(std::int64_t update) {
  return fmt::format("state-{:08}", update);
}

// A hash of the names and shapes of the weights, in order: the layout of the flat block.
std::string layout_of(const nn::Parameters& parameters) {
  Hash hash;
  for (const nn::Parameter& p : parameters.all()) hash.add(p.name).add(p.shape.text()).add(";");
  return fmt::format("{:016x}", hash.value());
}

// "moments-1-of-4.safetensors": the file of rank 1 of 4.
std::string moments_file(int rank, int ranks) {
  return fmt::format("moments-{}-of-{}.safetensors", rank, ranks);
}

// The values of a tensor in a file, as begin and count: "0:4096 8192:4096".
std::string text_of(const std::vector<StateSlice>& slices, const std::string& tensor) {
  std::string text;
  for (const StateSlice& s : slices)
    if (s.tensor == tensor) text += fmt::format("{}{}:{}", text.empty() ? "" : " ", s.begin, s.count);
  return text;
}

std::vector<Interval> intervals_in(const std::string& path, const std::string& text) {
  std::vector<Interval> list;
  std::istringstream words(text);
  char colon = 0;
  for (Interval i; words >> i.begin >> colon >> i.count;) {
    if (colon != ':') break;
    list.push_back(i);
  }
  if (!words.eof()) fail(path, "expected places such as 0:4096, got \"" + text + "\"");
  return list;
}

SafetensorsFile open_state(const std::string& path, const std::string& layout) {
  SafetensorsFile file = SafetensorsFile::open(path);
  const std::string* stored_layout = file.find_metadata("layout");
  if (!stored_layout || *stored_layout != layout)
    fail(path, "the names or sizes of its weights differ from the model's",
         "pass the options that the run was started with, or `overwrite`");
  return file;
}

StoredType stored_type(const Tensor& t) {
  return t.dtype() == DType::u8 ? StoredType::u8 : StoredType::f32;
}

const WeightView& values_of(const SafetensorsFile& file, const std::string& path, const NamedTensor& t,
                            const std::vector<Interval>& stretches) {
  const WeightView& stored = file.at(t.name);
  std::vector<std::size_t> counts;
  std::int64_t count = 0;
  for (const Interval& i : stretches) counts.push_back(i.count), count += static_cast<std::int64_t>(i.count);
  if (stored.elements() != count || stored.dtype != stored_type(t.value))
    fail(path, fmt::format("{} has {} values of type {}, the model needs {} of type {}", t.name, stored.elements(),
                           tril::name_of(stored.dtype), count, tril::name_of(stored_type(t.value))));
  check_values(file, t.name, counts);
  return stored;
}

// Copies this rank's values out of `stored`, which holds the tensor's values `places`, concatenated. @return their number
template <class T>
std::size_t take_over(Tensor to, std::span<const T> stored, const std::vector<Interval>& places,
                      const std::vector<StateSlice>& own) {
  std::size_t taken = 0, at = 0;
  for (const Interval& i : places) {
    for (const StateSlice& s : own) {
      const std::size_t begin = std::max(i.begin, s.begin), end = std::min(i.begin + i.count, s.begin + s.count);
      if (begin >= end) continue;
      host_write<T>(to.rows(static_cast<std::int64_t>(begin), static_cast<std::int64_t>(end)),
                    stored.subspan(at + begin - i.begin, end - begin));
      taken += end - begin;
    }
    at += i.count;
  }
  return taken;
}

std::size_t take_over(const Tensor& to, const WeightView& stored, const std::vector<Interval>& places,
                      const std::vector<StateSlice>& own) {
  if (to.dtype() == DType::f32) return take_over<float>(to, to_f32(stored), places, own);
  const std::span codes(reinterpret_cast<const std::uint8_t*>(stored.bytes.data()), stored.bytes.size());
  return take_over<std::uint8_t>(to, codes, places, own);
}

// The newest complete checkpoint in `path` before the one of that name; "" if there is none.
std::string state_before(const std::string& path, const std::string& name) {
  std::string before;
  std::error_code ignored;
  for (const fs::directory_entry& entry : fs::directory_iterator(path, ignored)) {
    const std::string other = entry.path().filename().string();
    if (other.starts_with("state-") && !other.ends_with(".new") && other < name) before = std::max(before, other);
  }
  return before;
}

// A damaged checkpoint cannot be repaired, so the error tells how to continue without it. `path` holds the checkpoints;
// the last one is read.
template <class F>
auto read_or_go_on_without(const std::string& path, const std::string& last, F&& read) {
  try {
    return read();
  } catch (const Error& problem) {
    if (problem.hint().find("`overwrite`") != std::string::npos) throw;
    const std::string before = state_before(path, last);
    throw Error(
        ErrorKind::failure, "", problem.what(),
        before.empty()
            ? "pass `overwrite` to start over"
            : fmt::format(
                  "to resume from the previous checkpoint: echo {} > {}/last; or pass `overwrite` to start over",
                  before, path));
  }
}

// The contents of `last` for an abandoned run: only a name, which fits even on a full disk.
constexpr const char* abandoned = "/abandoned";

void remove_tree(const fs::path& path) {
  std::error_code ignored;  // a leftover only takes space; the next save tries again
  fs::remove_all(path, ignored);
}

}  // namespace

CheckpointStore::CheckpointStore(const std::string& directory, std::int64_t keep, std::shared_ptr<dist::Ranks> ranks)
    : path_((fs::path(directory) / "checkpoint").string()), keep_(keep), ranks_(std::move(ranks)) {
  const std::string file = path_ + "/lock";
  ranks_->by_first([&] {
    made_model_directory_ = !fs::exists(directory);
    made_directory_ = !fs::exists(path_);
    create_directories(directory);  // so that an error names the directory given by the user
    create_directories(path_);
    lock(file);
  });
  ranks_->together([&] {
    if (!fs::exists(file))
      fail(directory, ranks_->name_of(ranks_->rank()) + " cannot see what rank 0 has written there",
           "`model` must be on a file system that all machines share");
  });
}

void CheckpointStore::lock(const std::string& file) {
  while (true) {
    lock_ = open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    if (lock_ < 0) fail(file, fmt::format("cannot be opened ({})", std::strerror(errno)), "is the directory writable?");
    if (flock(lock_, LOCK_EX | LOCK_NB) != 0) {
      const int problem = errno;
      if (problem == EWOULDBLOCK) {
        close(std::exchange(lock_, -1));
        made_directory_ = false;  // another process owns it
        fail(fs::path(path_).parent_path().string(), "another process is training in this directory",
             "wait for it, stop it, or choose another `model`");
      }
      spdlog::warn("{}: cannot be locked ({}): make sure that no other process trains in this directory", file,
                   std::strerror(problem));
      return;
    }
    // The previous owner may have removed the lock file on leaving.
    struct stat held {
    }, there{};
    if (fstat(lock_, &held) == 0 && stat(file.c_str(), &there) == 0 && held.st_ino == there.st_ino) return;
    close(std::exchange(lock_, -1));
    create_directories(path_);
  }
}

// A run that was refused before it wrote anything leaves no files: the lock is removed while it is held.
void CheckpointStore::leave_no_trace() {
  std::error_code ignored;
  for (const fs::directory_entry& entry : fs::directory_iterator(path_, ignored))
    if (entry.path().filename() != "lock") return;
  fs::remove(path_ + "/lock", ignored);
  fs::remove(path_, ignored);  // only empty ones
  if (made_model_directory_) fs::remove(fs::path(path_).parent_path(), ignored);
}

std::string CheckpointStore::begun() const {
  return path_ + "/" + name_of(saved_.position.updates) + ".new";
}

CheckpointStore::~CheckpointStore() {
  if (stage_end_.valid()) stage_end_.wait();  // ongoing writes need the lock
  // If an error occurred, unnamed files are left, and other ranks may still be writing into them.
  std::error_code ignored;
  if (stage_ != Stage::none && ranks_->first())
    for (int i = 0; i < 20 && fs::exists(begun(), ignored); ++i) {
      if (i > 0) std::this_thread::sleep_for(std::chrono::milliseconds(20));
      remove_tree(begun());
    }
  if (made_directory_ && lock_ >= 0) leave_no_trace();
  if (lock_ >= 0) close(lock_);
}

std::string CheckpointStore::last() const {
  const std::string file = path_ + "/last";
  if (!fs::exists(file)) return "";
  std::string name = read_text(file, 4096);
  while (!name.empty() && name.back() == '\n') name.pop_back();
  if (!name.starts_with("state-") || name.find('/') != std::string::npos)
    fail(file, "expected the name of a checkpoint, such as state-00001200", "pass `overwrite` to start over");
  return name;
}

bool CheckpointStore::has_state() const {
  return !last().empty() || fs::exists(path_ + abandoned);
}

bool CheckpointStore::has_progress() const {
  const std::string name = last();
  return !name.empty() && (beginning_counts_ || name != name_of(0));
}

void CheckpointStore::abandon() {
  ranks_->by_first([&] {
    if (fs::exists(path_ + "/last")) rename_durably(path_ + "/last", path_ + abandoned);
  });
}

void CheckpointStore::clear() {
  ranks_->by_first([&] { remove_all(); });
}

void CheckpointStore::remove_all() const {
  if (fs::exists(path_ + "/last")) {
    std::error_code problem;
    if (!fs::remove(path_ + "/last", problem)) fail(path_ + "/last", "cannot be removed: " + problem.message());
    sync_directory(path_);
  }
  for (const fs::directory_entry& entry : fs::directory_iterator(path_))
    if (entry.path().filename() != "lock") remove_tree(entry.path());
}

void CheckpointStore::save(const TrainingState& state, const nn::Parameters& parameters, const Optimizer& optimizer) {
  const std::string name = name_of(state.position.updates);
  const bool there = ranks_->broadcast(ranks_->first() ? last() : "") == name;
  if (there) {  // the same update's weights are saved already; later validation results may not be
    ranks_->by_first([&] {
      write_file_atomic(path_ + "/" + name + "/state.json", text_of(state));
      remove_others(state);
    });
    return;
  }
  saved_ = state;
  const std::string beside = begun();
  ranks_->by_first([&] {
    remove_tree(beside);
    remove_tree(path_ + "/" + name);  // left by a process that was killed before `last` named it
    create_directories(beside);
  });
  std::promise<void> read;
  read_ = read.get_future();
  stage_ = Stage::writing;
  stage_end_ =
      std::async(std::launch::async, [this, beside, &parameters, &optimizer, read = std::move(read)]() mutable {
        std::promise<void> local = std::move(read);  // destroyed after this call, so that nobody waits after a failure
        write_own(beside, parameters, optimizer, local);
      });
}

void CheckpointStore::wait_until_read() {
  if (read_.valid()) read_.wait();
}

bool CheckpointStore::is_ready() const {
  return !stage_end_.valid() || stage_end_.wait_for(std::chrono::seconds(0)) == std::future_status::ready;
}

void CheckpointStore::advance() {
  const Stage stage = std::exchange(stage_, Stage::none);
  try {
    ranks_->together([&] {
      if (stage_end_.valid()) stage_end_.get();
    });
  } catch (...) {
    if (ranks_->first()) remove_tree(begun());  // frees space on a full disk
    throw;
  }
  if (stage != Stage::writing) return;
  stage_ = Stage::committing;
  if (ranks_->first()) stage_end_ = std::async(std::launch::async, [this] { commit(); });
}

void CheckpointStore::commit() const {
  const std::string name = name_of(saved_.position.updates);
  write_file_atomic(begun() + "/state.json", text_of(saved_));
  rename_durably(begun(), path_ + "/" + name);
  write_file_atomic(path_ + "/last", name + "\n");
  remove_others(saved_);
}

// Writes this rank's part: the first rank writes the weights, each rank its part of the optimizer state, a single rank
// both in one file. `read` is set when no more memory will be read, or reading has failed.
void CheckpointStore::write_own(const std::string& directory, const nn::Parameters& parameters,
                                const Optimizer& optimizer, std::promise<void>& read) const {
  const bool alone = ranks_->size() == 1;
  const std::string layout = layout_of(parameters);
  const std::vector<NamedTensor> moments = optimizer.state();
  std::optional<SafetensorsWriter> weights, own_moments;
  if (ranks_->first()) {
    std::vector<NamedTensor> tensors;
    if (!optimizer.shards_weights()) tensors.push_back(optimizer.weights());
    if (alone) tensors.insert(tensors.end(), moments.begin(), moments.end());
    std::vector<TensorHeader> headers;
    Metadata metadata{{"layout", layout}, {"moments", std::to_string(alone ? 0 : ranks_->size())}};
    for (const NamedTensor& t : tensors) {
      headers.push_back({t.name, stored_type(t.value), {t.value.count()}});
      add_checksum(metadata, {t.name, {t.value}});
    }
    weights.emplace(directory + "/weights.safetensors", headers, metadata);
    for (const NamedTensor& t : tensors) write_values(*weights, {t.name, {t.value}});
  }
  if (!alone) {
    const std::vector<StateSlice> own = optimizer.own_state();
    std::vector<TensorHeader> headers;
    std::vector<StoredTensor> stored;
    Metadata metadata{{"layout", layout}};
    for (const NamedTensor& t : moments) {
      StoredTensor& mine = stored.emplace_back(StoredTensor{t.name, {}});
      std::int64_t count = 0;
      for (const StateSlice& s : own) {
        if (s.tensor != t.name) continue;
        mine.stretches.push_back(
            t.value.rows(static_cast<std::int64_t>(s.begin), static_cast<std::int64_t>(s.begin + s.count)));
        count += static_cast<std::int64_t>(s.count);
      }
      headers.push_back({t.name, stored_type(t.value), {count}});
      metadata.emplace_back(t.name, text_of(own, t.name));
      add_checksum(metadata, mine);
    }
    own_moments.emplace(directory + "/" + moments_file(ranks_->rank(), ranks_->size()), headers, metadata);
    for (const StoredTensor& t : stored) write_values(*own_moments, t);
  }
  read.set_value();
  if (weights) weights->commit();
  if (own_moments) own_moments->commit();
}

// Keeps the checkpoint just saved, as many earlier ones as requested, and the snapshots that it names.
void CheckpointStore::remove_others(const TrainingState& state) const {
  const std::string newest = name_of(state.position.updates);
  // The snapshots of this update or later may come from a validation since the save began.
  const std::string newest_snapshot = snapshot_file(state.position.updates);
  std::vector<std::string> states;
  std::vector<fs::path> superfluous;
  for (const fs::directory_entry& entry : fs::directory_iterator(path_)) {
    const std::string name = entry.path().filename().string();
    if (name.starts_with("state-")) {
      if (name.ends_with(".new") || name > newest)
        superfluous.push_back(entry.path());
      else
        states.push_back(name);
    } else if (name.starts_with("average-") && name < newest_snapshot &&
               std::find(state.snapshots.begin(), state.snapshots.end(), name) == state.snapshots.end()) {
      superfluous.push_back(entry.path());
    }
  }
  std::sort(states.rbegin(), states.rend());
  for (std::size_t i = as_size(keep_); i < states.size(); ++i) superfluous.push_back(fs::path(path_) / states[i]);
  for (const fs::path& p : superfluous) remove_tree(p);
}

void CheckpointStore::remove_unfinished() {
  ranks_->by_first([&] { remove_others(read_state()); });
}

TrainingState CheckpointStore::read_state() const {
  const std::string name = last();
  return read_or_go_on_without(path_, name, [&] { return state_in(path_ + "/" + name + "/state.json"); });
}

void CheckpointStore::load_weights(nn::Parameters& parameters, Optimizer& optimizer) const {
  const std::string name = last();
  read_or_go_on_without(path_, name, [&] {
    const std::string directory = path_ + "/" + name + "/", layout = layout_of(parameters);
    const std::string path = directory + "weights.safetensors";
    const SafetensorsFile file = open_state(path, layout);
    const std::string* writers = file.find_metadata("moments");
    const int ranks = writers ? std::atoi(writers->c_str()) : 0;
    // A tensor is either completely in the first file, or split over the files of all ranks.
    const auto read = [&](const NamedTensor& t, const std::vector<StateSlice>& own) {
      std::size_t wanted = 0, taken = 0;
      for (const StateSlice& s : own) wanted += s.count;
      const std::vector<Interval> whole{{0, as_size(t.value.count())}};
      if (ranks == 0 || file.find(t.name)) taken = take_over(t.value, values_of(file, path, t, whole), whole, own);
      for (int r = 0; r < ranks && !file.find(t.name); ++r) {
        const std::string part_path = directory + moments_file(r, ranks);
        const SafetensorsFile part = open_state(part_path, layout);
        const std::string* text = part.find_metadata(t.name);
        if (!text) fail(part_path, "has no entry for " + t.name);
        const std::vector<Interval> places = intervals_in(part_path, *text);
        taken += take_over(t.value, values_of(part, part_path, t, places), places, own);
      }
      if (taken != wanted)
        fail(directory, fmt::format("has {} of the {} values of {} that this process needs", taken, wanted, t.name));
    };

    const std::vector<StateSlice> all_own = optimizer.own_state();
    for (const NamedTensor& t : optimizer.state()) {
      std::vector<StateSlice> own;
      for (const StateSlice& s : all_own)
        if (s.tensor == t.name) own.push_back(s);
      read(t, own);
    }
    const NamedTensor weights = optimizer.weights();
    if (!optimizer.shards_weights())
      read(weights, {{weights.name, 0, as_size(weights.value.count())}});
    else if (!ranks_->first())
      read(weights, optimizer.unstepped_weights());
  });
}

}  // namespace tril::train
