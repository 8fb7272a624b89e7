// Translates for LibreTranslate's clients, with all search options as further fields:
//   POST /translate
#include <algorithm>
#include <mutex>
#include <optional>

#include "decode/texts/prompted_text.h"
#include "serve/api/joined_answer.h"
#include "serve/api/model_choice.h"
#include "serve/api/pivot_translation.h"
#include "serve/api/request_terms.h"
#include "serve/api/sentence_plan.h"
#include "serve/api/service.h"
#include "serve/api/split_text.h"
#include "serve/api/text_sources.h"
#include "serve/api/translate_api.h"
#include "serve/api/translation_details.h"
#include "tokenizer/files/language_tag.h"

namespace tril::serve {
namespace {

constexpr std::int64_t most_context_tokens =
    1024;  // of TranslateRequest::context_text, which is read with each sentence

// A request in progress: the sentences of its texts, and the translations of each.
class Translating : public std::enable_shared_from_this<Translating> {
 public:
  Translating(CallPtr call, ModelPtr model, ModelChoice choice, TranslateRequest request, bool list)
      : call_(std::move(call)),
        model_(std::move(model)),
        choice_(std::move(choice)),
        r_(std::move(request)),
        list_(list) {}

  /// @param texts  as the pivots have left them; null: the model reads the request's texts
  void start(Service& service, const Json& body, SplitTexts texts) {
    const RequestTerms terms = request_terms(r_, body, choice_);
    plan_.emplace(model_, choice_, r_, body, terms);
    shows_context_text_ = model_->profile().takes_context && !r_.context_text.empty();
    if (shows_context_text_) {
      const std::int64_t positions = model_->model().max_positions();
      const std::int64_t most = positions > 0 ? std::min(positions / 4, most_context_tokens) : most_context_tokens;
      r_.context_text =
          search::ending_of(model_->tokenizer(), std::move(r_.context_text), static_cast<std::size_t>(most));
    }
    split_ =
        texts ? std::move(texts) : split_texts(r_, plan_->source_language(), {*model_, plan_->tag(), plan_->text()});
    if (r_.word_links && !model_->model().alignment_heads())
      throw field_error("word_links", fmt::format("is not possible: model {} has no alignment heads", model_->name()));
    plan_->settle(r_.word_links || std::any_of(split_->begin(), split_->end(),
                                               [](const SplitText& t) { return t.sentences.any_marks(); }));
    check_priority(r_.schedule, call_->admin);
    if (!r_.prefix.empty() && r_.split != "none") throw field_error("prefix", "needs \"split\": \"none\"");

    std::uint64_t number = 0;
    std::vector<WorkPtr> works;
    for (std::size_t i = 0; i < split_->size(); ++i) {
      TagsOfText tags(*model_, plan_->tag(), "target");
      for (std::size_t p = 0; p < (*split_)[i].sentences.size(); ++p) {
        const std::string source = tags.put_before((*split_)[i].sources[p]);
        if (WorkPtr work = work_for(i, p, source, number++)) works.push_back(std::move(work));
      }
    }
    left_ = works.size() + 1;
    std::function<void()> begin;
    if (r_.stream) begin = [this] { call_->out->begin({.content_type = "text/event-stream", .body = {}}); };
    if (!works.empty())
      service.submit(call_, model_, std::move(works), begin);
    else if (begin)
      begin();
    // Similar sentences take up to milliseconds to find, for which this thread's other clients must not wait.
    if (!terms.memory) return end_part();
    service.beside(call_, [self = shared_from_this(), memory = terms.memory] { self->recall(*memory); });
  }

 private:
  using HitsOfText = std::vector<std::vector<terms::MemoryHit>>;  ///< by sentence

  // Looks all sentences up in the memory.
  void recall(const terms::TranslationMemory& memory) {
    try {
      std::vector<HitsOfText> all;
      for (const SplitText& t : *split_) {
        all.emplace_back();
        for (const std::string& sentence : t.sources) all.back().push_back(memory.find(sentence));
      }
      hits_ = std::move(all);
    } catch (...) {
      note_error();
    }
    end_part();
  }

