#include "serve/engine/served_model.h"

#include <algorithm>

#include "decode/texts/prompted_text.h"
#include "grammar/schemas/json_schema.h"
#include "tokenizer/files/token_bytes.h"

namespace tril::serve {
namespace {

constexpr std::size_t kept_plans = 64, kept_constraints = 16;

}  // namespace

CacheNeeds cache_needs(const Loaded& loaded, std::int64_t most_new_tokens) {
  auto options = std::make_shared<search::SearchPlan>(loaded.search);
  options->n_best = 1;
  const auto tokens = [&](search::Request request) {
    Work work;
    work.request = std::move(request);
    work.options = options;
    return work.cache_tokens();
  };
  if (loaded.model->has_encoder()) {
    const search::EncodedText text(*loaded.model, loaded.tokenizer);
    const auto of = [&](const search::TextOptions& o) {
      return tokens(text.prepare({.text = "a"}, 0, o, *options).request);
    };
    search::TextOptions longest = loaded.text;
    longest.max_length_factor = 0;  // not limited by the source
    return {of(loaded.text), of(longest)};
  }
  const search::ContinuationText text(*loaded.model, loaded.tokenizer);
  const auto of = [&](std::int64_t new_tokens) {
    search::ContinuationOptions o = loaded.continuation;
    o.max_new_tokens = static_cast<std::int32_t>(new_tokens);
    return tokens(text.request_for({0}, 0, o));
  };
  const std::int64_t positions = loaded.model->max_positions();
  return {of(loaded.continuation.max_new_tokens.value_or(default_completion_tokens)),
          of(positions > 0 ? positions : most_new_tokens)};
}

ServedModel::ServedModel(std::string name, Loaded loaded) : ServedModel(std::move(name), std::move(loaded), {}, -1) {
  engine_ = std::make_shared<Engine>(loaded_.model, loaded_.engine, statistics_);
  Loaded of_each = loaded_;
  of_each.adapters.clear();
  for (std::size_t i = 0; i < loaded_.adapters.size(); ++i)
    with_adapters_.push_back(std::unique_ptr<ServedModel>(
        new ServedModel(name_ + ":" + loaded_.adapters[i], of_each, engine_, static_cast<std::int32_t>(i))));
}

ServedModel::ServedModel(std::string name, Loaded loaded, std::shared_ptr<Engine> engine, std::int32_t adapter)
    : name_(std::move(name)),
      loaded_(std::move(loaded)),
      profile_(profile_of(loaded_)),
      engine_(std::move(engine)),
      adapter_(adapter) {
  if (translates()) {
    translation_ = search::make_translation_text(model(), loaded_.tokenizer, loaded_.prompt);
    loaded_.search = search::with_vocabulary(std::move(loaded_.search), model(), tokenizer());
  }
  if (profile_.continues)
    continuation_ = std::make_unique<search::ContinuationText>(model(), loaded_.tokenizer);
  else
    translation_->check(loaded_.text, loaded_.search);
  search::check_options(loaded_.search, model().vocab_size());
}

std::shared_ptr<const search::SearchPlan> ServedModel::options(const std::string& key,
                                                               const std::function<search::SearchPlan()>& make) {
  const auto fresh = [&] {
    auto made = std::make_shared<const search::SearchPlan>(make());
    search::check_options(*made, model().vocab_size());
    return made;
  };
  if (key.empty()) return fresh();
  {
    const std::lock_guard lock(mutex_);
    const auto known = std::find_if(recent_.begin(), recent_.end(), [&](const auto& r) { return r.first == key; });
    if (known != recent_.end()) {
      recent_.splice(recent_.begin(), recent_, known);
      return recent_.front().second;
    }
  }
  auto made = fresh();
  const std::lock_guard lock(mutex_);
  recent_.emplace_front(key, made);
  if (recent_.size() > kept_plans) recent_.pop_back();
  return made;
}

std::shared_ptr<const std::vector<std::string>> ServedModel::bytes_of_tokens() {
  const std::lock_guard lock(bytes_mutex_);
  if (!bytes_) bytes_ = std::make_shared<const std::vector<std::string>>(token_bytes(tokenizer()));
  return bytes_;
}

bool ServedModel::knows_bytes_of_tokens() const {
  const std::unique_lock lock(bytes_mutex_, std::try_to_lock);
  return lock && bytes_;
}

search::JsonForm ServedModel::constraint_of(const std::string& key, const std::function<search::JsonForm()>& make) {
  const std::lock_guard lock(constraints_mutex_);
  const auto known =
      std::find_if(constraints_.begin(), constraints_.end(), [&](const auto& c) { return c.first == key; });
  if (known != constraints_.end()) {
    constraints_.splice(constraints_.begin(), constraints_, known);
    return known->second;
  }
  if (!trie_) trie_ = std::make_shared<const search::TokenTrie>(*bytes_of_tokens());
  search::JsonForm made = make();
  constraints_.emplace_front(key, made);
  if (constraints_.size() > kept_constraints) constraints_.pop_back();
  return made;
}

search::JsonForm ServedModel::json_constraint(const std::string* schema) {
  return constraint_of(schema ? "json:" + *schema : "json", [&]() -> search::JsonForm {
    if (schema) return search::json_schema_constraint(*schema, trie_);
    return {search::json_object_constraint(trie_), {}};
  });
}

std::shared_ptr<const search::Constraint> ServedModel::regex_constraint(const std::string& regex) {
  return constraint_of("regex:" + regex,
                       [&] {
                         return search::JsonForm{search::regex_constraint(regex, trie_), {}};
                       })
      .constraint;
}

}  // namespace tril::serve
