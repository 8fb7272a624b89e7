// Translates for LibreTranslate's clients, with all search options as further fields:
//   POST /translate
#include <algorithm>
#include <array>
#include <mutex>

#include "decode/texts/sentence_links.h"
#include "serve/api/joined_answer.h"
#include "serve/api/model_choice.h"
#include "serve/api/pivot_translation.h"
#include "serve/api/search_fields.h"
#include "serve/api/service.h"
#include "serve/api/split_text.h"
#include "serve/api/text_sources.h"
#include "serve/api/translate_api.h"
#include "tokenizer/files/language_tag.h"

namespace tril::serve {
namespace {

// The languages between, in the order of the path.
std::vector<std::string> pivots_of(const ModelChoice& choice) {
  std::vector<std::string> pivots;
  for (const Hop& hop : choice.before) pivots.push_back(public_code(hop.target));
  return pivots;
}

// Refuses what refers to the words of the source, which the last model does not read.
void check_over_pivots(const TranslateRequest& r, const Json& body, const std::vector<std::string>& pivots) {
  const auto terms = body.find("terminology");
  const char* const field = r.alignment                                ? "alignment"
                            : r.replace_unknowns                       ? "replace_unknowns"
                            : terms != body.end() && !terms->is_null() ? "terminology"
                                                                       : nullptr;
  if (field)
    throw field_error(field, fmt::format("is not possible for a translation through {}, because no model reads the "
                                         "source and writes the target; leave it out",
                                         fmt::join(pivots, ", ")));
}

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
    text_ = model_->loaded().text;
    text_.terminology = terminology_of(body);
    text_.replace_unknowns = r_.replace_unknowns;
    set_lengths();
    const auto n = r_.alternatives + 1;
    search::SearchPlan s = search_plan(r_.search, model_->asked_to_translate(), n, *model_);
    text_.context = static_cast<std::int32_t>(r_.context);
    text_.style = r_.style;
    if (text_.terminology && model_->translation().places_terms() && !s.has_beam()) {
      s.beam_size = 8;
      if (!r_.search.sampling) s.sampling.on = false;  // the publisher's choice, which the terms overrule
    }
    const std::string tag = set_languages();
    split_ = texts ? std::move(texts) : split_texts(r_, source_language(), {*model_, tag, text_});
    links_ = needs_links();
    if (r_.alignment || text_.replace_unknowns || s.attention || links_)
      s.attention = model_->loaded().engine.session.attention;
    s.scores = true;
    model_->translation().check(text_, s);
    const std::string key = s.sampling.on ? "" : key_of(body) + (links_ ? ",marks" : "");
    options_ = model_->options(key, [&] { return std::move(s); });
    check_priority(r_.schedule, call_->admin);
    if (!r_.prefix.empty() && r_.split != "none") throw field_error("prefix", "needs \"split\": \"none\"");

    std::uint64_t number = 0;
    std::vector<WorkPtr> works;
    for (std::size_t i = 0; i < split_->size(); ++i) {
      TagsOfText tags(*model_, tag, "target");
      for (std::size_t p = 0; p < (*split_)[i].sentences.size(); ++p) {
        const std::string source = tags.put_before((*split_)[i].sources[p]);
        if (WorkPtr work = work_for(i, p, source, number++)) works.push_back(std::move(work));
      }
    }
    left_ = works.size();
    std::function<void()> begin;
    if (r_.stream) begin = [this] { call_->out->begin({.content_type = "text/event-stream", .body = {}}); };
    if (!works.empty()) return service.submit(call_, model_, std::move(works), begin);
    if (begin) begin();
    finish();
  }

 private:
  // True if marks are placed by the model's alignment: that of a language model is unknown, and the last model of a path over
  // pivots does not read the sentences with the marks.
  bool needs_links() const {
    return choice_.before.empty() && model_->model().has_encoder() &&
           std::any_of(split_->begin(), split_->end(), [](const SplitText& t) { return t.sentences.any_marks(); });
  }

  const std::string& source_language() const { return choice_.source.empty() ? choice_.assumed : choice_.source; }

