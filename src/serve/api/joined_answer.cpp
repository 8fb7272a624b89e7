#include "serve/api/joined_answer.h"

#include <utility>

#include "serve/api/cancellable_responder.h"

namespace tril::serve {

// Receives the answer to a group.
class JoinedAnswer::Part : public CancellableResponder {
 public:
  Part(std::shared_ptr<JoinedAnswer> whole, std::vector<std::size_t> places)
      : whole_(std::move(whole)), places_(std::move(places)) {}

  void send(HttpResponse response) override {
    if (response.status != 200) return whole_->fail(std::move(response));
    whole_->take(places_, Json::parse(response.body));
  }
  void begin(HttpResponse) override { whole_->begin(); }
  // An event of a stream: a text so far, the answer to the group, or an error.
  void write(std::string_view more) override {
    constexpr std::string_view before = "data: ", done = "[DONE]";
    more.remove_prefix(before.size());
    if (more.starts_with(done)) return;
    Json event = Json::parse(more);
    if (event.contains("partial")) return whole_->partial(places_, std::move(event));
    if (event.contains("error")) return whole_->fail({.status = 500, .body = json_text(event) + "\n"});
    whole_->take(places_, event);
  }
  void finish() override {}

 private:
  std::shared_ptr<JoinedAnswer> whole_;
  std::vector<std::size_t> places_;
};

CallPtr JoinedAnswer::part(std::vector<std::size_t> places) {
  auto out = std::make_shared<Part>(shared_from_this(), std::move(places));
  auto call = std::make_shared<Call>();
  call->route = call_->route;
  call->request.path = call_->request.path;
  call->request.method = call_->request.method;
  call->request.body = call_->request.body;                       // its size counts while the part waits for a model
  call->caller = std::make_shared<CallIdentity>(*call_->caller);  // parts run in different threads
  call->admin = call_->admin;
  call->is_part = true;
  call->begun = call_->begun;
  call->deadline = call_->deadline;
  call->id = call_->id;
  call->out = out;
  {
    const std::lock_guard lock(mutex_);
    parts_.push_back(out);
  }
  call_->out->on_gone([whole = weak_from_this()] {
    if (const auto all = whole.lock()) all->cancel();
  });
  return call;
}

void JoinedAnswer::cancel() {
  std::vector<std::weak_ptr<Part>> parts;
  {
    const std::lock_guard lock(mutex_);
    ended_ = true;
    parts = parts_;
  }
  for (const auto& part : parts)
    if (const auto one = part.lock()) one->cancel();
}

void JoinedAnswer::begin() {
  const std::lock_guard order(output_mutex_);
  {
    const std::lock_guard lock(mutex_);
    if (ended_ || std::exchange(begun_, true)) return;
  }
  call_->out->begin({.content_type = "text/event-stream", .body = {}});
}

void JoinedAnswer::partial(const std::vector<std::size_t>& places, Json event) {
  event["index"] = places.at(event["index"].get<std::size_t>());
  const std::lock_guard order(output_mutex_);
  {
    const std::lock_guard lock(mutex_);
    if (ended_) return;
  }
  call_->out->write("data: " + json_text(event) + "\n\n");
}

void JoinedAnswer::take(const std::vector<std::size_t>& places, const Json& body) {
  {
    const std::lock_guard lock(mutex_);
    // Each is a list by text, except for warnings, the pivots and the assumed source, which all texts of a group have in common.
    for (const auto& [key, list] : body.items())
      if (key == "warnings")
        for (const Json& message : list) call_->warnings.tell(message.get<std::string>());
      else
        for (std::size_t i = 0; i < places.size(); ++i)
          body_[key][places[i]] = key == "pivot" || !list.is_array() ? list : list.at(i);
    if (--left_ > 0 || std::exchange(ended_, true)) return;
  }
  const std::lock_guard order(output_mutex_);
  if (!begun_) return call_->send(body_);
  if (call_->on_success) call_->on_success();
  call_->warnings.put_into(body_);
  call_->out->write("data: " + json_text(body_) + "\n\ndata: [DONE]\n\n");
  call_->out->finish();
}

void JoinedAnswer::fail(HttpResponse response) {
  {
    const std::lock_guard lock(mutex_);
    if (std::exchange(ended_, true)) return;
  }
  {
    const std::lock_guard order(output_mutex_);
    if (begun_) {
      call_->out->write("data: " + response.body + "\n");
      call_->out->finish();
    } else {
      call_->out->send(std::move(response));
    }
  }
  cancel();
}

}  // namespace tril::serve
