// Generation with the public interface: options by name to a search::Generator, prompts and conversations through it.
#include <tril/generate.h>

#include <mutex>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "chat/conversation.h"
#include "decode/models/constraint_fields.h"
#include "decode/models/decoding_options.h"
#include "decode/texts/generator.h"
#include "library/model_state.h"
#include "library/named_options.h"

namespace tril {
namespace library {
namespace {

constexpr std::int32_t answer_tokens = 512;

struct GeneratorFields {
  DecodingOptions decoding;
  ConstraintOptions constraint;
  bool deterministic = false, scores = false;
};

Fields fields_of(GeneratorFields& o) {
  Fields f, of_model;
  add_model_fields(of_model, o.decoding);
  f.include(of_model, {"threads", "pin", "numa"});
  f.add("n", &o.decoding.search.n_best, "number of generations for each prompt: samples, or the best of a beam")
      .at_least(1)
      .at_most(10'000);
  f.add("scores", &o.scores, "compute log-probabilities in greedy search and sampling too; a beam always has them");
  add_continuation_fields(f, o.decoding);
  add_deterministic_field(f, o.deterministic);
  add_choice_fields(f, o.decoding);
  add_constraint_fields(f, o.constraint);
  return f;
}

std::vector<v0::Generation> results_of(std::vector<search::Generation>&& list) {
  std::vector<v0::Generation> results;
  for (search::Generation& g : list)
    results.push_back(
        {std::move(g.text), std::move(g.tokens), g.log_prob, g.score, static_cast<v0::StopReason>(g.stop_reason)});
  return results;
}

search::OnText forward_to(const std::function<void(const v0::TextPiece&)>& on_text) {
  if (!on_text) return {};
  return [&on_text](const search::TextPiece& p) { on_text({p.prompt, p.sample, p.text, p.ended}); };
}

}  // namespace
}  // namespace library

namespace v0 {

class GeneratorState {
 public:
  GeneratorState(std::shared_ptr<const ModelState> model, const Options& options) : model_(std::move(model)) {
    library::GeneratorFields o;
    Fields fields = library::fields_of(o);
    library::set_options(fields, options);
    search::check_language_model(*model_->model, *model_->tokenizer);
    options_ = generator_options(o.decoding, published_generation(model_->source), *model_->model, *model_->tokenizer);
    options_.decoding.search.scores = o.scores;
    options_.decoding.deterministic = o.deterministic;
    options_.decoding.search.constraint = make_constraint(o.constraint, *model_->tokenizer, SchemaForm::file_or_text);
    model_->others.give_to(options_.decoding);
  }

  std::vector<std::vector<Generation>> generate(const std::vector<std::string>& prompts, const GenerateOptions& o) {
    for (std::size_t i = 0; i < prompts.size(); ++i) library::check_utf8(prompts[i], fmt::format("prompt {}", i + 1));
    const std::lock_guard lock(mutex_);
    if (!generator_) generator_.emplace(*model_->model, model_->tokenizer, options_);
    std::vector<std::vector<Generation>> results;
    for (auto& list : generator_->generate(prompts, library::forward_to(o.on_text), o.stop))
      results.push_back(library::results_of(std::move(list)));
    return results;
  }

  std::vector<Generation> chat(const std::vector<Message>& messages, const GenerateOptions& o) {
    const std::lock_guard lock(mutex_);
    if (!talker_) make_talker();
    const std::vector<std::int32_t> ids = ids_of(messages);
    auto found = talker_->generate_after({&ids, 1}, library::forward_to(o.on_text), o.stop);
    return library::results_of(std::move(found[0]));
  }

 private:
  void make_talker() {
    const std::optional<std::string> published = model_->tokenizer->chat_template();
    if (!published)
      fail_usage("chat", fmt::format("{} has no chat template", model_->source.name()), "use generate() instead");
    template_.emplace(*published, model_->tokenizer->special_tokens(), model_->source.name() + ": chat template");
    search::GeneratorOptions options = options_;
    options.max_new_tokens = options.max_new_tokens.value_or(library::answer_tokens);
    if (options.decoding.search.has_beam()) {  // answers are drawn or greedy, as in `tril chat`
      options.decoding.search.beam_size = 1;
      options.decoding.search.alternatives = false;
    }
    talker_.emplace(*model_->model, model_->tokenizer, options);
  }

  // The ids of a conversation. Special tokens are in the template's text.
  std::vector<std::int32_t> ids_of(const std::vector<Message>& messages) const {
    nlohmann::ordered_json list = nlohmann::ordered_json::array();
    for (std::size_t i = 0; i < messages.size(); ++i) {
      const std::string where = fmt::format("message {}", i + 1);
      library::check_utf8(messages[i].role, where);
      library::check_utf8(messages[i].content, where);
      list.push_back({{"role", messages[i].role}, {"content", messages[i].content}});
    }
    std::vector<std::int32_t> ids = model_->tokenizer->encode(template_->render(list, true), tril::Side::target);
    const std::int64_t positions = model_->model->max_positions();
    check(!ids.empty(), "chat", "the chat template renders the conversation to no tokens");
    if (positions > 0 && std::ssize(ids) > positions)
      fail_usage("chat",
                 fmt::format("the conversation has {} tokens, but the model has {} positions", ids.size(), positions),
                 "leave out its oldest turns");
    return ids;
  }

  std::shared_ptr<const ModelState> model_;
  search::GeneratorOptions options_;
  std::optional<search::Generator> generator_, talker_;  ///< made by the first call
  std::optional<ConversationTemplate> template_;
  std::mutex mutex_;
};

Generator::Generator(const Model& model, const Options& options)
    : state_(std::make_unique<GeneratorState>(model.state(), options)) {}
Generator::~Generator() = default;
Generator::Generator(Generator&&) noexcept = default;
Generator& Generator::operator=(Generator&&) noexcept = default;

std::vector<OptionInfo> Generator::option_list() {
  library::GeneratorFields o;
  return library::list_of(library::fields_of(o));
}

std::string Generator::generate(const std::string& prompt) {
  return generate(std::vector<std::string>{prompt})[0][0].text;
}

std::vector<std::vector<Generation>> Generator::generate(const std::vector<std::string>& prompts,
                                                         const GenerateOptions& options) {
  return state_->generate(prompts, options);
}

std::vector<Generation> Generator::chat(const std::vector<Message>& messages, const GenerateOptions& options) {
  return state_->chat(messages, options);
}

}  // namespace v0
}  // namespace tril
