#include "serve/api/pivot_translation.h"

#include <algorithm>
#include <atomic>
#include <mutex>

#include "serve/api/model_choice.h"
#include "serve/api/search_fields.h"
#include "serve/api/split_text.h"
#include "tokenizer/files/language_tag.h"

namespace tril::serve {
namespace {

class Pivoting : public std::enable_shared_from_this<Pivoting> {
 public:
  Pivoting(Service& service, CallPtr call, PivotTask task)
      : service_(service), models_(service.models()), call_(std::move(call)), task_(std::move(task)) {}

  void start() {
    open_ = models_.keep_open();
    if (const auto limit = task_.schedule.time_limit)  // for all hops together
      call_->deadline = std::min(call_->deadline, Clock::now() + duration_of(*limit));
    next();
  }

 private:
  void next() {
    if (hop_ == task_.hops.size()) return task_.then(std::move(task_.sentences));
    service_.with_model(call_, task_.hops[hop_].model,
                        [self = shared_from_this()](const ModelPtr& model) { self->translate(model); });
  }

  void translate(const ModelPtr& model) {
    service_.check_room(call_, *model);
    const Hop& hop = task_.hops[hop_];
    const auto [text, tag] = text_of(*model, hop);
    const auto plan = model->options("pivot", [&] { return search_plan({}, model->asked_to_translate(), 1, *model); });
    std::vector<WorkPtr> works;
    for (std::size_t i = 0; i < task_.sentences.size(); ++i) {
      const std::string source = prepend_language_tag(tag, task_.sentences[i]);
      auto prepared =
          std::make_shared<search::TextToTranslate>(model->translation().prepare({.text = source}, i, text, *plan));
      if (prepared->is_empty()) {
        task_.sentences[i].clear();
        continue;
      }
      warn_if_truncated(call_->warnings, *prepared, *model);
      auto work = std::make_shared<Work>();
      work->source = prepared->source;
      work->request = prepared->request;
      work->options = plan;
      set_schedule(task_.schedule, *work);
      work->on_end = [self = shared_from_this(), model, i, prepared, text = text](Outcome&& outcome) {
        self->take(*model, i, *prepared, text, std::move(outcome));
      };
      works.push_back(std::move(work));
    }
    left_ = works.size();
    works.empty() ? finish() : service_.submit(call_, model, std::move(works));
  }

  // In a thread of the engine.
  void take(const ServedModel& model, std::size_t i, const search::TextToTranslate& prepared,
            const search::TextOptions& text, Outcome outcome) {
    try {
      if (outcome.error) std::rethrow_exception(outcome.error);
      // The next model must not read what the time limit has left of a sentence.
      const bool cancelled = outcome.stop_reason == search::StopReason::cancelled;
      if (outcome.hypotheses.empty() || cancelled || outcome.stop_reason == search::StopReason::time_limit)
        throw HttpError(cancelled ? 499 : 503, "the request took too long", "server_error");
      std::string best = model.translation().finish(prepared, outcome.hypotheses, text).at(0).text;
      const std::lock_guard lock(mutex_);
      task_.sentences[i] = std::move(best);
    } catch (...) {
      const std::lock_guard lock(mutex_);
      if (!error_) error_ = std::current_exception();
    }
    if (--left_ == 0) finish();
  }

  // The next hop may have to split many texts into tokens, or to load a model, so an engine's thread leaves it to another.
  void finish() {
    models_.post([self = shared_from_this()] {
      try {
        if (self->error_) std::rethrow_exception(self->error_);
        self->call_->waited = true;  // the request was admitted by the first hop
        ++self->hop_;
        self->next();
      } catch (...) {
        self->service_.fail(self->call_, std::current_exception());
      }
    });
  }

  Service& service_;
  Models& models_;  ///< outlives the service
  CallPtr call_;
  PivotTask task_;
  std::shared_ptr<const void> open_;  ///< a server that stops waits for the next hops
  std::size_t hop_ = 0;
  std::atomic<std::size_t> left_ = 0;
  std::mutex mutex_;
  std::exception_ptr error_;
};

}  // namespace

HopText text_of(const ServedModel& model, const Hop& hop) {
  HopText t{.options = model.loaded().text, .tag = ""};
  if (!model.languages().reads_target) return t;
  const Languages languages = languages_for(model, model.languages().from_each ? hop.source : "", hop.target);
  t.options.source_language = languages.source, t.options.target_language = languages.target;
  t.tag = languages.prefix;
  return t;
}

void translate_through(Service& service, const CallPtr& call, PivotTask task) {
  std::make_shared<Pivoting>(service, call, std::move(task))->start();
}

}  // namespace tril::serve
