#include "serve/api/document_translation.h"

#include <algorithm>

#include "decode/texts/split_translator.h"
#include "serve/api/cancellable_responder.h"
#include "serve/api/document_reading.h"
#include "serve/api/pivot_translation.h"
#include "serve/api/request_terms.h"
#include "serve/api/sentence_plan.h"
#include "serve/api/split_text.h"
#include "serve/api/text_sources.h"
#include "unicode/one_line.h"
#include "unicode/trim.h"

namespace tril::serve {

struct DocumentTranslation::Sentences {
  std::unique_ptr<document::Document> document;
  std::optional<document::DocumentSentences> list;
  std::vector<document::Translated> done;
  ModelChoice choice;
  RequestTerms terms;

  const Models::Offer& first_model() const {
    return choice.before.empty() ? choice.model : choice.before.front().model;
  }
};

// Consecutive sentences that are submitted together.
struct DocumentTranslation::Window {
  std::shared_ptr<Sentences> all;
  std::size_t lane = 0, first = 0;
  std::vector<std::string> sources;  ///< in the language that the last model reads
  std::optional<SentencePlan> plan;
  std::atomic<std::size_t> left = 0;
};

// The end of the calls of a lane: receives errors, and cancels what is running.
class DocumentTranslation::Lane : public CancellableResponder {
 public:
  explicit Lane(std::weak_ptr<DocumentTranslation> document) : document_(std::move(document)) {}

  void send(HttpResponse response) override {
    const auto document = document_.lock();
    if (!document) return;
    // In the format of Service::fail() for a call without a route.
    const Json::json_pointer message("/error/message");
    const Json body = Json::parse(response.body, nullptr, false);
    document->fail(DocumentFailure{response.status,
                                   body.contains(message) ? body[message].get<std::string>() : "internal error",
                                   std::move(response.headers)});
  }
  void begin(HttpResponse) override {}
  void write(std::string_view) override {}
  void finish() override {}

