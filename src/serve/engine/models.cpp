#include "serve/engine/models.h"

#include <algorithm>
#include <utility>

#include "base/error.h"
#include "base/printable.h"
#include "serve/http/http_error.h"

namespace tril::serve {

std::string model_name(std::string_view bytes) {
  return printable(bytes, std::string_view::npos);  // not shortened: names with the same beginning stay different
}

// What a ModelPtr holds.
struct Models::Hold {
  Hold(const Models& of, ResidentPtr held, bool is_use) : models(&of), resident(std::move(held)), uses(is_use) {}
  ~Hold() { models->release(*resident, uses); }
  Hold(const Hold&) = delete;
  Hold& operator=(const Hold&) = delete;

  const Models* models;
  ResidentPtr resident;
  bool uses;
};

Models::Models(std::vector<ModelLoader> loaders, ModelsOptions options)
    : options_(std::move(options)), waiting_(options_.most_waiting, options_.most_waiting_bytes) {
  for (ModelLoader& loader : loaders) enter(std::move(loader));
  try {
    closer_ = std::thread([this] { end_retired(); });
    attendant_ = std::thread([this] { attend(); });
    loader_ = std::thread([this] { run(); });
  } catch (...) {
    join_helpers();
    throw;
  }
}

Models::~Models() {
  stop_waiting();
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_all();
  loader_.join();
  for (const ModelPtr& model : ready()) model->engine().cancel_all();
  {
    const std::lock_guard lock(mutex_);
    for (Entry& entry : entries_)
      if (entry.resident) retire(std::exchange(entry.resident, nullptr));
  }
  join_helpers();  // waits until they have ended
}

void Models::join_helpers() {
  {
    const std::lock_guard lock(mutex_);
    no_more_ = stopping_ = true;
  }
  changed_.notify_all();
  for (std::thread* helper : {&closer_, &attendant_})
    if (helper->joinable()) helper->join();
}

std::int64_t Models::Resident::bytes() const {
  return retired_bytes ? *retired_bytes : model->profile().bytes + model->statistics().cache().bytes;
}

ModelPtr Models::hold(const ResidentPtr& resident, Holding how) const {
  const bool uses = how == Holding::use;
  // Nothing fails once the counts include it.
  const auto held = std::make_shared<Hold>(*this, resident, uses);
  ++resident->holders;
  if (uses) {
    ++resident->users;
    resident->used = true;
  }
  return ModelPtr(held, resident->model.get());
}

void Models::release(Resident& resident, bool uses) const {
  const std::lock_guard lock(mutex_);
  --resident.holders;
  if (uses) {
    --resident.users;
    resident.last_use = options_.now();
  }
  // With the lock: the destructor may be waiting for just this.
  if (resident.retired_bytes && resident.holders == 0) changed_.notify_all();
}

std::optional<std::size_t> Models::number_of(const std::string& name) const {
  for (std::size_t i = 0; i < entries_.size(); ++i)
    if (entries_[i].loader.name == name) return i;
  return std::nullopt;
}

std::string_view name_of(Models::State state) {
  switch (state) {
    case Models::State::loading:
      return "loading";
    case Models::State::ready:
      return "ready";
    case Models::State::failed:
      return "failed";
    case Models::State::unloaded:
      return "unloaded";
  }
  return "";
}

Models::State Models::state_of(const Entry& e) const {
  if (e.resident) return State::ready;
  if (e.task == Task::load || e.running == Task::load || !e.tried) return State::loading;
  return e.error.empty() || e.disabled ? State::unloaded : State::failed;
}

bool Models::offered(const Entry& e) const {
  return !e.disabled && (e.resident || (options_.on_demand && e.profile));
}

std::vector<Models::Status> Models::status() const {
  const auto seconds = [](Clock::duration d) { return std::chrono::duration<double>(d).count(); };
  const std::lock_guard lock(mutex_);
  const Clock::time_point now = options_.now();
  std::vector<Status> list;
  list.reserve(entries_.size());
  for (std::size_t i = 0; i < entries_.size(); ++i) {
    const Entry& e = entries_[i];
    Status s{.name = e.loader.name,
             .state = state_of(e),
             .error = e.error,
             .refused = e.refused,
             .disabled = e.disabled,
             .offered = offered(e),
             .created = e.resident ? e.resident->model->created() : began_,
             .profile = e.profile,
             .loads = e.loads,
             .unloads = e.unloads,
             .failures = e.failures,
             .waiting = waiting_.size(i)};
    if (e.last_use) s.idle_seconds = seconds(now - *e.last_use);
    if (const ResidentPtr& r = e.resident) {
      s.model = hold(r, Holding::look);
      s.bytes = r->bytes();
      if (r->used) s.idle_seconds = r->users > 0 ? 0 : seconds(now - r->last_use);
    }
    list.push_back(std::move(s));
  }
  return list;
}

std::vector<ModelPtr> Models::ready() const {
  std::vector<ModelPtr> list;
  const std::lock_guard lock(mutex_);
  list.reserve(entries_.size());
  for (const Entry& entry : entries_)
    if (entry.resident) list.push_back(hold(entry.resident, Holding::look));
  return list;
}

std::vector<Models::Offer> Models::offers() const {
  std::vector<Offer> list;
  const std::lock_guard lock(mutex_);
  for (const Entry& entry : entries_)
    if (offered(entry)) list.push_back({entry.loader.name, entry.profile});
  return list;
}

bool Models::crowded() const {
  const std::lock_guard lock(mutex_);
  bool any = false;
  for (const Entry& e : entries_) {
    if (!e.resident) continue;
    if (!e.resident->model->engine().crowded()) return false;
    any = true;
  }
  return any;
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
  const auto i = number_of(name);
  return i && entries_[*i].resident ? hold(entries_[*i].resident, Holding::use) : nullptr;
}

bool Models::knows(const std::string& name) const {
  const std::lock_guard lock(mutex_);
  return number_of(name).has_value();
}

Models::Acquired Models::acquire(const std::string& name, Waiter waiter) {
  const std::lock_guard lock(mutex_);
  const auto i = number_of(name);
  if (!i) return {};
  Entry& e = entries_[*i];
  if (e.resident) return {.access = Access::ready, .model = hold(e.resident, Holding::use)};
  if (!options_.on_demand || e.disabled) return {};
  if (waiting_stopped_) return {.access = Access::failed, .error = "the server is shutting down", .seconds = 5};
  const bool is_coming = e.task == Task::load || e.running == Task::load;
  const std::chrono::duration<double> until_retry = e.retry - options_.now();
  if (!is_coming && !e.error.empty() && until_retry.count() > 0)
    return {.access = Access::failed, .error = e.error, .seconds = until_retry.count()};
  if (!waiter.admitted && !waiting_.has_room(waiter)) return {.access = Access::full, .seconds = 1};
  waiting_.add(*i, std::move(waiter));
  if (!is_coming) want(*i, Task::load);
  changed_.notify_all();
  return {.access = Access::waiting};
}

bool Models::reload(const std::string& name) {
  const std::lock_guard lock(mutex_);
  bool any = false;
  for (std::size_t i = 0; i < entries_.size(); ++i) {
    Entry& e = entries_[i];
    if (!name.empty() && e.loader.name != name) continue;
    any = true;
    e.disabled = false;
    const bool only_described = options_.on_demand && name.empty() && !e.resident;
    want(i, only_described ? Task::describe : Task::load);
  }
  changed_.notify_all();
  return any;
}

void Models::enter(ModelLoader loader) {
  loader.name = model_name(loader.name);
  check(!loader.name.empty() && !number_of(loader.name), "models", "two models have the name \"{}\"", loader.name);
  check(!options_.on_demand || loader.describe, "models", "model {} cannot be described without loading it",
        loader.name);
  entries_.emplace_back().loader = std::move(loader);
  want(entries_.size() - 1, options_.on_demand ? Task::describe : Task::load);
}

void Models::add(std::vector<ModelLoader> loaders) {
  const std::lock_guard lock(mutex_);
  for (ModelLoader& loader : loaders) {
    enter(std::move(loader));
    entries_.back().tried = true;
  }
  changed_.notify_all();
}

bool Models::unload(const std::string& name) {
  const std::lock_guard lock(mutex_);
  const auto i = number_of(name);
  if (!i) return false;
  Entry& e = entries_[*i];
  if (e.disabled || (!e.resident && !options_.on_demand)) return false;
  e.disabled = true;
  if (e.resident) unload(*i, "as requested");
  return true;
}

void Models::stop_waiting() {
  std::unique_lock lock(mutex_);
  waiting_stopped_ = true;
  give_up(waiting_.take_all(), std::make_exception_ptr(HttpError(503, "the server is shutting down", "server_error")));
  changed_.wait(lock, [&] { return calls_.empty() && !calling_; });
}

void Models::cancel_running() {
  std::vector<ModelPtr> running = ready();
  {
    const std::lock_guard lock(mutex_);
    running.reserve(running.size() + retiring_.size());
    for (const ResidentPtr& resident : retiring_)
      if (resident->holders > 0) running.push_back(hold(resident, Holding::look));
  }
  for (const ModelPtr& model : running) model->engine().cancel_all();
  for (const ModelPtr& model : running) model->engine().drain();
}

void Models::drain() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return waiting_.size() == 0 && calls_.empty() && !calling_ && open_ == 0; });
  lock.unlock();
  for (const ModelPtr& model : ready()) model->engine().drain();
  lock.lock();
  changed_.wait(lock, [&] { return retiring_.empty(); });
}

void Models::post(std::function<void()> job) {
  const std::lock_guard lock(mutex_);
  if (waiting_stopped_) return;
  calls_.push_back(std::move(job));
  changed_.notify_all();
}

std::shared_ptr<const void> Models::keep_open() {
  {
    const std::lock_guard lock(mutex_);
    ++open_;
  }
  return {this, [](const Models* models) {
            const std::lock_guard lock(models->mutex_);
            --models->open_;
            models->changed_.notify_all();
          }};
}

void Models::look() {
  const std::lock_guard lock(mutex_);
  changed_.notify_all();
}

}  // namespace tril::serve
