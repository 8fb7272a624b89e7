// The models of a server by name. They are loaded in the background: at the start, or when a request needs them. A model
// that is loaded again replaces the old one when it is ready; until then the old one serves, and it finishes the requests
// that it has begun.
//
// With ModelsOptions::on_demand, a request for a model that is not loaded waits until it is. Models are unloaded when they
// have been idle for long, and the least recently used ones when another model needs their memory. A model is unloaded once
// its running requests have ended: a ModelPtr keeps the model loaded.
#pragma once

#include <condition_variable>
#include <ctime>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "serve/engine/model_memory.h"
#include "serve/engine/served_model.h"
#include "serve/engine/waiting_requests.h"

namespace tril::serve {

struct ModelLoader {
  std::string name;
  std::function<Loaded()> load;  ///< may throw; called in the loading thread
  /// Reads the model's profile without its weights; likewise. Required for loading on demand.
  std::function<ModelProfile()> describe = {};
};

struct ModelsOptions {
  bool at_start = true;             ///< load the models at the start: all, or as many as fit into `memory`
  bool on_demand = false;           ///< load a model when a request needs it
  std::int64_t memory = 0;          ///< bound of the models' memory in bytes, with on_demand; 0: none
  double idle_seconds = 0;          ///< unload a model after this time without requests, with on_demand; 0: never
  std::size_t most_waiting = 1024;  ///< maximum number of requests that wait for models to be loaded
  std::size_t most_waiting_bytes = std::size_t{64} << 20;
  double retry_seconds = 1, longest_retry_seconds = 60;  ///< after a failed load (seconds_until_retry)
  std::function<Clock::time_point()> now = Clock::now;
};

/// A model's name in requests, responses, metrics and logs: bytes that are not UTF-8 are written as \xFF.
std::string model_name(std::string_view bytes);

class Models {
 public:
  /// Starts to load all of them, one after the other; or to read their profiles.
  /// @throws Error(usage) if two names, in the form of model_name(), are equal
  explicit Models(std::vector<ModelLoader> loaders, ModelsOptions options = {});
  /// Cancels all running requests.
  ~Models();
  Models(const Models&) = delete;
  Models& operator=(const Models&) = delete;

  enum class State : std::uint8_t { loading, ready, failed, unloaded };
  struct Status {
    std::string name;
    State state = State::loading;
    std::string error;                   ///< of the last attempt to load it; an earlier version may still serve
    bool refused = false;                ///< true if that error is one of usage (ErrorKind::usage)
    bool disabled = false;               ///< unloaded by unload(): requests do not load it
    bool offered = false;                ///< requests may use it (offers())
    std::time_t created = 0;             ///< when it was loaded, or else when the server began
    ModelPtr model;                      ///< null unless it is ready; holding it does not count as a use
    ProfilePtr profile;                  ///< null: not known yet
    std::int64_t bytes = 0;              ///< memory that it takes now, with its KV cache
    std::optional<double> idle_seconds;  ///< since the last use; 0: in use; nothing: never used
    std::uint64_t loads = 0, unloads = 0, failures = 0;
    std::size_t waiting = 0;  ///< requests that wait for it
  };
  /// In the order of the loaders.
  std::vector<Status> status() const;
  /// The models that are ready; holding them does not count as a use.
  std::vector<ModelPtr> ready() const;
  /// A model that requests may use: it is ready, or will be loaded for them.
  struct Offer {
    std::string name;
    ProfilePtr profile;
  };
  /// In the order of the loaders.
  std::vector<Offer> offers() const;
  /// True if every ready model is saturated (Engine::crowded).
  bool crowded() const;
  /// True if the first attempt to load some model, or to read its profile, has not ended.
  bool loading() const;
  /// Waits until loading() is false.
  void wait() const;
  /// The model with this name if it is ready, else null.
  ModelPtr find(const std::string& name) const;
  bool knows(const std::string& name) const;

  enum class Access : std::uint8_t { ready, waiting, full, absent, failed };
  struct Acquired {
    Access access = Access::absent;
    ModelPtr model;      ///< if it is ready
    std::string error;   ///< why it could not be loaded
    double seconds = 0;  ///< until it is worth asking again
  };
  /// The model for a request. If it is not loaded, it will be, and `waiter` is called then; only for Access::waiting.
  /// Access::absent: there is no such model, or it is not loaded for requests. Access::failed: the last load failed a
  /// moment ago, or the models are being closed.
  Acquired acquire(const std::string& name, Waiter waiter);
  /// Runs a job, which must not throw, in the thread that calls waiting requests; drops it after stop_waiting().
  void post(std::function<void()> job);
  /// While such an object exists, drain() waits: its request will use another model.
  std::shared_ptr<const void> keep_open();
  /// From now on no request may wait. Those that wait get an error; returns once all have it.
  void stop_waiting();
  /// Cancels all running requests, and returns once all have ended. No new ones may arrive; call stop_waiting() before.
  void cancel_running();

