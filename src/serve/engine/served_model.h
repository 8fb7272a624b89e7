// A model that is served under a name: what was loaded, the engine that decodes with it, and its numbers.
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
#include "decode/texts/continuation_text.h"
#include "decode/texts/text_form.h"
#include "decode/texts/translation_text.h"
#include "grammar/automata/constraint.h"
#include "serve/engine/engine.h"
#include "settings/search_options.h"

namespace tril::serve {

/// What a directory holds and how it is to be served.
struct Loaded {
  std::shared_ptr<const model::Model> model;
  std::shared_ptr<const Tokenizer> tokenizer;
  SearchOptions asked;                       ///< what the publisher and the server ask of a search
  search::SearchPlan search;                 ///< what that comes to: of requests that ask for nothing else
  search::TextOptions text;                  ///< of a model that translates
  search::ContinuationOptions continuation;  ///< of one that continues text
  EngineOptions engine;
  /// The prompt that a chat's messages come to: [{"role": "user", "content": "..."}, ...], with the beginning of an answer
  /// where `answers`. Empty: the model has no chat template.
  std::function<std::string(const nlohmann::ordered_json& messages, bool answers)> chat;
  std::vector<std::string> adapters;  ///< names of the model's, in the order of its numbers (nn/adapters.h)
  /// "en"; empty: not known. Of a model with tags the target is that of requests which say none, "-" no tag at all.
  std::string source_language, target_language;
};

/// New tokens of a completion that does not say how many.
inline constexpr std::int64_t default_completion_tokens = 16;

/// Tokens that one worker's cache must hold for requests that say nothing but their text: for the shortest, and for the longest.
struct CacheNeeds {
  std::int64_t least, most;
};
/// @param most_new_tokens  that a request may ask for
CacheNeeds cache_needs(const Loaded& loaded, std::int64_t most_new_tokens);

class ServedModel {
 public:
  /// @throws Error where model, tokenizer and options do not go together
  ServedModel(std::string name, Loaded loaded);

  /// "base", or "base:legal" with an adapter.
  const std::string& name() const { return name_; }
  /// The model with each of its adapters, served by the same engine; it lives as long as this one.
  const std::vector<std::unique_ptr<ServedModel>>& with_adapters() const { return with_adapters_; }
  /// The number of the adapter that its requests are read with; -1: none.
  std::int32_t adapter() const { return adapter_; }
  const Loaded& loaded() const { return loaded_; }
  const model::Model& model() const { return *loaded_.model; }
  const Tokenizer& tokenizer() const { return *loaded_.tokenizer; }
  bool translates() const { return loaded_.model->has_encoder(); }
  std::time_t created() const { return created_; }
  Engine& engine() { return *engine_; }
  const Engine& engine() const { return *engine_; }
  Statistics& statistics() { return statistics_; }
  const Statistics& statistics() const { return statistics_; }
  /// What it translates from and into, the targets of one vocabulary of several languages among them; "" is not known.
  struct Languages {
    std::string source;
    std::vector<std::string> targets;
    bool from_each = false;  ///< from each of the targets, as it is told
    bool told = false;       ///< whether it is told the target, by a tag or a token, be it the only one
    bool tagged = false;     ///< by a tag in front of the text
    std::string standard;  ///< the target of texts of which nothing says it, where that is known; "-": they have no tag
    bool wants_target =
        false;  ///< whether that would be whichever it happens on: one of several, and nothing says which
  };
  const Languages& languages() const { return languages_; }
  /// Of a model that translates.
  const search::TranslationText& translation() const { return *translation_; }
  /// Of one that continues text.
  const search::ContinuationText& continuation() const { return *continuation_; }

  /// One and the same object for all requests that ask for the same (search::ContinuousBatch shares work among them).
  /// @param key  says all that the options depend on; empty: nobody else may ask for the same
  std::shared_ptr<const search::SearchPlan> options(const std::string& key,
                                                    const std::function<search::SearchPlan()>& make);
  /// What each token adds to a text, by id (tokenizer/files/token_bytes.h): made when it is first asked for, which may take a second.
  std::shared_ptr<const std::vector<std::string>> bytes_of_tokens();
  /// Whether it was.
  bool knows_bytes_of_tokens() const;
  /// What makes an answer JSON: of a schema (a JSON text), or any object where it is null. Those asked for last are kept.
  /// @throws Error for a schema that is none, or says what is not supported
  search::JsonForm json_constraint(const std::string* schema);

 private:
  ServedModel(std::string name, Loaded loaded, std::shared_ptr<Engine> engine, std::int32_t adapter);
  void set_standard_target();

  std::string name_;
  Loaded loaded_;
  std::time_t created_ = std::time(nullptr);
  Languages languages_;
  std::unique_ptr<search::TranslationText> translation_;
  std::unique_ptr<search::ContinuationText> continuation_;
  std::mutex mutex_;
  std::list<std::pair<std::string, std::shared_ptr<const search::SearchPlan>>> recent_;  ///< the last used first
  mutable std::mutex bytes_mutex_;
  std::shared_ptr<const std::vector<std::string>> bytes_;
  std::mutex constraints_mutex_;
  std::shared_ptr<const search::TokenTrie> trie_;  ///< of the vocabulary; made when a constraint is asked for
  std::list<std::pair<std::string, search::JsonForm>> constraints_;  ///< the last used first
  Statistics statistics_;
  std::shared_ptr<Engine> engine_;
  std::int32_t adapter_ = -1;
  std::vector<std::unique_ptr<ServedModel>> with_adapters_;
};

/// Has a worker's model run with the adapter of a served model while this lives.
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
