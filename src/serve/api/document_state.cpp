// The state of a document's translation: its progress, its end, and what its routes ask for.
#include "serve/api/cancellable_responder.h"
#include "serve/api/document_translation.h"
#include "serve/api/service.h"

namespace tril::serve {

void DocumentTranslation::fail(const std::exception_ptr& error) {
  // Not by the service, which may have ended before the engine has.
  ErrorAnswer answer = error_answer(error, "/translate_file", Json::object());
  fail(DocumentFailure{answer.status, std::move(answer.message), std::move(answer.headers), std::move(answer.parameter),
                       std::move(answer.code)});
}

void DocumentTranslation::fail(DocumentFailure failure) {
  end([&] { state_ = State::failed, failure_ = std::move(failure); });
}

void DocumentTranslation::cancel(DocumentFailure why) {
  fail(std::move(why));
  const std::lock_guard ended(ending_);  // waits until on_end has returned, in any thread
}

// Ends it once. @param settle  sets the result, with the lock held
void DocumentTranslation::end(const std::function<void()>& settle) {
  const std::lock_guard ending(ending_);
  std::shared_ptr<Sentences> old;
  std::shared_ptr<const DocumentTask> task;
  std::function<void(const DocumentTranslation&)> tell;
  {
    const std::lock_guard lock(mutex_);
    if (state_ == State::done || state_ == State::failed) return;
    settle();
    old = std::exchange(sentences_, nullptr);
    task = std::exchange(task_, nullptr);
    bytes_ = {};
    on_progress_ = {};
    tell = std::exchange(on_end_, {});
  }
  for (const auto& lane : lane_ends_) lane->cancel();
  if (tell) tell(*this);
  {
    const std::lock_guard lock(mutex_);
    terms_ = {};
  }
  open_.reset();  // only now, so that a server that stops waits for the response
}

void DocumentTranslation::tell_progress() {
  DocumentProgress now;
  std::function<void(const DocumentProgress&)> tell;
  {
    const std::lock_guard lock(mutex_);
    tell = on_progress_;
    now = progress_with_lock();
  }
  if (tell) tell(now);
}

DocumentProgress DocumentTranslation::progress_with_lock() const {
  DocumentProgress now{.done = done_, .total = total_, .seconds_left = {}};
  if (done_ > 0) {
    const double seconds = std::chrono::duration<double>(Clock::now() - begun_).count();
    now.seconds_left = seconds / static_cast<double>(done_) * static_cast<double>(total_ - done_);
  }
  return now;
}

DocumentTranslation::State DocumentTranslation::state() const {
  const std::lock_guard lock(mutex_);
  return state_;
}

DocumentProgress DocumentTranslation::progress() const {
  const std::lock_guard lock(mutex_);
  return progress_with_lock();
}

DocumentPath DocumentTranslation::path() const {
  const std::lock_guard lock(mutex_);
  return path_;
}

Warnings DocumentTranslation::warnings() const {
  const std::lock_guard lock(mutex_);
  return warnings_;
}

DocumentTerms DocumentTranslation::terms() const {
  const std::lock_guard lock(mutex_);
  return terms_;
}

DocumentFailure DocumentTranslation::failure() const {
  const std::lock_guard lock(mutex_);
  return failure_;
}

std::string DocumentTranslation::result_name() const {
  const std::lock_guard lock(mutex_);
  return result_.name;
}

std::size_t DocumentTranslation::result_bytes() const {
  const std::lock_guard lock(mutex_);
  return result_.bytes.size();
}

DocumentResult DocumentTranslation::result() const {
  const std::lock_guard lock(mutex_);
  return result_;
}

DocumentResult DocumentTranslation::take_result() {
  const std::lock_guard lock(mutex_);
  return std::exchange(result_, {});
}

}  // namespace tril::serve