  void note_error() {
    const std::lock_guard lock(mutex_);
    if (!error_) error_ = std::current_exception();
  }
  // After the last one of the works and the looking up, the request is answered.
  void end_part() {
    if (--left_ == 0) finish();
  }

  // What the prompt of sentence p of a text shows: the request's context, and the sentences before.
  std::vector<std::string> context_of(std::size_t i, std::size_t p) const {
    const std::vector<std::string>& sources = (*split_)[i].sources;
    const std::size_t first = p - std::min(p, static_cast<std::size_t>(r_.context));
    std::vector<std::string> shown(sources.begin() + static_cast<std::ptrdiff_t>(first),
                                   sources.begin() + static_cast<std::ptrdiff_t>(p));
    if (shows_context_text_) shown.insert(shown.begin(), r_.context_text);
    return shown;
  }

  // The work for sentence p of text i, whose source (with its tag) is the request's `number`-th; null if it is empty.
  WorkPtr work_for(std::size_t i, std::size_t p, const std::string& source, std::uint64_t number) {
    const auto [text, work] =
        plan_->sentence({.text = source, .prefix = r_.prefix, .context = context_of(i, p)}, number);
    if (!work) {
      (*split_)[i].translations[p] = plan_->translations(*text, {});
      return nullptr;
    }
    warn_if_truncated(call_->warnings, *text, *model_);
    if (r_.stream)
      work->on_partial = [self = shared_from_this(), i, p, prepared = text](std::span<const std::int32_t> tokens) {
        self->tell(i, p, *prepared, tokens);
      };
    work->on_end = [self = shared_from_this(), i, p, prepared = text](Outcome&& outcome) {
      self->take(i, p, *prepared, outcome);
    };
    return work;
  }

  void event(const Json& json) { call_->out->write("data: " + json_text(json) + "\n\n"); }

  // Each event contains the whole text so far, so a long text is sent less often.
  void tell(std::size_t i, std::size_t p, const search::TextToTranslate& prepared,
            std::span<const std::int32_t> tokens) {
    const std::lock_guard lock(mutex_);
    SplitText& t = (*split_)[i];
    const Clock::time_point now = Clock::now();
    if (now < t.next_told) return;
    const std::string so_far = model_->translation().partial(prepared, tokens), text = assembled(i, 0, p, &so_far);
    // At most 250 KB a second, and a quarter of the time.
    const Clock::time_point done = Clock::now();
    t.next_told = done + std::max<Clock::duration>(std::chrono::microseconds(4 * text.size()), 3 * (done - now));
    if (text == t.sent) return;
    t.sent = text;
    event({{"index", i}, {"partial", text}});
  }

  void take(std::size_t i, std::size_t p, const search::TextToTranslate& prepared, const Outcome& outcome) {
    try {
      auto list = plan_->translations(prepared, outcome);
      const std::lock_guard lock(mutex_);
      (*split_)[i].translations[p] = std::move(list);
    } catch (...) {
      note_error();
    }
    end_part();
  }

  // Alternative `n` of a text. `so_far` is used for sentence p; unfinished sentences are left out.
  std::string assembled(std::size_t i, std::size_t n, std::size_t p = 0, const std::string* so_far = nullptr) const {
    const SplitText& t = (*split_)[i];
    return t.sentences.write(choice_.target, [&](std::size_t k) -> document::Translated {
      const std::vector<search::Translation>& list = t.translations[k];
      if (list.empty()) return {so_far && k == p ? *so_far : std::string(), {}};
      const search::Translation& one = list[std::min(n, list.size() - 1)];
      if (!t.sentences.has_marks(k)) return {one.text, {}};
      return plan_->linked(one, t.sentences.text(k));
    });
  }

  // The distinct texts of all alternatives except the first.
  Json alternatives_of(std::size_t i) const {
    std::size_t most = 1;
    for (const auto& list : (*split_)[i].translations) most = std::max(most, list.size());
    std::vector<std::string> seen{assembled(i, 0)};
    for (std::size_t n = 1; n < most; ++n) {
      std::string one = assembled(i, n);
      if (std::find(seen.begin(), seen.end(), one) == seen.end()) seen.push_back(std::move(one));
    }
    Json list = Json::array();
    for (std::size_t n = 1; n < seen.size(); ++n) list.push_back(seen[n]);
    return list;
  }

