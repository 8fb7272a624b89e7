#include "serve/engine/models.h"

#include <spdlog/spdlog.h>

#include <algorithm>

#include "base/error.h"
#include "base/printable.h"

namespace tril::serve {

std::string model_name(std::string_view bytes) {
  return printable(bytes, std::string_view::npos);  // not shortened: names with the same beginning stay different
}

Models::Models(std::vector<ModelLoader> loaders) {
  for (ModelLoader& loader : loaders) {
    loader.name = model_name(loader.name);
    check(!loader.name.empty() && !knows(loader.name), "models", "two models have the name \"{}\"", loader.name);
    to_load_.push_back(entries_.size());
    entries_.push_back({.loader = std::move(loader), .status = {}});
    entries_.back().status.name = entries_.back().loader.name;
  }
  closer_ = std::thread([this] { end_retired(); });
  try {
    loader_ = std::thread([this] { run(); });
  } catch (...) {
    join_closer();
    throw;
  }
}

void Models::join_closer() {
  {
    const std::lock_guard lock(mutex_);
    no_more_ = true;
  }
  changed_.notify_all();
  closer_.join();
}

std::vector<ModelPtr> Models::ready() const {
  std::vector<ModelPtr> list;
  const std::lock_guard lock(mutex_);
  for (const Entry& entry : entries_)
    if (entry.status.model) list.push_back(entry.status.model);
  return list;
}

bool Models::crowded() const {
  const std::lock_guard lock(mutex_);
  bool any = false;
  for (const Entry& e : entries_) {
    if (!e.status.model) continue;
    if (!e.status.model->engine().crowded()) return false;
    any = true;
  }
  return any;
}

Models::~Models() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_all();
  loader_.join();
  for (Entry& entry : entries_) {
    if (!entry.status.model) continue;
    entry.status.model->engine().cancel_all();
    const std::lock_guard lock(mutex_);
    retire(std::exchange(entry.status.model, nullptr));
  }
  join_closer();  // waits until they have ended
}

void Models::run() {
  for (;;) {
    std::size_t next = 0;
    {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [&] { return stopping_ || !to_load_.empty(); });
      if (stopping_) return;
      next = to_load_.front();
      to_load_.pop_front();
    }
    load(next);
  }
}

void Models::load(std::size_t i) {
  ModelPtr fresh;
  std::string error;
  bool refused = false;
  try {
    fresh = std::make_shared<ServedModel>(entries_[i].loader.name, entries_[i].loader.load());
  } catch (const std::exception& e) {
    error = e.what();
    const auto* known = dynamic_cast<const Error*>(&e);
    refused = known && known->kind() == ErrorKind::usage;
    spdlog::error("model {}: {}", entries_[i].loader.name, error);
  }
  ModelPtr before;
  {
    const std::lock_guard lock(mutex_);
    Status& status = entries_[i].status;
    entries_[i].tried = true;
    status.error = error;
    status.refused = refused;
    if (fresh && entries_[i].unwanted) {
      fresh.reset();
    } else if (fresh) {
      before = std::exchange(status.model, fresh);
      status.state = State::ready;
    } else if (!status.model) {
      status.state = State::failed;
    }
    if (before) retire(std::move(before));
  }
  changed_.notify_all();
  if (!fresh) return;
  spdlog::info("model {} is ready", fresh->name());
  if (fresh->translates() && fresh->languages().source.empty() && !fresh->languages().from_each)
    spdlog::warn("model {}: its source language is unknown, so it accepts any; set it with `languages` {}=FROM:TO",
                 fresh->name(), fresh->name());
}

// A request that got the model before it was replaced may still submit works, so the engine stays open while a request has
// the model.
void Models::retire(ModelPtr model) {
  retiring_.push_back(std::move(model));
  changed_.notify_all();
}

void Models::end_retired() {
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [&] { return no_more_ || !retiring_.empty(); });
    if (retiring_.empty()) return;
    const auto held =
        std::partition(retiring_.begin(), retiring_.end(), [](const auto& m) { return m.use_count() > 1; });
    std::vector<ModelPtr> free(std::make_move_iterator(held), std::make_move_iterator(retiring_.end()));
    retiring_.erase(held, retiring_.end());
    ending_ = free.size();
    lock.unlock();
    if (free.empty()) std::this_thread::sleep_for(std::chrono::milliseconds(2));
    free.clear();
    lock.lock();
    if (std::exchange(ending_, 0) > 0) changed_.notify_all();
  }
}

std::vector<Models::Status> Models::status() const {
  const std::lock_guard lock(mutex_);
  std::vector<Status> list;
  for (const Entry& entry : entries_) list.push_back(entry.status);
  return list;
}

bool Models::loading() const {
  const std::lock_guard lock(mutex_);
  return std::any_of(entries_.begin(), entries_.end(), [](const Entry& e) { return !e.tried; });
}

void Models::wait() const {
  std::unique_lock lock(mutex_);
  changed_.wait(lock,
                [&] { return std::all_of(entries_.begin(), entries_.end(), [](const Entry& e) { return e.tried; }); });
}

ModelPtr Models::find(const std::string& name) const {
  const std::lock_guard lock(mutex_);
  for (const Entry& entry : entries_)
    if (entry.loader.name == name) return entry.status.model;
  return nullptr;
}

bool Models::knows(const std::string& name) const {
  const std::lock_guard lock(mutex_);
  return std::any_of(entries_.begin(), entries_.end(), [&](const Entry& e) { return e.loader.name == name; });
}

bool Models::reload(const std::string& name) {
  bool any = false;
  {
    const std::lock_guard lock(mutex_);
    for (std::size_t i = 0; i < entries_.size(); ++i)
      if (name.empty() || entries_[i].loader.name == name) {
        any = true;
        entries_[i].unwanted = false;
        if (!entries_[i].status.model) entries_[i].status.state = State::loading;
        if (std::find(to_load_.begin(), to_load_.end(), i) == to_load_.end()) to_load_.push_back(i);
      }
  }
  changed_.notify_all();
  return any;
}

bool Models::unload(const std::string& name) {
  const std::lock_guard lock(mutex_);
  for (Entry& entry : entries_)
    if (entry.loader.name == name && entry.status.model) {
      entry.unwanted = true;
      retire(std::exchange(entry.status.model, nullptr));
      entry.status.state = State::unloaded;
      return true;
    }
  return false;
}

void Models::drain() {
  std::vector<ModelPtr> all;
  for (Status& s : status())
    if (s.model) all.push_back(std::move(s.model));
  for (const ModelPtr& model : all) model->engine().drain();
  all.clear();
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return retiring_.empty() && ending_ == 0; });
}

}  // namespace tril::serve