 private:
  std::weak_ptr<DocumentTranslation> document_;
};

DocumentTranslation::DocumentTranslation(std::string id, Service& service, SideWorker& worker, const Call& call,
                                         DocumentTask task, Clock::time_point deadline)
    : service_(service),
      models_(service.models()),
      worker_(worker),
      id_(std::move(id)),
      client_(call.client()),
      account_(call.account()),
      request_id_(call.id),
      admin_(call.admin),
      most_characters_(call.most_characters),
      deadline_(deadline),
      open_(models_.keep_open()),
      bytes_(std::move(task.bytes)),
      on_progress_(std::exchange(task.on_progress, {})),
      on_end_(std::exchange(task.on_end, {})),
      task_(std::make_shared<const DocumentTask>(std::move(task))) {}

DocumentTranslation::~DocumentTranslation() = default;

void DocumentTranslation::start() {
  {
    const std::lock_guard ending(ending_);
    if (state() != State::waiting) return;  // it was cancelled while it waited for others
    for (std::size_t i = 0; i < lanes; ++i) lane_ends_.push_back(std::make_shared<Lane>(weak_from_this()));
  }
  aside([this] { read(); });
}

CallPtr DocumentTranslation::call_of(std::size_t lane) const {
  auto call = std::make_shared<Call>();
  call->request.path = "/translate_file";  // for the log
  call->request.method = "POST";
  call->out = lane_ends_[lane];
  call->caller->client = client_;
  call->admin = admin_;
  call->waited = true;  // the document was admitted as a whole
  call->deadline = deadline_;
  call->id = request_id_;
  return call;
}

void DocumentTranslation::aside(std::function<void()> job) {
  const auto run = [self = shared_from_this(), job = std::move(job)](search::WorkerPool&) { self->guarded(job); };
  if (!worker_.push(client_, run)) fail(DocumentFailure{503, "too many documents are being translated"});
}

void DocumentTranslation::guarded(const std::function<void()>& job) {
  if (state() == State::done || state() == State::failed) return;
  try {
    if (Clock::now() > deadline_) throw HttpError(503, "the translation of the file took too long", "server_error");
    job();
  } catch (...) {
    fail(std::current_exception());
  }
}

void DocumentTranslation::read() {
  const auto all = std::make_shared<Sentences>();
  const std::shared_ptr<const DocumentTask> task = this->task();
  if (!task) return;
  const TranslateRequest& r = task->request;
  std::string bytes;
  {
    const std::lock_guard lock(mutex_);
    bytes = std::exchange(bytes_, {});
  }
  // The formats of some documents depend on the languages; so a document whose language is detected is read twice.
  all->choice =
      choose_models(service_, {r.model, r.source, r.target}, 1,
                    [&] {
                      return std::vector{sample_of_document(*read_document_file(bytes, {task->name, "", r.target}))};
                    })
          .at(0)
          .choice;
  const ModelChoice& choice = all->choice;
  all->document =
      read_document_file(std::move(bytes), {task->name, document_source(choice, r), document_target(choice, r)});
  const std::vector<std::string> pivots = pivots_of(choice);
  if (!pivots.empty()) {
    check_over_pivots(r, task->body, pivots);
    if (r.context > 0)
      throw field_error("context",
                        "is not possible for a file that is translated through other languages; leave it out");
  }
  all->terms = request_terms(r, task->body, choice);
  {
    const std::lock_guard lock(mutex_);
    terms_ = DocumentTerms(all->terms.terminology != nullptr, all->terms.memory != nullptr);
    path_.pivots = pivots;
    path_.model = choice.model.name;
    path_.assumed = choice.assumed;
    if (!choice.detected.empty())
      path_.detected = choice.detected[0].language, path_.confidence = choice.detected[0].confidence;
  }
  service_.with_model(call_of(0), all->first_model(), [self = shared_from_this(), all](const ModelPtr& model) {
    self->aside([self, all, model] { self->split(all, model); });
  });
}

void DocumentTranslation::split(const std::shared_ptr<Sentences>& all, const ModelPtr& model) {
  const ModelChoice& choice = all->choice;
  const std::shared_ptr<const DocumentTask> task = this->task();
  if (!task) return;
  if (choice.before.empty()) {
    const SentencePlan plan(model, choice, task->request, task->body, all->terms);
    const search::SplitOptions how{.source_language = plan.source_language()};
    all->list.emplace(*all->document, search::segments_that_fit(how, plan.tag(), model->translation(), plan.text()));
  } else {
    const HopText hop = text_of(*model, choice.before.front());
    const search::SplitOptions how{.source_language = choice.before.front().source};
    all->list.emplace(*all->document, search::segments_that_fit(how, hop.tag, model->translation(), hop.options));
  }
  check_document_size(all->list->size());
  all->done.resize(all->list->size());
  std::size_t characters = 0;
  for (std::size_t k = 0; k < all->list->size(); ++k)
    characters += static_cast<std::size_t>(characters_in(all->list->text(k)));
  service_.usage().check(account_, most_characters_, static_cast<std::int64_t>(characters));
  {
    const std::lock_guard lock(mutex_);
    if (state_ != State::waiting) return;
    state_ = State::translating;
    sentences_ = all;
    path_.characters = characters;
    total_ = all->list->size();
    begun_ = Clock::now();
  }
  tell_progress();
  for (std::size_t lane = 0; lane < lanes; ++lane) aside([this, lane] { next_window(lane); });
}

// For a job, which may outlast the document's end.
std::shared_ptr<const DocumentTask> DocumentTranslation::task() const {
  const std::lock_guard lock(mutex_);
  return task_;
}

std::shared_ptr<DocumentTranslation::Sentences> DocumentTranslation::sentences() const {
  const std::lock_guard lock(mutex_);
  return sentences_;
}

void DocumentTranslation::next_window(std::size_t lane) {
  const auto window = std::make_shared<Window>();
  std::size_t count = 0;
  Schedule schedule;
  {
    const std::lock_guard lock(mutex_);
    if (state_ != State::translating) return;
    schedule = task_->request.schedule;
    window->all = sentences_, window->lane = lane, window->first = next_;
    count = std::min(window_sentences, total_ - next_);
    next_ += count;
    if (count == 0 && --lanes_left_ > 0) return;
  }
  if (count == 0) return write();
  for (std::size_t k = 0; k < count; ++k) window->sources.push_back(window->all->list->text(window->first + k));
  recall(*window);
  const ModelChoice& choice = window->all->choice;
  const CallPtr call = call_of(lane);
  const auto by_last = [self = shared_from_this(), window, call] {
    self->service_.with_model(call, window->all->choice.model,
                              [self, window](const ModelPtr& model) { self->translate(window, model); });
  };
  if (choice.before.empty()) return by_last();
  translate_through(service_, call,
                    {.hops = choice.before,
                     .sentences = window->sources,
                     .schedule = schedule,
                     .then = [self = shared_from_this(), window, call, by_last](std::vector<std::string> sentences) {
                       {
                         const std::lock_guard lock(self->mutex_);
                         self->warnings_.add(call->warnings);
                       }
                       window->sources = std::move(sentences);
                       by_last();
                     }});
}

// Looks the sentences up in the request's translation memory.
void DocumentTranslation::recall(const Window& window) {
  const auto memory = window.all->terms.memory;
  if (!memory) return;
  for (std::size_t k = 0; k < window.sources.size(); ++k) {
    std::vector<terms::MemoryHit> hits = memory->find(window.sources[k]);
    const std::lock_guard lock(mutex_);
    terms_.add_hits(window.first + k, window.sources[k], std::move(hits));
  }
}

void DocumentTranslation::translate(const std::shared_ptr<Window>& window, const ModelPtr& model) {
  const Sentences& all = *window->all;
  const std::shared_ptr<const DocumentTask> task = this->task();
  if (!task) return;
  const TranslateRequest& r = task->request;
  window->plan.emplace(model, all.choice, r, task->body, all.terms);
  window->plan->settle(all.list->any_marks());
  std::vector<WorkPtr> works;
  for (std::size_t k = 0; k < window->sources.size(); ++k) {
    const std::size_t number = window->first + k;
    search::TextInput input{.text = TagsOfText(*model, window->plan->tag(), "target").put_before(window->sources[k])};
    for (std::size_t at = number - std::min(number, static_cast<std::size_t>(r.context)); at < number; ++at)
      input.context.push_back(all.list->text(at));
    const auto [text, work] = window->plan->sentence(std::move(input), number);
    if (!work) {
      const std::lock_guard lock(mutex_);
      const search::Translation best = window->plan->translations(*text, {}).at(0);
      window->all->done[number].text = best.text;
      terms_.add(number, best);
      ++done_;
      continue;
    }
    if (text->truncated) {
      const std::lock_guard lock(mutex_);
      warn_if_truncated(warnings_, *text, *model);
    }
    work->on_end = [self = shared_from_this(), window, k, prepared = text](Outcome&& outcome) {
      self->take(window, k, *prepared, outcome);
    };
    works.push_back(work);
  }
  window->left = works.size();
  if (works.empty()) return aside([this, lane = window->lane] { next_window(lane); });
  service_.submit(call_of(window->lane), model, std::move(works));
}

// In a thread of the engine.
void DocumentTranslation::take(const std::shared_ptr<Window>& window, std::size_t k,
                               const search::TextToTranslate& text, const Outcome& outcome) {
  const std::size_t number = window->first + k;
  try {
    const search::Translation best = window->plan->translations(text, outcome).at(0);
    if (best.stop_reason == search::StopReason::time_limit || best.stop_reason == search::StopReason::cancelled)
      throw HttpError(503, "the translation of the file took too long", "server_error");
    document::Translated translated{one_line(best.text), {}};
    if (window->all->list->has_marks(number) && translated.text == best.text)
      translated = window->plan->linked(best, window->all->list->text(number));
    const std::lock_guard lock(mutex_);
    if (state_ != State::translating) return;
    window->all->done[number] = std::move(translated);
    terms_.add(number, best);
    ++done_;
  } catch (...) {
    return fail(std::current_exception());
  }
  tell_progress();
  // The next window has to be split into tokens, so an engine's thread leaves it to another.
  if (--window->left == 0)
    models_.post(
        [self = shared_from_this(), lane = window->lane] { self->aside([self, lane] { self->next_window(lane); }); });
}

void DocumentTranslation::write() {
  const std::shared_ptr<Sentences> all = sentences();
  const std::shared_ptr<const DocumentTask> task = this->task();
  if (!all || !task) return;
  DocumentResult result;
  result.name = translated_name(task->name, all->choice, task->request);
  result.bytes = all->list->write(all->choice.target, [&](std::size_t k) { return std::move(all->done[k]); });
  end([&] { state_ = State::done, result_ = std::move(result); });
}

}  // namespace tril::serve
