// How a route reaches a model: finding it, waiting until it is loaded, and submitting works to its engine; and longer jobs outside
// of the server's threads.
#include <algorithm>
#include <cmath>

#include "base/printable.h"
#include "serve/api/service.h"

namespace tril::serve {
namespace {

// The names of a model and of its adapter, or "".
std::pair<std::string, std::string> split_name(const Models& models, const std::string& name) {
  const std::size_t colon = name.rfind(':');
  if (colon == name.npos || models.knows(name) || !models.knows(name.substr(0, colon))) return {name, ""};
  return {name.substr(0, colon), name.substr(colon + 1)};
}

[[noreturn]] void fail_unknown_adapter(const std::string& model, const std::string& adapter,
                                       const std::vector<std::string>& known) {
  std::vector<std::string> names;
  for (const std::string& one : known) names.push_back(model + ":" + one);
  throw HttpError(404, fmt::format("model {} has no adapter {}{}", model, printable(adapter),
                                   names.empty() ? "" : fmt::format("; there are {}", fmt::join(names, ", "))))
      .of_field("model")
      .with_code("model_not_found");
}

// A model with the adapter of this name; it shares the model's life.
ModelPtr with_adapter(const ModelPtr& model, const std::string& adapter) {
  if (adapter.empty()) return model;
  for (const auto& each : model->with_adapters())
    if (each->name() == model->name() + ":" + adapter) return ModelPtr(model, each.get());
  fail_unknown_adapter(model->name(), adapter, model->profile().adapters);
}

// For Retry-After.
int whole_seconds(double seconds) {
  return std::clamp(static_cast<int>(std::ceil(seconds)), 1, 60);
}

HttpError not_ready(const std::string& message, double seconds) {
  HttpError error = HttpError(503, message, "server_error").of_field("model");
  error.retry_after = whole_seconds(seconds);
  return error;
}

}  // namespace

Models::Offer Service::find_model(const std::string& name, std::optional<bool> translates) const {
  if (const auto [base, adapter] = split_name(models_, name); !adapter.empty()) {
    const Models::Offer offer = find_model(base, translates);
    const std::vector<std::string>& known = offer.profile->adapters;
    if (std::find(known.begin(), known.end(), adapter) == known.end()) fail_unknown_adapter(base, adapter, known);
    return {name, offer.profile};
  }
  for (const Models::Offer& offer : models_.offers()) {
    if (!name.empty() && offer.name != name) continue;
    if (!translates || (*translates ? offer.profile->translates : offer.profile->continues)) return offer;
    if (!name.empty())
      throw HttpError(400, fmt::format("model {} {}", printable(name),
                                       *translates ? "continues text and does not translate"
                                                   : "translates and does not continue text"))
          .of_field("model");
  }
  const std::vector<Models::Status> all = models_.status();
  const auto is_it = [&](const Models::Status& s) { return name.empty() || s.name == name; };
  const auto loads = [&](const Models::Status& s) { return is_it(s) && s.state == Models::State::loading; };
  if (std::any_of(all.begin(), all.end(), loads)) throw not_ready("the model is being loaded", 1);
  if (!name.empty() && std::any_of(all.begin(), all.end(), is_it))
    throw HttpError(503, fmt::format("model {} is not loaded", printable(name)), "server_error").of_field("model");
  throw HttpError(404, name.empty() ? fmt::format("there is no model here that {}",
                                                  translates.value_or(true) ? "translates" : "continues text")
                                    : fmt::format("there is no model {}", printable(name)))
      .of_field("model")
      .with_code("model_not_found");
}

void Service::with_model(const CallPtr& call, const Models::Offer& offer, ModelJob job) {
  call->caller->model = offer.name;
  const auto [base, adapter] = split_name(models_, offer.name);
  if (const ModelPtr model = models_.find(base)) return job(with_adapter(model, adapter));
  const auto gone = std::make_shared<std::atomic<bool>>(false);
  call->out->on_gone([gone] { *gone = true; });
  const auto shared_job = std::make_shared<ModelJob>(std::move(job));
  const auto run = [call, gone, shared_job, with = adapter](const ModelPtr& model, const std::exception_ptr& error) {
    if (*gone) return;
    try {
      if (error) std::rethrow_exception(error);
      call->waited = true;
      (*shared_job)(with_adapter(model, with));
    } catch (...) {
      fail(call, std::current_exception());
    }
  };
  const Models::Acquired got = models_.acquire(base, {.client = call->client(),
                                                      .bytes = 2 * call->request.body.size(),  // as text and as JSON
                                                      .deadline = call->deadline,
                                                      .admitted = call->waited,
                                                      .call = run});
  switch (got.access) {
    case Models::Access::ready:
      return (*shared_job)(with_adapter(got.model, adapter));
    case Models::Access::waiting:
      return;
    case Models::Access::full:
      throw not_ready("too many requests are waiting for models to be loaded", got.seconds);
    case Models::Access::failed:
      throw not_ready(fmt::format("model {} cannot be loaded: {}", base, got.error), got.seconds);
    case Models::Access::absent:
      throw HttpError(503, fmt::format("model {} is not loaded", base), "server_error").of_field("model");
  }
}

namespace {

// A callback that waits until the gate is open.
template <class Value>
std::function<void(Value)> after_gate(const std::shared_ptr<std::mutex>& gate, std::function<void(Value)> callback) {
  if (!callback) return {};
  return [gate, callback = std::move(callback)](Value value) {
    { const std::lock_guard open(*gate); }
    callback(std::forward<Value>(value));
  };
}

HttpError full(const Engine& engine) {
  return no_room("too many requests are waiting", whole_seconds(engine.expected_wait()));
}

}  // namespace

void Service::check_room(const CallPtr& call, const ServedModel& model) const {
  if (!call->waited && !model.engine().has_room(call->client())) throw full(model.engine());
}

void Service::check_room(const CallPtr& call, bool translates) const {
  ModelPtr any;
  for (const Models::Status& s : models_.status()) {
    if (!s.profile || !(translates ? s.profile->translates : s.profile->continues) || s.disabled) continue;
    // Requests for a model that is not loaded wait elsewhere.
    if (!s.model || s.model->engine().has_room(call->client(), false)) return;
    any = s.model;
  }
  if (any) check_room(call, *any);
}

void Service::submit(const CallPtr& call, const ModelPtr& model, std::vector<WorkPtr> works,
                     const std::function<void()>& begin) {
  const auto gate = std::make_shared<std::mutex>();
  std::unique_lock<std::mutex> shut;
  if (begin) shut = std::unique_lock(*gate);
  for (const WorkPtr& work : works) {
    work->client = call->client();
    work->request.adapter = model->adapter();
    work->deadline = std::min(work->deadline, call->deadline);
    if (!begin) continue;
    work->on_token = after_gate(gate, std::move(work->on_token));
    work->on_partial = after_gate(gate, std::move(work->on_partial));
    work->on_end = after_gate(gate, std::move(work->on_end));
  }
  // Set before the works are submitted: they may end at once, and then a translation over pivots sets the callback of its
  // next hop. It does not keep the model loaded either, because another model may wait for its memory; running works do.
  call->out->on_gone([weak = std::weak_ptr(model), works] {
    if (const ModelPtr running = weak.lock()) running->engine().cancel(works);
  });
  switch (model->engine().submit(works, call->waited ? Admission::given : Admission::asked)) {
    case Engine::Answer::taken:
      break;
    case Engine::Answer::full:
      throw full(model->engine());
    case Engine::Answer::closed: {
      HttpError error(503, "the model is being replaced", "server_error");
      error.retry_after = 1;
      throw error;
    }
  }
  if (begin) begin();
}

void Service::beside(const CallPtr& call, std::function<void()> job) {
  side_.push(
      call->client(), [open = models_.keep_open(), job = std::move(job)](search::WorkerPool&) { job(); },
      SideWorker::Room::given);
}

void Service::push(SideWorker& worker, const CallPtr& call, std::function<void(search::WorkerPool&)> job) {
  // The client may go away while the job waits; later stages handle that themselves.
  const auto gone = std::make_shared<std::atomic<bool>>(false);
  call->out->on_gone([gone] { *gone = true; });
  const bool taken = worker.push(
      call->client(), [call, gone, open = models_.keep_open(), job = std::move(job)](search::WorkerPool& pool) {
        if (*gone) return;
        try {
          if (call->deadline <= Clock::now()) throw HttpError(503, "the request waited too long", "server_error");
          job(pool);
        } catch (...) {
          fail(call, std::current_exception());
        }
      });
  if (taken) return;
  throw no_room("too many requests are waiting", 1);
}

}  // namespace tril::serve
