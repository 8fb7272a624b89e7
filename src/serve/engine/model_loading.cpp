// The threads of Models: one loads, one calls waiting requests and unloads idle models, one destroys unloaded models.
#include <spdlog/spdlog.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/error.h"
#include "serve/engine/models.h"
#include "serve/http/http_error.h"

namespace tril::serve {
namespace {

// How often the memory and the idle time of models are looked at.
constexpr std::chrono::seconds look_at_models_every{1};

std::exception_ptr not_ready(const std::string& message, double seconds) {
  HttpError error(503, message, "server_error");
  error.retry_after = std::clamp(static_cast<int>(std::ceil(seconds)), 1, 60);
  return std::make_exception_ptr(std::move(error).of_field("model"));
}

void warn_of_unknown_language(const ServedModel& m) {
  if (m.translates() && m.languages().sources().empty())
    spdlog::warn("model {}: its source language is unknown, so it accepts any; state its languages: {}=FROM:TO",
                 m.name(), m.name());
}

}  // namespace

void Models::want(std::size_t i, Task task) {
  Entry& e = entries_[i];
  if (e.task == Task::none) tasks_.push_back(i);
  e.task = std::max(e.task, task);
}

void Models::run() {
  for (;;) {
    std::size_t i = 0;
    Task task = Task::none;
    {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [&] { return stopping_ || !tasks_.empty(); });
      if (stopping_) return;
      i = tasks_.front();
      tasks_.pop_front();
      task = entries_[i].running = std::exchange(entries_[i].task, Task::none);
    }
    task == Task::load ? load(i) : describe(i);
    changed_.notify_all();
  }
}

const ModelLoader& Models::loader_of(std::size_t i) const {
  const std::lock_guard lock(mutex_);
  return entries_[i].loader;  // constant
}

void Models::describe(std::size_t i) {
  const ModelLoader& loader = loader_of(i);
  try {
    const auto profile = std::make_shared<const ModelProfile>(loader.describe());
    check_model_size(loader.name, profile->bytes, options_.memory);
    const std::lock_guard lock(mutex_);
    Entry& e = entries_[i];
    e.profile = profile;
    if (!e.resident) e.error.clear(), e.refused = false;
    if (std::exchange(e.running, Task::none) == Task::load) return;  // it is a part of that
    if (!e.tried && options_.at_start && fits_at_start(i))
      want(i, Task::load);
    else
      e.tried = true;
  } catch (const std::exception& failure) {
    const std::lock_guard lock(mutex_);
    note_failure(i, failure);
  }
}

// Whether it fits beside those that are loaded at the start before it.
bool Models::fits_at_start(std::size_t i) const {
  std::int64_t bytes = entries_[i].profile->bytes;
  for (const Entry& e : entries_)
    if (e.profile && (e.resident || e.task == Task::load)) bytes += e.profile->bytes;
  return options_.memory == 0 || bytes <= options_.memory;
}

void Models::load(std::size_t i) {
  const ModelLoader& loader = loader_of(i);
  std::unique_ptr<ServedModel> fresh;  // if it is not wanted, it is destroyed without the lock
  std::unique_lock lock(mutex_);
  if (options_.on_demand && !entries_[i].disabled && !entries_[i].profile) {
    lock.unlock();
    describe(i);
    lock.lock();
    if (!entries_[i].profile) return;
    entries_[i].running = Task::load;
  }
  if (!entries_[i].disabled) make_room(i, lock);
  if (entries_[i].disabled || stopping_) return publish(i, fresh);
  lock.unlock();
  try {
    fresh = std::make_unique<ServedModel>(loader.name, loader.load());
    check_model_size(loader.name, fresh->profile().bytes, options_.memory);
    lock.lock();
    publish(i, fresh);
  } catch (const std::exception& failure) {
    if (!lock.owns_lock()) lock.lock();
    note_failure(i, failure);
  }
  lock.unlock();
}

// A reload needs room for both versions; the old one is unloaded only if nothing else suffices.
void Models::make_room(std::size_t i, std::unique_lock<std::mutex>& lock) {
  if (options_.memory == 0) return;
  const std::int64_t need = entries_[i].profile->bytes;
  while (!stopping_ && !entries_[i].disabled) {
    std::vector<ModelUse> loaded = uses();
    std::int64_t excess = need - options_.memory;
    for (ModelUse& use : loaded) {
      excess += use.bytes;
      if (use.model == i) use.busy = true, use.last_use = Clock::time_point::max();
    }
    for (const std::size_t other : models_to_unload(std::move(loaded), excess, Unload::any))
      unload(other, fmt::format("to make room for {}", entries_[i].loader.name));
    if (bytes_used() + need <= options_.memory) break;
    changed_.wait(lock);  // until the unloaded ones have ended
  }
  being_loaded_ = need;
}

std::int64_t Models::bytes_used() const {
  std::int64_t bytes = being_loaded_;
  for (const Entry& e : entries_) bytes += e.resident ? e.resident->bytes() : 0;
  for (const ResidentPtr& r : retiring_) bytes += r->bytes();
  return bytes;
}

std::vector<ModelUse> Models::uses() const {
  std::vector<ModelUse> list;
  for (std::size_t i = 0; i < entries_.size(); ++i)
    if (const ResidentPtr& r = entries_[i].resident) list.push_back({i, r->bytes(), r->users > 0, r->last_use});
  return list;
}

