// Passes with the public interface: options by name to a trace::Question, texts through it.
#include <tril/trace.h>

#include <algorithm>
#include <mutex>

#include "base/error.h"
#include "decode/models/decoding_options.h"
#include "library/model_state.h"
#include "library/named_options.h"
#include "library/trace_state.h"
#include "model_io/source/registry.h"
#include "tokenizer/files/language_tag.h"
#include "trace/question_fields.h"

namespace tril {
namespace library {
namespace {

struct TracerFields {
  std::string source_language, target_language;
  trace::QuestionOptions question;
};

Fields fields_of(TracerFields& o) {
  Fields f;
  add_language_fields(f, o.source_language, o.target_language);
  add_change_fields(f, o.question);
  add_analysis_fields(f, o.question.analyses);
  add_value_fields(f, o.question);
  return f;
}

TracerFields read_fields(const v0::Options& options) {
  TracerFields o;
  Fields fields = fields_of(o);
  set_options(fields, options);
  check_options(o.question);
  if (!fields.given("only") && !o.question.analyses.any()) o.question.only = {"*"};
  return o;
}

std::string plain_name(std::string name) {
  std::replace(name.begin(), name.end(), '_', '-');
  return name;
}

// Those of a call, after those of the constructor whose names they do not have.
v0::Options joined(const v0::Options& of_constructor, const v0::Options& of_call) {
  v0::Options all;
  for (const v0::Option& option : of_constructor) {
    const bool replaced = std::any_of(of_call.begin(), of_call.end(), [&](const v0::Option& other) {
      return plain_name(other.name) == plain_name(option.name);
    });
    if (!replaced) all.push_back(option);
  }
  all.insert(all.end(), of_call.begin(), of_call.end());
  return all;
}

void check_single_model(const v0::ModelState& m) {
  const search::SpeculativeOptions& speculative = m.others.speculative();
  if (speculative.on())
    fail_usage(speculative.field(), "has no effect on a pass: nothing is searched for",
               "open the model again without it");
  if (!m.others.ensemble().others.empty())
    fail_usage("models", "a pass is of one model, not of an ensemble", "open each model by itself");
}

}  // namespace
}  // namespace library

namespace v0 {

class TracerState {
 public:
  TracerState(std::shared_ptr<const ModelState> model, const Options& options)
      : model_(std::move(model)), options_(options), reader_(*model_->model, model_->tokenizer) {
    library::check_single_model(*model_);
    languages_of(library::read_fields(options_));  // reports mistakes
  }

  Trace trace(const std::string& text, const std::string& target, const Options& options,
              const std::stop_token& stop) const {
    library::check_utf8(text, "text");
    library::check_utf8(target, "target");
    const library::TracerFields o = library::read_fields(library::joined(options_, options));
    trace::Question question = question_of(o.question, text, target, languages_of(o));
    question.checkpoint = [&stop] {
      if (stop.stop_requested()) fail("trace", "was stopped");
    };
    const model::Model& m = o.question.gradients ? weights_in_float32() : *model_->model;
    trace::Answer answer = trace::answer(m, reader_, question);
    trace::Input input = answer.input;
    input.checkpoint = question.checkpoint;
    trace::Findings findings = analyse(m, input, o.question.analyses);
    return Trace(std::make_shared<const TraceState>(reader_, std::move(answer), std::move(findings)));
  }

 private:
  Languages languages_of(const library::TracerFields& o) const {
    return choose_languages(*model_->tokenizer, o.source_language, o.target_language, "source_language",
                            "target_language");
  }

  // Gradients need each weight by itself in float32, as training has them.
  const model::Model& weights_in_float32() const {
    if (!model_->changed_by.empty())
      fail_usage(
          "gradients",
          fmt::format("need the model's own weights in float32, but it was opened with `{}`", model_->changed_by),
          "open the model again without it, or leave the gradients out");
    const std::lock_guard lock(mutex_);
    if (!trained_form_) trained_form_ = model::load(model_->source);
    return *trained_form_;
  }

  std::shared_ptr<const ModelState> model_;
  Options options_;
  trace::TextReader reader_;
  mutable std::mutex mutex_;
  mutable std::unique_ptr<const model::Model> trained_form_;  ///< loaded by the first call that needs it
};

Tracer::Tracer(const Model& model, const Options& options)
    : state_(std::make_unique<TracerState>(model.state(), options)) {}
Tracer::~Tracer() = default;
Tracer::Tracer(Tracer&&) noexcept = default;
Tracer& Tracer::operator=(Tracer&&) noexcept = default;

std::vector<OptionInfo> Tracer::option_list() {
  library::TracerFields o;
  return library::list_of(library::fields_of(o));
}

Trace Tracer::trace(const std::string& text, const std::string& target, const Options& options) const {
  return state_->trace(text, target, options, {});
}
Trace Tracer::trace(const std::string& text, const std::string& target, const Options& options,
                    const std::stop_token& stop) const {
  return state_->trace(text, target, options, stop);
}

}  // namespace v0
}  // namespace tril