  // Sets the languages of the options. @return the tag before each sentence, or ""
  std::string set_languages() {
    if (!model_->languages().told) return "";
    const bool from_each = model_->languages().from_each;
    const std::string& source = source_language();
    // For a model with language tokens, the search follows the directory's default by itself.
    const bool by_standard = choice_.target.empty() && !from_each;
    const bool encodes = model_->model().has_encoder();
    const Languages languages = languages_for(*model_, from_each ? (encodes ? choice_.source : source) : "",
                                              by_standard ? model_->languages().standard : choice_.target);
    text_.source_language = languages.source, text_.target_language = languages.target;
    return languages.prefix;
  }

  // The sentences of a text before sentence p that its prompt shows.
  std::vector<std::string> context_of(std::size_t i, std::size_t p) const {
    const std::vector<std::string>& sources = (*split_)[i].sources;
    const std::size_t first = p - std::min(p, static_cast<std::size_t>(r_.context));
    return {sources.begin() + static_cast<std::ptrdiff_t>(first), sources.begin() + static_cast<std::ptrdiff_t>(p)};
  }

  void set_lengths() {
    const std::int64_t positions = model_->model().max_positions();
    if (r_.search.min_length && positions > 0 && *r_.search.min_length > positions)
      throw field_error("min_length",
                        fmt::format("{} is above the model's {} positions", *r_.search.min_length, positions));
    if (r_.search.max_length)
      text_.max_length = static_cast<std::int32_t>(*r_.search.max_length), text_.max_counts = search::Counted::output;
    if (r_.search.min_length) {
      text_.min_length = static_cast<std::int32_t>(*r_.search.min_length), text_.min_counts = search::Counted::output;
      text_.min_raises_max = true;
    }
    if (r_.search.max_length_factor) text_.max_length_factor = *r_.search.max_length_factor;
    if (text_.min_length <= text_.max_length) return;
    if (r_.search.min_length)
      throw field_error("min_length",
                        fmt::format("{} is above the longest output of {}", text_.min_length, text_.max_length));
    throw field_error("max_length",
                      fmt::format("{} is below the shortest output of {}", text_.max_length, text_.min_length));
  }

  // A key of everything that affects the search options: the whole request except what differs by text.
  std::string key_of(const Json& body) const {
    static constexpr std::array own{"q",           "source",     "target",     "format",     "api_key",
                                    "model",       "split",      "prefix",     "scores",     "stream",
                                    "priority",    "time_limit", "min_length", "max_length", "max_length_factor",
                                    "terminology", "context",    "style"};
    static const Json known = translate_schema()["properties"];
    std::string key = text_.terminology ? "terms" : "plain";
    for (const auto& [name, schema] : known.items())  // in a fixed order, whatever the request's is
      if (body.contains(name) && std::find(own.begin(), own.end(), name) == own.end())
        key += "," + json_text(Json(name)) + ":" + json_text(body[name]);
    return key;
  }