  /// Loads a model again in the background; an empty name: all models, of which those that are not loaded on demand only
  /// have their profile read. @return false if there is no such model
  bool reload(const std::string& name = {});
  /// Adds models, and begins to load them, or with on_demand to read their profiles. The server counts as loaded meanwhile.
  /// @throws Error(usage) as the constructor
  void add(std::vector<ModelLoader> loaders);
  /// Unloads a model; its memory is freed once its running requests have ended. No request loads it until reload().
  /// @return false if it is not loaded
  bool unload(const std::string& name);
  /// Takes no more requests, and returns once all have ended, also those that wait for a model or use one that was replaced.
  /// No new ones may arrive.
  void drain();
  /// Checks deadlines and idle times at once, for a test with its own clock.
  void look();

 private:
  /// A loaded model. It is destroyed by one thread, after the last holder has gone.
  struct Resident {
    std::unique_ptr<ServedModel> model;
    std::size_t entry = 0;
    int holders = 0, users = 0;  ///< users: holders that are requests
    bool used = false;           ///< by a request
    Clock::time_point last_use = {};
    std::optional<std::int64_t> retired_bytes;  ///< memory at the time when it was retired
    std::int64_t bytes() const;
  };
  using ResidentPtr = std::shared_ptr<Resident>;
  struct Hold;
  enum class Task : std::uint8_t { none, describe, load };
  struct Entry {
    ModelLoader loader;
    ProfilePtr profile;
    ResidentPtr resident;  ///< null unless it is ready
    Task task = Task::none;
    Task running = Task::none;  ///< what the loading thread does with it
    bool tried = false;         ///< the first attempt has ended
    bool disabled = false;      ///< unloaded by unload(): a load in progress is discarded
    std::string error;
    bool refused = false;
    int failures_in_a_row = 0;
    Clock::time_point retry = {};               ///< no request makes it load again before
    std::optional<Clock::time_point> last_use;  ///< of the latest version that was unloaded
    std::uint64_t loads = 0, unloads = 0, failures = 0;
  };

  // Without mutex_.
  void run();
  const ModelLoader& loader_of(std::size_t i) const;
  void describe(std::size_t i);
  void load(std::size_t i);
  void attend();
  void end_retired();
  void join_helpers();
  void release(Resident& resident, bool uses) const;

  // With mutex_ held.
  enum class Holding : std::uint8_t { use, look };
  ModelPtr hold(const ResidentPtr& resident, Holding how) const;
  void enter(ModelLoader loader);
  std::optional<std::size_t> number_of(const std::string& name) const;
  State state_of(const Entry& entry) const;
  bool offered(const Entry& entry) const;
  void want(std::size_t i, Task task);
  void unload(std::size_t i, std::string_view why);
  void note_failure(std::size_t i, const std::exception& failure);
  void retire(ResidentPtr resident);
  void answer(std::size_t i, const std::exception_ptr& error);
  void give_up(std::vector<Waiter> waiters, const std::exception_ptr& error);
  void make_room(std::size_t i, std::unique_lock<std::mutex>& lock);
  bool fits_at_start(std::size_t i) const;
  void publish(std::size_t i, std::unique_ptr<ServedModel>& fresh);
  std::int64_t bytes_used() const;
  std::vector<ModelUse> uses() const;
  void unload_idle();
  void describe_again();
  Clock::duration next_look() const;

  ModelsOptions options_;
  mutable std::mutex mutex_;
  mutable std::condition_variable changed_;
  std::deque<Entry> entries_;  ///< it only grows, so references stay valid
  const std::time_t began_ = std::time(nullptr);
  std::deque<std::size_t> tasks_;
  WaitingRequests waiting_;
  std::deque<std::function<void()>> calls_;  ///< of waiters, for the attending thread
  bool calling_ = false, waiting_stopped_ = false;
  mutable int open_ = 0;                     ///< objects of keep_open()
  bool stopping_ = false, no_more_ = false;  ///< no_more_: no further model will be retired
  std::deque<ResidentPtr> retiring_;
  std::int64_t being_loaded_ = 0;  ///< memory of the model that is being loaded
  /// All are started at once, because later no thread might be available.
  std::thread closer_, attendant_, loader_;
};

/// "loading", "ready", "failed", "unloaded"
std::string_view name_of(Models::State state);

}  // namespace tril::serve
