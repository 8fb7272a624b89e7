#include "serve/engine/portions.h"

#include <algorithm>
#include <utility>

#include "serve/http/http_error.h"

namespace tril::serve {

Engine::Answer Portions::start() {
  const Engine::Answer answer = give_first();
  if (answer != Engine::Answer::taken)  // what they hold of whoever asked, and of this, goes with them
    for (const WorkPtr& work : works_) work->on_token = {}, work->on_partial = {}, work->on_end = {};
  return answer;
}

Engine::Answer Portions::give_first() {
  Engine& engine = model_->engine();
  const std::size_t room = engine.options().queue_size;
  if (works_.size() <= FairQueue::share_of_one(room)) return engine.submit(works_);
  engine.check_works(works_);
  const auto first = static_cast<std::ptrdiff_t>(std::max<std::size_t>(1, room / 4));
  const std::vector<WorkPtr> begun(works_.begin(), works_.begin() + first);
  waiting_.assign(works_.begin() + first, works_.end());
  in_flight_ = begun.size();
  for (const WorkPtr& work : begun) follow(*work);
  return engine.submit(begun);
}

void Portions::cancel() {
  for (const WorkPtr& work : works_) work->cancelled = true;
  model_->engine().notify();
}

// Has the next one given when this one has ended.
void Portions::follow(Work& work) {
  work.on_end = [self = shared_from_this(), on_end = std::move(work.on_end)](Outcome&& outcome) {
    on_end(std::move(outcome));
    self->one_ended();
  };
}

void Portions::one_ended() {
  std::vector<std::pair<WorkPtr, Outcome>> never_begun;
  {
    const std::lock_guard lock(mutex_);
    --in_flight_;
    while (!waiting_.empty()) {
      const WorkPtr work = waiting_.front();
      if (work->cancelled) {
        never_begun.push_back({work, {.cut = search::Cut::cancelled}});
      } else {
        auto on_end = work->on_end;
        follow(*work);
        const Engine::Answer answer = model_->engine().submit({&work, 1}, true);
        if (answer != Engine::Answer::taken) work->on_end = std::move(on_end);
        if (answer == Engine::Answer::full && in_flight_ > 0) break;  // there is room when the next one ends
        if (answer == Engine::Answer::taken) {
          ++in_flight_;
          waiting_.pop_front();
          break;
        }
        const HttpError busy(503, "there was no room to continue with the rest of the request", "server_error");
        never_begun.push_back({work, {.error = std::make_exception_ptr(busy)}});
      }
      waiting_.pop_front();
    }
  }
  for (auto& [work, outcome] : never_begun) std::exchange(work->on_end, {})(std::move(outcome));
}

}  // namespace tril::serve