// Ends a load. `fresh` keeps a model that is not wanted any more.
void Models::publish(std::size_t i, std::unique_ptr<ServedModel>& fresh) {
  Entry& e = entries_[i];
  e.running = Task::none;
  e.tried = true;
  being_loaded_ = 0;
  if (!fresh || e.disabled) return answer(i, not_ready(fmt::format("model {} is not loaded", e.loader.name), 1));
  const auto resident = std::make_shared<Resident>();
  resident->model = std::move(fresh);
  resident->last_use = options_.now();
  if (ResidentPtr before = std::exchange(e.resident, resident)) retire(std::move(before));
  e.profile = std::make_shared<const ModelProfile>(resident->model->profile());
  e.error.clear(), e.refused = false, e.failures_in_a_row = 0;
  spdlog::info("model {} is ready", e.loader.name);
  if (++e.loads == 1) warn_of_unknown_language(*resident->model);
  answer(i, nullptr);
}

void Models::note_failure(std::size_t i, const std::exception& failure) {
  Entry& e = entries_[i];
  const auto* known = dynamic_cast<const Error*>(&failure);
  e.running = Task::none;
  e.tried = true;
  being_loaded_ = 0;
  e.error = failure.what();
  e.refused = known && known->kind() == ErrorKind::usage;
  ++e.failures;
  const double seconds =
      seconds_until_retry(++e.failures_in_a_row, options_.retry_seconds, options_.longest_retry_seconds);
  e.retry = options_.now() + duration_of(seconds);
  spdlog::error("model {}: {}", e.loader.name, e.error);
  answer(i, not_ready(fmt::format("model {} cannot be loaded: {}", e.loader.name, e.error), seconds));
}

// Lets the attending thread call the requests that wait for the model.
void Models::answer(std::size_t i, const std::exception_ptr& error) {
  std::vector<Waiter> waiters = waiting_.take(i);
  if (error) return give_up(std::move(waiters), error);
  for (Waiter& waiter : waiters)
    calls_.emplace_back([call = std::move(waiter.call), model = hold(entries_[i].resident, Holding::use)]() mutable {
      call(std::move(model), nullptr);
    });
}

void Models::give_up(std::vector<Waiter> waiters, const std::exception_ptr& error) {
  for (Waiter& waiter : waiters) calls_.emplace_back([call = std::move(waiter.call), error] { call(nullptr, error); });
  if (!waiters.empty()) changed_.notify_all();
}

void Models::attend() {
  std::unique_lock lock(mutex_);
  for (;;) {
    if (waiting_.next_deadline() <= options_.now())
      give_up(waiting_.take_late(options_.now()), not_ready("the model is still being loaded", 1));
    unload_idle();
    describe_again();
    if (!calls_.empty()) {
      std::function<void()> call = std::move(calls_.front());
      calls_.pop_front();
      calling_ = true;
      lock.unlock();
      call();
      call = {};
      lock.lock();
      calling_ = false;
      changed_.notify_all();
      continue;
    }
    if (stopping_) return;
    changed_.wait_for(lock, next_look());
  }
}

Clock::duration Models::next_look() const {
  Clock::duration next = std::chrono::hours(1);
  if (const auto deadline = waiting_.next_deadline(); deadline != Clock::time_point::max())
    next = std::clamp<Clock::duration>(deadline - options_.now(), std::chrono::milliseconds(1), next);
  if (options_.on_demand) next = std::min<Clock::duration>(next, look_at_models_every);
  if (options_.idle_seconds > 0) next = std::min(next, duration_of(options_.idle_seconds / 4));
  return next;
}

void Models::unload_idle() {
  if (!options_.on_demand || stopping_) return;
  const Clock::time_point now = options_.now();
  if (options_.idle_seconds > 0)
    for (const ModelUse& use : uses())
      if (!use.busy && now - use.last_use >= duration_of(options_.idle_seconds))
        unload(use.model, "because it is idle");
  if (options_.memory == 0) return;
  // KV caches have grown since the models were loaded.
  std::int64_t excess = being_loaded_ - options_.memory;
  const std::vector<ModelUse> loaded = uses();
  for (const ModelUse& use : loaded) excess += use.bytes;
  for (const std::size_t i : models_to_unload(loaded, excess, Unload::idle)) unload(i, "to free memory");
}

// A model without a profile is chosen by no request, so none makes it be tried again.
void Models::describe_again() {
  if (!options_.on_demand || stopping_) return;
  const Clock::time_point now = options_.now();
  for (std::size_t i = 0; i < entries_.size(); ++i) {
    const Entry& e = entries_[i];
    const bool is_at_rest = e.task == Task::none && e.running == Task::none;
    if (e.profile || e.disabled || !is_at_rest || e.error.empty() || e.retry > now) continue;
    want(i, Task::describe);
    changed_.notify_all();
  }
}

void Models::unload(std::size_t i, std::string_view why) {
  Entry& e = entries_[i];
  spdlog::info("unloading model {} {}", e.loader.name, why);
  ++e.unloads;
  if (e.resident->used) e.last_use = e.resident->last_use;
  retire(std::exchange(e.resident, nullptr));
}

// A request that got the model before may still submit works, so the engine stays open while a request has the model.
void Models::retire(ResidentPtr resident) {
  resident->retired_bytes = resident->bytes();
  retiring_.push_back(std::move(resident));
  changed_.notify_all();
}

// Destroys models outside of the threads of requests and engines: a model's destructor waits for its engine's threads.
void Models::end_retired() {
  std::unique_lock lock(mutex_);
  const auto free = [&] {
    return std::find_if(retiring_.begin(), retiring_.end(), [](const ResidentPtr& r) { return r->holders == 0; });
  };
  for (;;) {
    changed_.wait(lock, [&] { return free() != retiring_.end() || (no_more_ && retiring_.empty()); });
    const auto found = free();
    if (found == retiring_.end()) return;
    const ResidentPtr ended = *found;
    std::unique_ptr<ServedModel> model = std::move(ended->model);
    lock.unlock();
    model.reset();
    lock.lock();
    std::erase(retiring_, ended);
    changed_.notify_all();
  }
}

}  // namespace tril::serve
