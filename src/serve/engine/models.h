// The models of a server by their names. They are loaded in the background; one that is loaded again takes its place
// when it is ready, and the one before serves on until then and ends what it has begun.
#pragma once

#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "serve/engine/served_model.h"

namespace tril::serve {

using ModelPtr = std::shared_ptr<ServedModel>;

struct ModelLoader {
  std::string name;
  std::function<Loaded()> load;  ///< may throw; called by a thread of the models'
};

/// A model's name as answers, metrics and logs tell it and requests give it: what is no text in it is spelt out (\xFF).
std::string model_name(std::string_view bytes);

class Models {
 public:
  /// Begins to load them all, one after the other; their names, as model_name() has them, differ.
  explicit Models(std::vector<ModelLoader> loaders);
  /// Ends whatever goes on.
  ~Models();
  Models(const Models&) = delete;
  Models& operator=(const Models&) = delete;

  enum class State : std::uint8_t { loading, ready, failed, unloaded };
  struct Status {
    std::string name;
    State state = State::loading;
    std::string error;     ///< of the last attempt to load it; it may be ready with what was loaded before
    bool refused = false;  ///< whether what was asked for is what is wrong (ErrorKind::usage)
    ModelPtr model;        ///< where it is ready
  };
  /// In the order of the loaders.
  std::vector<Status> status() const;
  /// Those that are ready.
  std::vector<ModelPtr> ready() const;
  /// True if every ready model is saturated (Engine::crowded).
  bool crowded() const;
  /// Whether one has never been loaded and is about to be.
  bool loading() const;
  /// Waits for that to be over.
  void wait() const;
  /// The one of this name if it is ready, else null.
  ModelPtr find(const std::string& name) const;
  bool knows(const std::string& name) const;

  /// Loads it again, in the background; an empty name: all. Whether there is such a model.
  bool reload(const std::string& name = {});
  /// Its memory is given back once what it has begun is ended.
  bool unload(const std::string& name);
  /// Returns once all that was begun has ended, also of models that were replaced; nothing more is taken.
  void drain();

 private:
  struct Entry {
    ModelLoader loader;
    Status status;
    bool tried = false, unwanted = false;  ///< the latter: unloaded, whatever is being loaded
  };
  void run();
  void load(std::size_t i);
  void retire(ModelPtr model);  // with mutex_ held
  void end_retired();
  void join_closer();

  mutable std::mutex mutex_;
  mutable std::condition_variable changed_;
  std::vector<Entry> entries_;
  std::deque<std::size_t> to_load_;
  bool stopping_ = false, no_more_ = false;  ///< the latter: nothing will be retired any more
  std::vector<ModelPtr> retiring_;
  std::size_t ending_ = 0;  ///< of those, the ones that are being ended
  /// Two from the start, since there may be none to be had when one is needed.
  std::thread closer_, loader_;
};

}  // namespace tril::serve
