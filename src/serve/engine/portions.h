// The works of one request on their way to an engine. As many as may wait are given to it all at once, or none of them. Of a
// request that has more (a long text is a work for each of its sentences) some are given first, and each of the others when
// one before it has ended, so that no text is too long and no client has more than its share of the queue.
#pragma once

#include <deque>
#include <memory>
#include <mutex>
#include <vector>

#include "serve/engine/served_model.h"

namespace tril::serve {

class Portions : public std::enable_shared_from_this<Portions> {
 public:
  Portions(std::shared_ptr<ServedModel> model, std::vector<WorkPtr> works)
      : model_(std::move(model)), works_(std::move(works)) {}

  /// Gives the first ones, once all are checked (Engine::check_works()). Where the engine does not take them nothing was begun, and nobody's on_end is called.
  Engine::Answer start();
  /// Whoever asked wants none of it any more.
  void cancel();

 private:
  Engine::Answer give_first();
  void follow(Work& work);
  void one_ended();

  std::shared_ptr<ServedModel> model_;
  const std::vector<WorkPtr> works_;
  std::mutex mutex_;
  std::deque<WorkPtr> waiting_;  ///< those that the engine does not have yet
  std::size_t in_flight_ = 0;
};

}  // namespace tril::serve
