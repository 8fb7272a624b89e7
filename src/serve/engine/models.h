// The models of a server by name. They are loaded in the background. A model that is loaded again replaces the old one when
// it is ready; until then the old one serves, and it finishes the requests that it has begun.
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
  std::function<Loaded()> load;  ///< may throw; called in the loading thread
};

/// A model's name in requests, answers, metrics and logs: bytes that are not UTF-8 are written as \xFF.
std::string model_name(std::string_view bytes);

class Models {
 public:
  /// Starts to load all of them, one after the other.
  /// @throws Error(usage) if two names, in the form of model_name(), are equal
  explicit Models(std::vector<ModelLoader> loaders);
  /// Cancels all running requests.
  ~Models();
  Models(const Models&) = delete;
  Models& operator=(const Models&) = delete;

  enum class State : std::uint8_t { loading, ready, failed, unloaded };
  struct Status {
    std::string name;
    State state = State::loading;
    std::string error;     ///< of the last attempt to load it; an earlier version may still serve
    bool refused = false;  ///< true if that error is one of usage (ErrorKind::usage)
    ModelPtr model;        ///< null unless it is ready
  };
  /// In the order of the loaders.
  std::vector<Status> status() const;
  /// The models that are ready.
  std::vector<ModelPtr> ready() const;
  /// True if every ready model is saturated (Engine::crowded).
  bool crowded() const;
  /// True if the first attempt to load some model has not ended.
  bool loading() const;
  /// Waits until loading() is false.
  void wait() const;
  /// The model with this name if it is ready, else null.
  ModelPtr find(const std::string& name) const;
  bool knows(const std::string& name) const;

  /// Loads a model again in the background; an empty name: all models. @return false if there is no such model
  bool reload(const std::string& name = {});
  /// Unloads a model; its memory is freed once its running requests have ended. @return false if it is not loaded
  bool unload(const std::string& name);
  /// Takes no more requests, and returns once all have ended, also those of models that were replaced.
  void drain();

 private:
  struct Entry {
    ModelLoader loader;
    Status status;
    bool tried = false;     ///< an attempt to load it has ended
    bool unwanted = false;  ///< unloaded: a load in progress is discarded
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
  bool stopping_ = false, no_more_ = false;  ///< no_more_: no further model will be retired
  std::vector<ModelPtr> retiring_;
  std::size_t ending_ = 0;  ///< retired models that are being destroyed
  /// Both are started at once, because later no thread might be available.
  std::thread closer_, loader_;
};

}  // namespace tril::serve
