// Scores with the public interface.
#include <tril/score.h>

#include <mutex>

#include "base/error.h"
#include "decode/batches/score.h"
#include "decode/models/decoding_options.h"
#include "decode/models/pair_text.h"
#include "decode/models/prompt_fields.h"
#include "decode/models/window_fields.h"
#include "decode/texts/text_score.h"
#include "library/alignment.h"
#include "library/model_state.h"
#include "library/named_options.h"

namespace tril {
namespace library {
namespace {

struct ScorerFields {
  DecodingOptions decoding;
  std::string source_language, target_language, prompt_template;
  search::WindowOptions windows;
  bool begin = false;
  AlignmentOptions alignment;
};

Fields fields_of(ScorerFields& o) {
  Fields f, of_model;
  add_model_fields(of_model, o.decoding);
  f.include(of_model, {"threads", "pin", "numa"});
  f.add("batch-size", &o.decoding.batch_size, "number of texts that a worker scores together").within(batch_sizes);
  add_language_fields(f, o.source_language, o.target_language);
  add_prompt_template_field(f, o.prompt_template);
  add_window_fields(f, o.windows, o.begin);
  add_alignment_fields(f, o.alignment);
  return f;
}

v0::Score result(search::Score&& score) {
  v0::Score r;
  r.log_prob = score.log_prob;
  r.token_log_probs = std::move(score.token_log_probs);
  return r;
}

}  // namespace
}  // namespace library

namespace v0 {

class ScorerState {
 public:
  ScorerState(std::shared_ptr<const ModelState> model, const Options& options) : model_(std::move(model)) {
    Fields fields = library::fields_of(o_);
    library::set_options(fields, options);
    const model::Model& m = *model_->model;
    for (const char* name : {"prompt-template", "begin", "context", "stride"})
      if (m.has_encoder() && fields.given(name))
        fail_usage(name, fmt::format("is for language models, but a {} model translates", m.family()), "leave it out");
    for (const char* name : {"alignment", "alignment-layer"})
      if (!m.has_encoder() && fields.given(name))
        fail_usage(name, fmt::format("is for encoder-decoder models, but a {} model is a language model", m.family()),
                   "leave it out");
    const search::SpeculativeOptions& speculative = model_->others.speculative();
    if (speculative.on())
      fail_usage(speculative.field(), "has no effect on scores: nothing is searched for",
                 "open the model again without it");
    if (m.has_encoder()) attention_ = attention_heads(o_.alignment, m, false);
    o_.windows.batch_size = o_.decoding.batch_size;
    if (!m.has_encoder()) search::settled(o_.windows, m);  // reports mistakes
    const int threads = thread_count(o_.decoding.threads, o_.decoding.placement);
    workers_.emplace(threads, kern::best(), placement_of(o_.decoding.placement, threads));
  }

  std::vector<Score> score(const std::vector<std::string>& sources, const std::vector<std::string>& targets) {
    check(sources.size() == targets.size(), "targets", "expected one for each of {} sources, got {}", sources.size(),
          targets.size());
    const std::lock_guard lock(mutex_);
    if (!pairs_) pairs_.emplace(pair_text());
    std::vector<std::vector<std::int32_t>> source_ids, target_ids;
    for (std::size_t i = 0; i < sources.size(); ++i) {
      const std::string source_where = fmt::format("source {}", i + 1), target_where = fmt::format("target {}", i + 1);
      library::check_utf8(sources[i], source_where);
      library::check_utf8(targets[i], target_where);
      PairEncoder::Ids ids = pairs_->ids_of({sources[i], targets[i], source_where, target_where});
      source_ids.push_back(std::move(ids.source)), target_ids.push_back(std::move(ids.target));
    }
    auto found = search::score_all(
        *workers_, *model_->model, {source_ids, target_ids}, o_.decoding.batch_size,
        {.ensemble = model_->others.ensemble(), .attention = attention_, .start_id = pairs_->start()});
    std::vector<Score> scores;
    for (std::size_t i = 0; i < found.size(); ++i) {
      std::vector<float> attention = std::move(found[i].attention);
      scores.push_back(library::result(std::move(found[i])));
      if (!attention_) continue;
      Score& score = scores.back();
      score.alignment = library::pairs_of(o_.alignment, attention, target_ids[i].size());
      score.attention = std::move(attention);
      score.tokens = std::move(target_ids[i]), score.source_tokens = std::move(source_ids[i]);
    }
    return scores;
  }

  std::vector<Score> score_texts(const std::vector<std::string>& texts) {
    const model::Model& m = *model_->model;
    search::check_language_model(m, *model_->tokenizer);
    check(model_->others.ensemble().others.empty(), "models", "an ensemble scores translations, not texts");
    std::vector<std::vector<std::int32_t>> ids;
    for (std::size_t i = 0; i < texts.size(); ++i) {
      library::check_utf8(texts[i], fmt::format("text {}", i + 1));
      ids.emplace_back();
      if (o_.begin) ids.back().push_back(begin_token(m, *model_->tokenizer));
      model_->tokenizer->encode(texts[i], tril::Side::target, ids.back());
    }
    const std::lock_guard lock(mutex_);
    std::vector<Score> scores;
    for (search::Score& score : search::score_texts(*workers_, m, ids, o_.windows))
      scores.push_back(library::result(std::move(score)));
    return scores;
  }

 private:
  PairEncoder pair_text() const {
    const model::Model& m = *model_->model;
    if (m.has_encoder()) {
      search::check_tokenizer(m, *model_->tokenizer);
      const Languages languages = choose_languages(*model_->tokenizer, o_.source_language, o_.target_language,
                                                   "source_language", "target_language");
      return {m, model_->source, languages, o_.target_language, nullptr};
    }
    return {m,
            model_->source,
            {.prefix = "", .source = o_.source_language, .target = o_.target_language},
            o_.target_language,
            library::prompt_of(*model_, o_.prompt_template)};
  }

  std::shared_ptr<const ModelState> model_;
  library::ScorerFields o_;
  std::optional<nn::AttentionHeads> attention_;
  std::optional<search::WorkerPool> workers_;
  std::optional<PairEncoder> pairs_;  ///< made by the first call
  std::mutex mutex_;
};

Scorer::Scorer(const Model& model, const Options& options)
    : state_(std::make_unique<ScorerState>(model.state(), options)) {}
Scorer::~Scorer() = default;
Scorer::Scorer(Scorer&&) noexcept = default;
Scorer& Scorer::operator=(Scorer&&) noexcept = default;

std::vector<OptionInfo> Scorer::option_list() {
  library::ScorerFields o;
  return library::list_of(library::fields_of(o));
}

std::vector<Score> Scorer::score(const std::vector<std::string>& sources, const std::vector<std::string>& targets) {
  return state_->score(sources, targets);
}

std::vector<Score> Scorer::score_texts(const std::vector<std::string>& texts) {
  return state_->score_texts(texts);
}

}  // namespace v0
}  // namespace tril