  // The work for sentence p of text i, whose source (with its tag) is the request's `number`-th; null if it is empty.
  WorkPtr work_for(std::size_t i, std::size_t p, const std::string& source, std::uint64_t number) {
    auto prepared = std::make_shared<search::TextToTranslate>(model_->translation().prepare(
        {.text = source, .prefix = r_.prefix, .context = context_of(i, p)}, number, text_, *options_));
    if (prepared->is_empty()) {
      (*split_)[i].translations[p] = model_->translation().finish(*prepared, {}, text_);
      return nullptr;
    }
    if (r_.search.min_length && prepared->request.min_length < *r_.search.min_length)
      throw field_error("min_length", fmt::format("{} is above the {} positions that are left after the prefix",
                                                  *r_.search.min_length, prepared->request.min_length));
    auto work = std::make_shared<Work>();
    work->source = prepared->source;
    work->request = prepared->request;
    work->options = options_;
    set_schedule(r_.schedule, *work);
    if (r_.stream)
      work->on_partial = [self = shared_from_this(), i, p, prepared](std::span<const std::int32_t> tokens) {
        self->tell(i, p, *prepared, tokens);
      };
    work->on_end = [self = shared_from_this(), i, p, prepared](Outcome&& outcome) {
      self->take(i, p, *prepared, std::move(outcome));
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
    if (text == t.told) return;
    t.told = text;
    event({{"index", i}, {"partial", text}});
  }

  void take(std::size_t i, std::size_t p, const search::TextToTranslate& prepared, Outcome outcome) {
    try {
      if (outcome.error) std::rethrow_exception(outcome.error);
      if (outcome.hypotheses.empty())
        throw HttpError(outcome.stop_reason == search::StopReason::cancelled ? 499 : 503, "the request waited too long",
                        "server_error");
      auto list = model_->translation().finish(prepared, outcome.hypotheses, text_);
      const std::lock_guard lock(mutex_);
      (*split_)[i].translations[p] = std::move(list);
    } catch (...) {
      const std::lock_guard lock(mutex_);
      if (!error_) error_ = std::current_exception();
    }
    if (--left_ == 0) finish();
  }

  // Alternative `n` of a text. `so_far` is used for sentence p; unfinished sentences are left out.
  std::string assembled(std::size_t i, std::size_t n, std::size_t p = 0, const std::string* so_far = nullptr) const {
    const SplitText& t = (*split_)[i];
    return t.sentences.write(choice_.target, [&](std::size_t k) -> document::Translated {
      const std::vector<search::Translation>& list = t.translations[k];
      if (list.empty()) return {so_far && k == p ? *so_far : std::string(), {}};
      const search::Translation& one = list[std::min(n, list.size() - 1)];
      if (!links_ || !t.sentences.has_marks(k)) return {one.text, {}};
      return {one.text, search::sentence_links(one, t.sentences.text(k), model_->tokenizer())};
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

  Json details_of(std::size_t i) const {
    Json sentences = Json::array();
    const SplitText& t = (*split_)[i];
    for (std::size_t k = 0; k < t.sentences.size(); ++k) {
      Json list = Json::array();
      for (const search::Translation& one : t.translations[k]) {
        Json j{{"text", one.text}, {"score", one.score}, {"log_prob", one.log_prob}};
        Json tokens = Json::array();
        for (const std::int32_t id : one.tokens) tokens.push_back(model_->tokenizer().piece(id, Side::target));
        j["tokens"] = std::move(tokens);
        if (search::is_cut(one.stop_reason)) j["cut"] = search::name_of(one.stop_reason);
        for (const search::RemovedPart& part : one.removed)
          j["removed"].push_back({{"kind", search::name_of(part.kind)}, {"text", part.text}});
        if (text_.terminology) {
          j["unsatisfied"] = Json::array();
          for (const search::Term& term : one.unsatisfied)
            j["unsatisfied"].push_back({{"source", term.source}, {"target", term.target}});
        }
        if (r_.alignment && !one.source.empty()) {
          j["source_tokens"] = Json::array();
          for (const std::int32_t id : one.source)
            j["source_tokens"].push_back(model_->tokenizer().piece(id, Side::source));
          Json rows = Json::array();
          for (std::size_t at = 0; at + one.source.size() <= one.attention.size(); at += one.source.size()) {
            Json row = Json::array();
            for (std::size_t x = 0; x < one.source.size(); ++x)
              row.push_back(std::round(one.attention[at + x] * 1e4) / 1e4);
            rows.push_back(std::move(row));
          }
          j["attention"] = std::move(rows);
        }
        list.push_back(std::move(j));
      }
      sentences.push_back({{"source", t.sources[k]}, {"translations", std::move(list)}});
    }
    return sentences;
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
    Json texts = Json::array(), alternatives = Json::array(), details = Json::array();
    for (std::size_t i = 0; i < split_->size(); ++i) {
      texts.push_back(assembled(i, 0));
      if (r_.alternatives > 0) alternatives.push_back(alternatives_of(i));
      if (r_.scores || r_.alignment) details.push_back(details_of(i));
    }
    const auto shaped = [&](Json& all) { return list_ ? std::move(all) : std::move(all[0]); };
    Json body{{"translatedText", shaped(texts)}};
    if (r_.alternatives > 0) body["alternatives"] = shaped(alternatives);
    if (r_.scores || r_.alignment) body["details"] = shaped(details);
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
  search::TextOptions text_;
  std::shared_ptr<const search::SearchPlan> options_;
  SplitTexts split_;
  bool links_ = false;  ///< see needs_links()
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

void translate(Service& service, const CallPtr& call, TranslateRequest r, Json body) {
  std::vector<TextGroup> groups =
      choose_models(service, {r.model, r.source, r.target}, r.q.size(), [&] { return plain_texts(r); });
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
                     .response =
                         "translatedText, the other requested fields, detectedLanguage if the source is auto, "
                         "sourceAssumed if it is not "
                         "given but the only one, and pivot, the languages between, if no model translates directly",
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
