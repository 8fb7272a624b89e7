#include "cli/serving/served_model.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>

#include "base/printable.h"
#include "chat/conversation.h"
#include "cli/serving/named_values.h"
#include "decode/models/decoding_options.h"
#include "decode/models/model_languages.h"
#include "decode/models/model_set.h"
#include "decode/models/shortlist_file.h"
#include "decode/prompts/choose_prompt.h"
#include "decode/texts/search_setup.h"
#include "language/match.h"
#include "model_io/adapters/adapter.h"
#include "model_io/adapters/medusa_files.h"
#include "model_io/source/model_source.h"
#include "model_io/source/registry.h"
#include "tokenizer/files/language_tag.h"

namespace tril::cli {
namespace {

// Renders a chat by the template of the model's directory; empty if there is none. An invalid template causes a warning
// at once and an error for each chat request; the model's other routes work.
std::function<std::string(const nlohmann::ordered_json&, bool)> chat_of(const Tokenizer& tokenizer,
                                                                        const std::string& directory) {
  const std::optional<std::string> source = tokenizer.chat_template();
  if (!source) return {};
  std::shared_ptr<const ConversationTemplate> chat;
  try {
    chat = std::make_shared<const ConversationTemplate>(*source, tokenizer.special_tokens(),
                                                        directory + ": chat template");
  } catch (const Error& error) {
    spdlog::warn("{}; chat requests are refused, all others are served", error.what());
    return [error](const nlohmann::ordered_json&, bool) -> std::string { throw error; };
  }
  return [chat](const nlohmann::ordered_json& messages, bool answers) { return chat->render(messages, answers); };
}

// The prompt and the languages of a language model that is to translate: one whose prompt is known and whose publisher lists
// languages, or one to which the options give either.
void set_prompt(const ServeOptions& o, const std::string& name, const model::ModelSource& source, serve::Loaded& l) {
  for (const LanguagePair& given : language_pairs(o.languages))
    if (given.model == name) l.languages = given.list;
  const std::string asked = value_of(o.prompt_templates, name);
  std::optional<search::ChosenPrompt> chosen = search::known_prompt(source);
  if (!asked.empty() || (!chosen && !l.languages.empty())) chosen = search::choose_prompt(source, asked);
  if (!chosen) return;
  if (l.languages.empty()) l.languages = chosen->prompt.languages;
  if (l.languages.empty()) {
    const std::string why = fmt::format("model {} translates only with a list of its languages", name);
    if (!asked.empty()) fail_usage("--prompt-template", why, fmt::format("pass --languages {}=en,de,...", name));
    spdlog::info("{}: --languages {}=en,de,...", why, name);
    return;
  }
  l.prompt = std::make_shared<const search::TranslationPrompt>(chosen->prompt, *l.tokenizer, source.name());
  for (const std::string& code : l.languages) l.prompt->check_language(code, "--languages");
}

// The languages of a model with an encoder: those of --languages, or those that its files or its name state.
void set_pair(const ServeOptions& o, const std::string& name, const model::ModelSource& source, serve::Loaded& l) {
  for (const LanguagePair& pair : language_pairs(o.languages))
    if (pair.model == name) {
      l.source_language = pair.from, l.target_language = pair.to;
      return;
    }
  const StatedLanguages stated = model_languages(source);
  l.source_language = stated.source;
  // For a model with tags, the file gives one code for all of them ("roa"), which puts no tag before a text.
  if (tagged_languages(*l.tokenizer).empty()) l.target_language = stated.target;
}

// The memory of a tokenizer for each piece of each side, rounded up: a Marian tokenizer of 32,000 pieces takes 22 MiB.
constexpr std::int64_t bytes_of_piece = 400;

std::unique_ptr<model::Model> without_weights(const model::ModelSource& source) {
  std::unique_ptr<model::Model> m = model::make(source);
  if (m->has_encoder()) m->set_alignment_heads(source.alignment_heads());
  return m;
}

// The options of what proposes tokens for this model.
ModelSetOptions proposals_of(const ServeOptions& o, const std::string& name) {
  ModelSetOptions own = o.proposals;
  own.draft_model = value_of(o.draft_models, name);
  own.draft_heads = value_of(o.draft_heads, name);
  if (own.draft_model.empty() && own.draft_heads.empty() && own.prompt_lookup == 0) own.draft_tokens.reset();
  return own;
}

// The maximum number of tokens of a request's prediction that are proposed at a time: more than of drafts, because long parts of an
// edited text stay as they were.
constexpr std::int32_t most_of_prediction = 16;

// Loads what proposes tokens for this model. Drafts count as a part of the model's memory.
void set_proposals(const ServeOptions& o, const std::string& name, const DecodingOptions& d, Weights weights,
                   serve::Loaded& l) {
  const ModelSetOptions own = proposals_of(o, name);
  if (!own.draft_model.empty()) {
    const auto source = model::ModelSource::open(own.draft_model);
    const std::optional<std::string>& precision = own.draft_precision ? own.draft_precision : d.precision;
    l.bytes += static_cast<std::int64_t>(without_weights(source)->parameters().serving_memory(
        precision ? precision_of(*precision) : source.stored_precision()));
  }
  if (!own.draft_heads.empty())
    l.bytes += model::MedusaFiles::open(own.draft_heads).parameters() * static_cast<std::int64_t>(sizeof(float));
  if (weights == Weights::none) return;
  const char* const why = l.search.shortlist ? "it has a vocabulary shortlist" : search::why_not_undone(*l.model);
  if (own.prompt_lookup > 0 && why)
    return spdlog::warn("model {}: --prompt-lookup has no effect on it, because {}", name, why);
  const auto drafts = std::make_shared<const ModelSet>(own, d, *l.model, l.tokenizer.get());
  l.drafts = drafts;
  const search::SpeculativeOptions& speculative = drafts->speculative();
  if (!speculative.on()) {
    if (!why && !o.deterministic && !l.model->has_encoder())
      l.engine.session.speculative = {.predictions = true, .tokens = most_of_prediction, .measured = true};
    return;
  }
  const std::string flag = "--" + std::string(speculative.draft   ? "draft-model"
                                              : speculative.heads ? "draft-heads"
                                                                  : "prompt-lookup");
  if (l.search.shortlist)
    fail_usage(flag, fmt::format("cannot be combined with the vocabulary shortlist of model {}", name),
               fmt::format("leave it out, or pass --shortlist {}=none", name));
  if (!l.search.takes_proposals())
    spdlog::warn("model {}: {} has an effect only on requests with beam_size 1 and one answer", name, flag);
  l.engine.session.speculative = speculative;
}

}  // namespace

serve::Loaded load_served(const ServeOptions& o, const std::string& name, const std::string& directory,
                          Weights weights) {
  DecodingOptions d = o.decoding;
  d.model = directory;
  serve::Loaded l;
  const auto source = model::ModelSource::open(directory);
  std::unique_ptr<model::Model> m = weights == Weights::read ? load_model(source, d) : without_weights(source);
  l.bytes = static_cast<std::int64_t>(
      m->parameters().serving_memory(d.precision ? precision_of(*d.precision) : source.stored_precision()));
  std::vector<model::Adapter> adapters;
  for (const NamedAdapter& a : named_adapters(o.adapters, o.models)) {
    if (a.model != name) continue;
    adapters.push_back(model::Adapter::open(a.directory));
    l.adapters.push_back(a.name);
    l.bytes += adapters.back().parameters() * static_cast<std::int64_t>(sizeof(float));
  }
  if (weights == Weights::read) model::attach(*m, source, adapters, /*standard=*/-1);
  l.model = std::move(m);
  l.tokenizer = source.tokenizer();
  l.bytes += bytes_of_piece * (l.tokenizer->size(Side::source) + l.tokenizer->size(Side::target));
  const model::GenerationConfig published = published_generation(source);
  search::ParallelOptions decoding;
  if (l.model->has_encoder()) {
    search::TranslatorOptions t = translator_options(d, published, *l.model, *l.tokenizer);
    decoding = t.decoding;
    const std::string file = value_of(o.shortlists, name);
    const std::vector<std::string> values = file.empty() ? std::vector<std::string>() : std::vector{file};
    // Rows of one product may have different adapters, but each sentence's rows of the output matrix are copied once.
    for (const auto& [flag, is_on] :
         {std::pair("--deterministic", o.deterministic), {"--adapter", !l.adapters.empty()}})
      if (is_on && !file.empty() && file != "none")
        fail_usage("--shortlist", fmt::format("cannot be combined with {}", flag), "leave one of them out");
    decoding.search.shortlist =
        shortlist_of(values, source, *l.tokenizer, decoding.search, !o.deterministic && l.adapters.empty());
    l.text = t;
    set_pair(o, name, source, l);
  } else {
    d.search.beam_size.reset();
    search::GeneratorOptions g = generator_options(d, published, *l.model, *l.tokenizer);
    decoding = g.decoding;
    l.continuation = g;
    set_prompt(o, name, source, l);
    if (!value_of(o.shortlists, name).empty())
      fail_usage("--shortlist", fmt::format("model {} has no encoder, so it takes none", name), "leave it out");
    if (l.prompt) {
      l.text = search::translator_options(d.search, published, *l.model, *l.tokenizer);
      l.asked_to_translate = search::combined(d.search, published);
    }
    if (weights == Weights::read) l.chat = chat_of(*l.tokenizer, directory);
    if (!published.search.top_k) d.search.top_k = decoding.search.sampling.top_k = 0;  // as OpenAI's clients expect
  }
  l.asked = search::combined(d.search, published);
  l.search = decoding.search;
  l.engine = {.threads = decoding.threads,
              .placement = decoding.placement,
              .batch_size = decoding.batch_size,
              .queue_size = o.queue_size,
              .cache_tokens = o.cache_tokens,
              .session = {.cache = decoding.session.cache,
                          .prompt_tokens = static_cast<std::int32_t>(o.prompt_tokens),
                          .prefix_tokens = o.prefix_tokens,
                          .attention = l.model->alignment_heads().value_or(nn::AttentionHeads{})},
              .deterministic = o.deterministic};
  set_proposals(o, name, d, weights, l);
  return l;
}

void check_cache(const serve::Loaded& l, const std::string& name, const ServeOptions& o) {
  if (o.cache_tokens == 0) return;
  const int workers = serve::Engine::workers_of(*l.model, l.engine);
  const serve::CacheNeeds needs = serve::cache_needs(l, o.max_new_tokens);
  if (o.cache_tokens / workers >= needs.least) return;
  fail_usage("--cache-tokens",
             fmt::format("{} cannot hold any request to model {}: the shortest may need {} for each of {} workers",
                         o.cache_tokens, name, needs.least, workers),
             fmt::format("{} can hold its longest", needs.most * workers));
}

void check_languages(const serve::Loaded& l, const std::string& name, const ServeOptions& o) {
  for (const LanguagePair& pair : language_pairs(o.languages)) {
    if (pair.model != name) continue;
    if (!l.model->has_encoder() && pair.list.empty())
      fail_usage("--languages", fmt::format("model {} continues text and does not translate", name),
                 fmt::format("leave it out, or list the languages of its prompt: {}=en,de,fr", name));
    if (!l.model->has_encoder()) continue;
    if (!pair.list.empty())
      fail_usage("--languages", fmt::format("a list is for language models, and model {} has an encoder", name),
                 fmt::format("give one source and one target: {}=en:de", name));
    if (!l.tokenizer->languages().empty())
      fail_usage(
          "--languages",
          fmt::format("the vocabulary of model {} lists its languages, and it translates between all of them", name),
          "leave it out; requests set source and target");
    const std::vector<std::string> tags = tagged_languages(*l.tokenizer);
    if (!tags.empty() && pair.to != "-" && !KnownLanguages(tags).find(pair.to))
      fail_usage("--languages",
                 fmt::format("model {} has no tag >>{}<<; it has {}", name, printable(pair.to), fmt::join(tags, ", ")),
                 fmt::format("{}={}:{} sets the default target of requests, - if their texts have no tag", name,
                             pair.from, tags.front()));
  }
}

}  // namespace tril::cli
