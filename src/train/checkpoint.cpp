#include "train/checkpoint.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/file.h"
#include "base/hash.h"
#include "model/json_file.h"
#include "model/safetensors.h"

namespace tril::train {
namespace {

namespace fs = std::filesystem;

std::string name_of(std::int64_t update) {
  return fmt::format("state-{:08}", update);
}

// Names and shapes of the weights, in order: what the flat block means.
std::string layout_of(const nn::Parameters& parameters) {
  Hash hash;
  for (const nn::Parameter& p : parameters.all()) hash.add(p.name).add(p.shape.text()).add(";");
  return fmt::format("{:016x}", hash.value());
}

std::vector<NamedTensor> tensors_of(const nn::Parameters& parameters, const Optimizer& optimizer) {
  std::vector<NamedTensor> list{{"weights", parameters.flat()}};
  for (NamedTensor& t : optimizer.state()) list.push_back(std::move(t));
  return list;
}

nlohmann::json json_of(const RunningAverage& a) {
  return {{"mean", a.mean}, {"square", a.square}, {"count", a.count}};
}

RunningAverage running_average(const JsonObject& state, std::string_view key) {
  if (!state.has(key)) return {};
  const JsonObject o = state.object(key);
  return {o.get<double>("mean"), o.get<double>("square"), o.get<std::int64_t>("count")};
}

nlohmann::json json_of(const TrainingState& s) {
  nlohmann::json corpus = s.corpus;
  return {{"format", 1},
          {"updates", s.position.updates},
          {"epochs", s.position.epochs},
          {"minutes", s.position.minutes},
          {"target_tokens", s.position.tokens},
          {"corpus", corpus},
          {"optimizer_steps", s.optimizer_steps},
          {"skipped", s.skipped},
          {"rollbacks", s.rollbacks},
          {"rate_factor", s.rate_factor},
          {"usual_loss", json_of(s.usual.loss)},
          {"usual_gradient_norm", json_of(s.usual.gradient_norm)},
          {"best", s.best ? nlohmann::json(*s.best) : nlohmann::json()},
          {"best_update", s.best_update},
          {"stalled", s.stalled},
          {"shown_update", s.shown_update},
          {"snapshots", s.snapshots},
          {"options", nlohmann::json::parse(s.options)}};
}

TrainingState state_in(const std::string& file) {
  const nlohmann::json json = read_json(file);
  const JsonObject o(json, file);
  TrainingState s;
  s.position = {o.get<std::int64_t>("updates"), o.get<std::int64_t>("epochs"), o.get<double>("minutes"),
                o.get<std::int64_t>("target_tokens")};
  s.corpus = o.object("corpus").json().get<CorpusState>();
  s.optimizer_steps = o.get<std::int64_t>("optimizer_steps");
  s.skipped = o.get<std::int64_t>("skipped");
  s.rollbacks = o.get<std::int64_t>("rollbacks", 0);
  s.rate_factor = o.get<double>("rate_factor", 1.0);
  s.usual = {running_average(o, "usual_loss"), running_average(o, "usual_gradient_norm")};
  s.best = o.find<double>("best");
  s.best_update = o.get<std::int64_t>("best_update");
  s.stalled = o.get<std::int64_t>("stalled");
  s.shown_update = o.get<std::int64_t>("shown_update");
  s.snapshots = o.get<std::vector<std::string>>("snapshots");
  s.options = o.object("options").json().dump();
  return s;
}

void load(const std::string& path, const std::vector<NamedTensor>& tensors, const std::string& layout) {
  const SafetensorsFile file = SafetensorsFile::open(path);
  const std::string* stored_layout = file.find_metadata("layout");
  if (!stored_layout || *stored_layout != layout)
    fail(path, "these are weights of a model of other names or sizes",
         "pass the options that the run began with, or --overwrite");
  for (const NamedTensor& t : tensors) {
    const WeightView& stored = file.at(t.name);
    if (stored.elements() != t.value.count())
      fail(path, fmt::format("{} has {} values, the model needs {}", t.name, stored.elements(), t.value.count()));
    host_write<float>(t.value, to_f32(stored));
  }
}

// What is damaged in a state cannot be mended by whoever reads the message, so that it says how to go on without.
template <class F>
auto read_or_begin_anew(F&& read) {
  try {
    return read();
  } catch (const Error& problem) {
    if (problem.hint().find("--overwrite") != std::string::npos) throw;
    throw Error(problem.kind(), "", problem.what(), "pass --overwrite to begin anew");
  }
}

void remove_tree(const fs::path& path) {
  std::error_code ignored;  // a leftover costs space and nothing else; the next save tries again
  fs::remove_all(path, ignored);
}

}  // namespace

CheckpointStore::CheckpointStore(const std::string& directory, std::int64_t keep)
    : path_((fs::path(directory) / "checkpoint").string()), keep_(keep) {
  create_directories(path_);
  const std::string file = path_ + "/lock";
  lock_ = open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
  if (lock_ < 0) fail(file, fmt::format("cannot be opened ({})", std::strerror(errno)), "is the directory writable?");
  if (flock(lock_, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
    close(lock_);
    fail(directory, "another process trains in this directory", "wait for it, stop it, or choose another --model");
  }
}

CheckpointStore::~CheckpointStore() {
  close(lock_);
}

std::string CheckpointStore::last() const {
  const std::string file = path_ + "/last";
  if (!fs::exists(file)) return "";
  std::string name = read_text(file, 4096);
  while (!name.empty() && name.back() == '\n') name.pop_back();
  if (!name.starts_with("state-") || name.find('/') != std::string::npos)
    fail(file, "expected the name of a state, such as state-00001200", "pass --overwrite to begin anew");
  return name;
}

bool CheckpointStore::has_state() const {
  return !last().empty();
}

bool CheckpointStore::has_progress() const {
  const std::string name = last();
  return !name.empty() && name != name_of(0);
}

void CheckpointStore::clear() {
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
  const std::string final_path = path_ + "/" + name, beside = final_path + ".new";
  const std::string state_text = json_of(state).dump(2) + "\n";
  if (last() == name) {  // this update's weights are there already; what validation has found since may not be
    write_file_atomic(final_path + "/state.json", state_text);
    remove_others(state);
    return;
  }
  remove_tree(beside);
  remove_tree(final_path);  // left by a process that was killed before `last` named it
  create_directories(beside);

  const std::vector<NamedTensor> tensors = tensors_of(parameters, optimizer);
  std::vector<TensorHeader> headers;
  for (const NamedTensor& t : tensors) headers.push_back({t.name, StoredType::f32, {t.value.count()}});
  try {
    SafetensorsWriter writer(beside + "/weights.safetensors", headers, {{"layout", layout_of(parameters)}});
    for (const NamedTensor& t : tensors) {
      const std::vector<float> values = host_copy<float>(t.value);
      writer.write(t.name, std::as_bytes(std::span(values)));
    }
    writer.commit();
    write_file_atomic(beside + "/state.json", state_text);
  } catch (...) {
    remove_tree(beside);  // a full disk gets its room back
    throw;
  }
  rename_durably(beside, final_path);
  write_file_atomic(path_ + "/last", name + "\n");
  remove_others(state);
}

// Keeps the state just saved, the ones before it as far as wanted, and the snapshots it names.
void CheckpointStore::remove_others(const TrainingState& state) const {
  const std::string newest = name_of(state.position.updates);
  std::vector<std::string> states;
  std::vector<fs::path> superfluous;
  for (const fs::directory_entry& entry : fs::directory_iterator(path_)) {
    const std::string name = entry.path().filename().string();
    if (name.starts_with("state-")) {
      if (name.ends_with(".new") || name > newest)
        superfluous.push_back(entry.path());
      else
        states.push_back(name);
    } else if (name.starts_with("average-") &&
               std::find(state.snapshots.begin(), state.snapshots.end(), name) == state.snapshots.end()) {
      superfluous.push_back(entry.path());
    }
  }
  std::sort(states.rbegin(), states.rend());
  for (std::size_t i = static_cast<std::size_t>(keep_); i < states.size(); ++i)
    superfluous.push_back(fs::path(path_) / states[i]);
  for (const fs::path& p : superfluous) remove_tree(p);
}

TrainingState CheckpointStore::read_state() const {
  return read_or_begin_anew([&] { return state_in(path_ + "/" + last() + "/state.json"); });
}

void CheckpointStore::load_weights(nn::Parameters& parameters, Optimizer& optimizer) const {
  read_or_begin_anew([&] {
    load(path_ + "/" + last() + "/weights.safetensors", tensors_of(parameters, optimizer), layout_of(parameters));
  });
}

}  // namespace tril::train
