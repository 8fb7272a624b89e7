// A model that is served under a name: its files, the engine that decodes with it, and its statistics.
#pragma once

#include <ctime>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "decode/batches/parallel.h"
#include "decode/prompts/translation_prompt.h"
#include "decode/texts/continuation_text.h"
#include "decode/texts/text_form.h"
#include "decode/texts/translation_text.h"
#include "grammar/automata/constraint.h"
#include "serve/engine/engine.h"
#include "serve/engine/model_profile.h"
#include "settings/search_options.h"

namespace tril::serve {

/// A model's directory, loaded, and how to serve it.
struct Loaded {
  std::shared_ptr<const model::Model> model;
  std::shared_ptr<const Tokenizer> tokenizer;
  std::shared_ptr<const void> drafts;        ///< keeps what EngineOptions::session::speculative points to
  SearchOptions asked;                       ///< the publisher's and the server's search options
  search::SearchPlan search;                 ///< the resulting plan for requests without search options
  search::TextOptions text;                  ///< for a model that translates
  search::ContinuationOptions continuation;  ///< for a language model
  EngineOptions engine;
  /// Renders a chat's messages, [{"role": "user", "content": "..."}, ...], as a prompt; with `answers`, the prompt ends with
  /// the beginning of an answer. Empty: the model has no chat template.
  std::function<std::string(const nlohmann::ordered_json& messages, bool answers)> chat;
  /// Of a language model that translates: its prompt, and the codes of its languages.
  std::shared_ptr<const search::TranslationPrompt> prompt;
  std::vector<std::string> languages;
  SearchOptions asked_to_translate;   ///< of such a model: `asked` without what OpenAI's clients expect
  std::vector<std::string> adapters;  ///< names of the model's adapters, in the order of their numbers (nn/adapters.h)
  /// "en"; empty: unknown. For a model with tags, the target is the default of requests; "-": no tag.
  std::string source_language, target_language;
  std::int64_t bytes = 0;  ///< memory that the weights, those of a draft and the tokenizer take; 0: unknown
};

/// The profile of a model, whose weights need neither be allocated nor set.
ModelProfile profile_of(const Loaded& loaded);

/// The default of a completion's max_tokens, as in OpenAI's API.
inline constexpr std::int64_t default_completion_tokens = 16;

/// Tokens that one worker's cache needs for a request without options: with the shortest text, and with the longest.
struct CacheNeeds {
  std::int64_t least, most;
};
/// @param most_new_tokens  the server's limit
CacheNeeds cache_needs(const Loaded& loaded, std::int64_t most_new_tokens);

class ServedModel {
 public:
  /// @throws Error if model, tokenizer and options do not fit together
  ServedModel(std::string name, Loaded loaded);

  /// "base", or "base:legal" with an adapter.
  const std::string& name() const { return name_; }
  /// The model with each of its adapters, served by the same engine; these objects live as long as this one.
  const std::vector<std::unique_ptr<ServedModel>>& with_adapters() const { return with_adapters_; }
  /// The number of the adapter of its requests; -1: none.
  std::int32_t adapter() const { return adapter_; }
  const Loaded& loaded() const { return loaded_; }
  const model::Model& model() const { return *loaded_.model; }
  const Tokenizer& tokenizer() const { return *loaded_.tokenizer; }
  bool translates() const { return profile_.translates; }
  /// True if a text of this many tokens exceeds the model's positions.
  bool is_too_long(std::int64_t tokens) const {
    const std::int64_t positions = model().max_positions();
    return positions > 0 && tokens > positions;
  }
  /// The search options to which those of a request to translate are added.
  const SearchOptions& asked_to_translate() const {
    return loaded_.prompt ? loaded_.asked_to_translate : loaded_.asked;
  }
  std::time_t created() const { return created_; }
  Engine& engine() { return *engine_; }
  const Engine& engine() const { return *engine_; }
  Statistics& statistics() { return statistics_; }
  const Statistics& statistics() const { return statistics_; }
  const ModelProfile& profile() const { return profile_; }
  const ServedLanguages& languages() const { return profile_.languages; }
  /// For a model that translates.
  const search::TranslationText& translation() const { return *translation_; }
  /// For a language model.
  const search::ContinuationText& continuation() const { return *continuation_; }

  /// A plan that requests with equal options share, because search::ContinuousBatch processes rows of one plan together.
  /// @param key  everything that the plan depends on; empty: the plan is not shared
  std::shared_ptr<const search::SearchPlan> options(const std::string& key,
                                                    const std::function<search::SearchPlan()>& make);
  /// The bytes of each token, by id (tokenizer/files/token_bytes.h). The first call may take a second.
  std::shared_ptr<const std::vector<std::string>> bytes_of_tokens();
  /// True if such a call has ended.
  bool knows_bytes_of_tokens() const;
  /// The constraint for JSON that matches a schema (a JSON text; null: any object). The most recent ones are cached.
  /// @throws Error if the schema is invalid or needs what is not supported
  search::JsonForm json_constraint(const std::string* schema);
  /// The constraint for texts that a regular expression matches as a whole, cached with those.
  /// @throws Error if the expression is invalid, or too large
  std::shared_ptr<const search::Constraint> regex_constraint(const std::string& regex);

 private:
  ServedModel(std::string name, Loaded loaded, std::shared_ptr<Engine> engine, std::int32_t adapter);

  std::string name_;
  Loaded loaded_;
  std::time_t created_ = std::time(nullptr);
  ModelProfile profile_;
  std::unique_ptr<const search::TranslationText> translation_;
  std::unique_ptr<search::ContinuationText> continuation_;
  std::mutex mutex_;
  std::list<std::pair<std::string, std::shared_ptr<const search::SearchPlan>>> recent_;  ///< most recently used first
  search::JsonForm constraint_of(const std::string& key, const std::function<search::JsonForm()>& make);

  mutable std::mutex bytes_mutex_;
  std::shared_ptr<const std::vector<std::string>> bytes_;
  std::mutex constraints_mutex_;
  std::shared_ptr<const search::TokenTrie> trie_;  ///< of the vocabulary; made for the first constraint
  std::list<std::pair<std::string, search::JsonForm>> constraints_;  ///< most recently used first
  Statistics statistics_;
  std::shared_ptr<Engine> engine_;
  std::int32_t adapter_ = -1;
  std::vector<std::unique_ptr<ServedModel>> with_adapters_;
};

/// A model that is in use: it stays loaded as long as such a pointer exists.
using ModelPtr = std::shared_ptr<ServedModel>;

/// Sets a worker's adapter to that of a served model, for the lifetime of this object.
class AdapterOf {
 public:
  AdapterOf(search::WorkerPool& worker, const ServedModel& model) : context_(&worker.context(0)) {
    context_->set_adapters({.of_all = model.adapter()});
  }
  ~AdapterOf() { context_->set_adapters({}); }
  AdapterOf(const AdapterOf&) = delete;
  AdapterOf& operator=(const AdapterOf&) = delete;

 private:
  Context* context_;
};

}  // namespace tril::serve