  // Called where no caller can handle an exception.
  void finish() {
    try {
      if (error_) std::rethrow_exception(error_);
      answer();
    } catch (...) {
      if (!r_.stream) return Service::fail(call_, std::current_exception());
      event({{"error", Service::answer_to(*call_, std::current_exception()).message}});
      call_->out->finish();
    }
  }

  void answer() {
    Json texts = Json::array(), alternatives = Json::array(), details = Json::array(), places = Json::array();
    for (std::size_t i = 0; i < split_->size(); ++i) {
      texts.push_back(assembled(i, 0));
      if (r_.alternatives > 0) alternatives.push_back(alternatives_of(i));
      if (r_.scores || r_.alignment) details.push_back(details_of((*split_)[i], *plan_, r_.alignment));
      if (r_.sentence_places)
        places.push_back(places_of((*split_)[i], r_.q[i], texts.back().get<std::string>(), *plan_, r_.word_links));
    }
    const auto shaped = [&](Json& all) { return list_ ? std::move(all) : std::move(all[0]); };
    Json body{{"translatedText", shaped(texts)}};
    if (r_.alternatives > 0) body["alternatives"] = shaped(alternatives);
    if (r_.scores || r_.alignment) body["details"] = shaped(details);
    if (r_.sentence_places) body["sentences"] = shaped(places);
    if (plan_->text().terminology) {
      Json terms = Json::array();
      for (const SplitText& t : *split_) {
        terms.push_back(Json::array());
        for (const auto& list : t.translations) add_terms(list.at(0), terms.back());
      }
      body["terms"] = shaped(terms);
    }
    if (hits_) {
      Json memory = Json::array();
      for (std::size_t i = 0; i < split_->size(); ++i) {
        const SplitText& t = (*split_)[i];
        memory.push_back(Json::array());
        for (std::size_t k = 0; k < t.sources.size(); ++k)
          add_hits((*hits_)[i][k], t.sources[k], t.translations[k].at(0).recalled, memory.back());
      }
      body["memory"] = shaped(memory);
    }
    if (!choice_.before.empty()) body["pivot"] = pivots_of(choice_);
    Json detected = Json::array();
    for (const DetectedSource& one : choice_.detected)
      detected.push_back({{"confidence", std::round(one.confidence)}, {"language", one.language}});
    if (!detected.empty()) body["detectedLanguage"] = shaped(detected);
    if (!choice_.assumed.empty()) {
      // Clients expect the detected language after "auto"; a confidence of 0 shows that nothing was detected.
      const Json assumed{{"confidence", 0}, {"language", choice_.assumed}};
      body["detectedLanguage"] = list_ ? Json(std::vector<Json>(split_->size(), assumed)) : assumed;
      body["sourceAssumed"] = choice_.assumed;
    }
    if (!r_.stream) return call_->send(body);
    if (call_->on_success) call_->on_success();
    call_->warnings.put_into(body);
    event(body);
    call_->out->write("data: [DONE]\n\n");
    call_->out->finish();
  }

