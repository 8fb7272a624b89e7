#include "serve/http/noted_responder.h"

#include <algorithm>

namespace tril::serve {

void NotedResponder::send(HttpResponse response) {
  bytes_ += response.body.size();
  take(response);
  out_->send(std::move(response));
  end();
}

void NotedResponder::begin(HttpResponse response) {
  take(response);
  out_->begin(std::move(response));
}

void NotedResponder::write(std::string_view more) {
  bytes_ += more.size();
  out_->write(more);
}

void NotedResponder::finish() {
  out_->finish();
  end();
}

void NotedResponder::on_gone(std::function<void()> f) {
  out_->on_gone([self = weak_from_this(), f = std::move(f)] {
    if (const auto here = self.lock()) here->gone_ = true;
    f();
  });
}

void NotedResponder::take(HttpResponse& response) {
  status_ = response.status;
  Headers& own = response.headers;
  for (const auto& [name, value] : headers_)
    if (std::none_of(own.begin(), own.end(), [&common = name](const auto& h) { return h.first == common; }))
      own.emplace_back(name, value);
}

void NotedResponder::end() {
  if (ended_.exchange(true)) return;
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begun_;
  on_end_({.status = gone_ ? 499 : status_.load(), .bytes = bytes_.load(), .seconds = seconds.count()});
}

}  // namespace tril::serve