  CallPtr call_;
  ModelPtr model_;
  ModelChoice choice_;
  TranslateRequest r_;
  bool list_;
  std::optional<SentencePlan> plan_;
  SplitTexts split_;
  bool shows_context_text_ = false;              ///< TranslateRequest::context_text
  std::optional<std::vector<HitsOfText>> hits_;  ///< by text; nothing: there is no memory
  std::atomic<std::size_t> left_ = 0;
  std::mutex mutex_;
  std::exception_ptr error_;
};

// What a request asks for, and of which model.
struct Translation {
  ModelChoice choice;
  TranslateRequest request;
  Json body;
};

// Translates the sentences of the texts by the last model. Without texts, these are the request's.
void translate_by_last(Service& service, const CallPtr& call, Translation t, SplitTexts texts) {
  const Models::Offer offer = t.choice.model;
  service.with_model(call, offer, [&service, call, t = std::move(t), texts](const ModelPtr& model) mutable {
    service.check_room(call, *model);
    const bool list = t.body["q"].is_array();
    std::make_shared<Translating>(call, model, std::move(t.choice), std::move(t.request), list)
        ->start(service, t.body, std::move(texts));
  });
}

void translate_over_pivots(Service& service, const CallPtr& call, Translation t) {
  check_over_pivots(t.request, t.body, pivots_of(t.choice));
  check_priority(t.request.schedule, call->admin);
  const Models::Offer first = t.choice.before.front().model;
  service.with_model(call, first, [&service, call, t = std::move(t)](const ModelPtr& model) mutable {
    const HopText hop = text_of(*model, t.choice.before.front());
    SplitTexts texts = split_texts(t.request, t.choice.before.front().source, {*model, hop.tag, hop.options});
    PivotTask task{.hops = t.choice.before, .sentences = {}, .schedule = t.request.schedule, .then = {}};
    for (const SplitText& one : *texts)
      task.sentences.insert(task.sentences.end(), one.sources.begin(), one.sources.end());
    task.then = [&service, call, t = std::move(t), texts](std::vector<std::string> sentences) mutable {
      auto next = sentences.begin();
      for (SplitText& one : *texts)
        for (std::string& source : one.sources) source = std::move(*next++);
      translate_by_last(service, call, std::move(t), std::move(texts));
    };
    translate_through(service, call, std::move(task));
  });
}

void translate_texts(Service& service, const CallPtr& call, Translation t) {
  if (t.choice.before.empty()) return translate_by_last(service, call, std::move(t), nullptr);
  translate_over_pivots(service, call, std::move(t));
}

}  // namespace

void count_characters(Service& service, const CallPtr& call, std::int64_t characters) {
  service.usage().check(call->account(), call->most_characters, characters);
  call->on_success = [usage = service.shared_usage(), account = call->account(), characters] {
    usage->add(account, characters);
  };
}

void translate(Service& service, const CallPtr& call, TranslateRequest r, Json body) {
  r.term_sources = term_sources(service, *call);
  std::vector<TextGroup> groups =
      choose_models(service, {r.model, r.source, r.target}, r.q.size(), [&] { return plain_texts(r); });
  std::int64_t characters = 0;
  for (const std::string& q : r.q) characters += characters_in(q);
  if (!call->is_part) {
    count_characters(service, call, characters);
    service.count_texts(*call, r.q.size());
  }
  if (groups.size() == 1)
    return translate_texts(service, call, {std::move(groups[0].choice), std::move(r), std::move(body)});
  const auto joined = std::make_shared<JoinedAnswer>(call, groups.size());
  std::vector<CallPtr> parts;
  for (const TextGroup& group : groups) parts.push_back(joined->part(group.texts));
  call->caller->model = groups[0].choice.model.name;  // for the log
  body["q"] = Json::array();                          // only its being a list is still read
  for (std::size_t g = 0; g < groups.size(); ++g) {
    TranslateRequest own = r;
    own.q.clear();
    for (const std::size_t i : groups[g].texts) own.q.push_back(r.q[i]);
    parts[g]->waited = call->waited || g > 0;  // the others are admitted with the first
    try {
      translate_texts(service, parts[g], {std::move(groups[g].choice), std::move(own), body});
    } catch (...) {
      return service.fail(parts[g], std::current_exception());  // answers once, and cancels the others
    }
  }
}

void Service::add_translate_routes() {
  routes_.push_back({.method = "POST",
                     .path = "/translate",
                     .summary = "Translates a text or a list of texts, as LibreTranslate does",
                     .request_schema = translate_schema(),
                     .response = "translatedText; the other requested fields; terms of a terminology or a glossary, "
                                 "each with applied; memory, the similar sentences; detectedLanguage if the source is "
                                 "auto; sourceAssumed if the source is not given and only one is possible; pivot, the "
                                 "languages between source and target, if no model translates directly",
                     .handle =
                         [this](const CallPtr& call) {
                           check_room(call, true);
                           static const Json properties = translate_schema()["properties"];
                           Json body = body_of(call->request, properties);
                           TranslateRequest r = read_translate_request(body, call->warnings);
                           check_texts(r.q, "q");
                           translate(*this, call, std::move(r), std::move(body));
                         },
                     .errors = ErrorStyle::libretranslate});
}

}  // namespace tril::serve
