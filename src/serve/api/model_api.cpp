// Routes that apply a model to texts without generating:
//   POST /score   POST /tokenize   POST /detokenize   POST /attention
#include <algorithm>
#include <cmath>

#include "base/printable.h"
#include "decode/batches/score.h"
#include "decode/texts/attention_maps.h"
#include "decode/texts/prompted_text.h"
#include "decode/texts/text_score.h"
#include "decode/texts/translation_text.h"
#include "serve/api/model_choice.h"
#include "serve/api/operations.h"
#include "tokenizer/files/language_tag.h"
#include "tokenizer/files/sentence_frame.h"
#include "tokenizer/files/text_tokens.h"

namespace tril::serve {
namespace {

Json rounded(std::span<const float> values) {
  Json list = Json::array();
  for (const float v : values) list.push_back(std::round(static_cast<double>(v) * 1e6) / 1e6);
  return list;
}

Json pieces(std::span<const std::int32_t> ids, const Tokenizer& tokenizer, Side side) {
  Json list = Json::array();
  for (const std::int32_t id : ids) list.push_back(tokenizer.piece(id, side));
  return list;
}

// The language fields of a request (requested_languages()).
void add_language_fields(Fields& f, std::string& source, std::string& target) {
  f.add("source-language", &source, "source language, for a model with language tokens");
  f.add("target-language", &target, "target language, for a multilingual model; unset: as its directory says");
}

// A model that continues text takes no languages.
void refuse_languages(const std::string& source, const std::string& target) {
  for (const auto& [name, value] : {std::pair("source_language", &source), std::pair("target_language", &target)})
    if (!value->empty()) throw field_error(name, "is only for translations");
}

struct ScoreRequest {
  std::string model, source_language, target_language;
  std::vector<std::string> source, target, text;
};
Fields fields_of(ScoreRequest& r) {
  Fields f;
  f.add("model", &r.model, "name of the model; unset: the first suitable one");
  f.add("source", &r.source, "a text or a list of texts; needs target");
  f.add("target", &r.target, "a translation of each, to be scored");
  f.add("text", &r.text, "for a language model: a text or a list of texts");
  add_language_fields(f, r.source_language, r.target_language);
  return f;
}

// An error naming which of a field's texts is wrong, counted from 1, and why.
HttpError wrong_text(const std::string& field, std::size_t number, const std::string& what) {
  return HttpError(400, fmt::format("{} {}: {}", field, number, what)).of_field(field);
}

// A source as the model reads it, after its language tag.
std::string tagged(const ServedModel& m, const Languages& languages, const std::string& source) {
  return TagsOfText(m, languages.prefix, "target_language").put_before(source);
}

// The ids of a field's texts, each in a sentence frame, checked against the model. An empty text is valid: it has only
// its end token.
std::vector<std::vector<std::int32_t>> ids_of(const std::vector<std::string>& texts, Side side,
                                              const Languages& languages, const ServedModel& m) {
  const bool source = side == Side::source;
  std::vector<std::vector<std::int32_t>> all;
  for (const std::string& text : texts) {
    all.push_back(sentence_ids(m.tokenizer(), source ? tagged(m, languages, text) : text, side,
                               source ? languages.source : languages.target));
    if (m.is_too_long(std::ssize(all.back())))
      throw wrong_text(
          source ? "source" : "target", all.size(),
          fmt::format("has {} tokens, but the model has {} positions", all.back().size(), m.model().max_positions()));
  }
  return all;
}

// The prompts for the sources as sources, and the translations after them as targets.
std::pair<std::vector<std::vector<std::int32_t>>, std::vector<std::vector<std::int32_t>>> prompted_ids(
    const ServedModel& m, const ScoreRequest& r, const Languages& languages) {
  const search::PromptedText text(m.model(), m.loaded().tokenizer, m.loaded().prompt);
  search::TextOptions options;
  options.source_language = languages.source, options.target_language = languages.target;
  text.check(options, m.loaded().search);
  std::vector<std::vector<std::int32_t>> prompts, targets;
  for (std::size_t i = 0; i < r.source.size(); ++i) {
    const auto given = text.given_translation(r.source[i], r.target[i], options, m.loaded().search.eos_ids);
    if (m.is_too_long(std::ssize(given.ids)))
      throw wrong_text("source", i + 1,
                       fmt::format("has {} tokens with its prompt and its target, but the model has {} positions",
                                   given.ids.size(), m.model().max_positions()));
    const auto end = given.ids.begin() + static_cast<std::ptrdiff_t>(given.prompt);
    prompts.emplace_back(given.ids.begin(), end);
    targets.emplace_back(end, given.ids.end());
  }
  return {std::move(prompts), std::move(targets)};
}

// Of a server for a class, whose requests wait for each other.
void check_work(const Service& service, const ServedModel& m, std::span<const std::vector<std::int32_t>> texts,
                std::span<const std::vector<std::int32_t>> more = {}) {
  if (!service.options().classroom) return;
  std::int64_t tokens = 0;
  for (const auto list : {texts, more})
    for (const std::vector<std::int32_t>& ids : list) tokens += std::ssize(ids);
  check_operations(operations_of(m.model(), tokens), service.options().most_operations, "fewer or shorter texts");
}

void score_translations(Service& service, const CallPtr& call, const ModelPtr& m, const ScoreRequest& r) {
  if (r.source.size() != r.target.size())
    throw field_error("target", fmt::format("{} for {} sources, expected one each", r.target.size(), r.source.size()));
  const Languages languages = requested_languages(m, r.source_language, r.target_language);
  const bool encodes = m->model().has_encoder();
  auto [sources, targets] =
      encodes ? std::pair(ids_of(r.source, Side::source, languages, *m), ids_of(r.target, Side::target, languages, *m))
              : prompted_ids(*m, r, languages);
  check_work(service, *m, sources, targets);
  const std::int32_t start =
      encodes ? search::decoder_start(m->model(), m->tokenizer(), languages.target) : std::int32_t{-1};
  service.aside(
      call, [call, m, start, sources = std::move(sources), targets = std::move(targets)](search::WorkerPool& worker) {
        const AdapterOf adapter(worker, *m);
        const auto list = search::score_all(worker, m->model(), {sources, targets}, 16, {.start_id = start});
        Json scores = Json::array();
        for (std::size_t i = 0; i < list.size(); ++i)
          scores.push_back({{"log_prob", list[i].log_prob},
                            {"tokens", pieces(targets[i], m->tokenizer(), Side::target)},
                            {"token_log_probs", rounded(list[i].token_log_probs)}});
        call->send({{"model", m->name()}, {"scores", std::move(scores)}});
      });
}

void score_texts(Service& service, const CallPtr& call, const ModelPtr& m, const ScoreRequest& r) {
  refuse_languages(r.source_language, r.target_language);
  std::vector<std::vector<std::int32_t>> texts;
  for (const std::string& text : r.text) {
    texts.push_back(m->tokenizer().encode(text, Side::target));
    if (texts.back().empty() && !text.empty())
      throw wrong_text("text", texts.size(), "has no character that is in the vocabulary");
  }
  check_work(service, *m, texts);
  service.aside(call, [call, m, texts = std::move(texts)](search::WorkerPool& worker) {
    const AdapterOf adapter(worker, *m);
    const auto list = search::score_texts(worker, m->model(), texts, {.batch_size = 4});
    Json scores = Json::array();
    for (std::size_t i = 0; i < list.size(); ++i) {
      // The first token has no predecessor. Its null aligns the two lists, as in an echoed prompt of completions.
      Json of_tokens = rounded(list[i].token_log_probs);
      if (!texts[i].empty()) of_tokens.insert(of_tokens.begin(), nullptr);
      scores.push_back({{"log_prob", list[i].log_prob},
                        {"tokens", pieces(texts[i], m->tokenizer(), Side::target)},
                        {"token_log_probs", std::move(of_tokens)}});
    }
    call->send({{"model", m->name()}, {"scores", std::move(scores)}});
  });
}

struct TokenizeRequest {
  std::string model, text, side;
  bool special_tokens = false;
};
Fields fields_of(TokenizeRequest& r) {
  Fields f;
  f.add("model", &r.model, "name of the model; unset: the first");
  f.add("text", &r.text, "text to split into tokens").required();
  f.add("side", &r.side, "for a translation model: source (default) or target").choices({"", "source", "target"});
  f.add("special-tokens", &r.special_tokens, "add the special tokens that the model expects around a text");
  return f;
}

Side side_of(const std::string& side, const ServedModel& m) {
  return m.model().has_encoder() && side != "target" ? Side::source : Side::target;
}

struct AttentionRequest {
  std::string model, target, source_language, target_language;
  std::optional<std::string> source, text;
  std::int64_t max_tokens = 100;
};
Fields fields_of(AttentionRequest& r) {
  Fields f;
  f.add("model", &r.model, "name of the model; unset: the first");
  f.add("source", &r.source, "a sentence; needs target");
  f.add("target", &r.target, "its translation");
  f.add("text", &r.text, "for a language model: a text; source is accepted too");
  add_language_fields(f, r.source_language, r.target_language);
  f.add("max-tokens", &r.max_tokens, "maximum number of tokens of each side in the response").at_least(1).at_most(200);
  return f;
}

struct DetokenizeRequest {
  std::string model, side;
  bool special_tokens = false;
};
Fields fields_of(DetokenizeRequest& r) {
  Fields f;
  f.add("model", &r.model, "name of the model; unset: the first");
  f.add("side", &r.side, "for a translation model: target (default) or source").choices({"", "source", "target"});
  f.add("special-tokens", &r.special_tokens, "keep special tokens, which are otherwise left out");
  return f;
}

Json detokenize_schema() {
  Json schema = schema_of_request<DetokenizeRequest>();
  schema["properties"]["ids"] = {
      {"type", "array"}, {"items", {{"type", "integer"}}}, {"description", "ids of the tokens"}};
  schema["required"] = Json::array({"ids"});
  return schema;
}

// The "ids" of a request. @throws HttpError for anything but ids of the vocabulary
std::vector<std::int32_t> ids_in(const Json& body, std::int32_t vocabulary) {
  const auto given = body.find("ids");
  if (given == body.end() || !given->is_array()) throw field_error("ids", "expected a list of integers");
  std::vector<std::int32_t> ids;
  for (const Json& id : *given) {
    const std::int64_t n = id.is_number_integer() ? id.get<std::int64_t>() : -1;
    if (n < 0 || n >= vocabulary) throw field_error("ids", fmt::format("expected integers below {}", vocabulary));
    ids.push_back(static_cast<std::int32_t>(n));
  }
  return ids;
}

Json json_of(const search::AttentionMaps& map) {
  Json layers = Json::array();
  const std::size_t Q = map.queries.size(), K = map.keys.size();
  for (const auto& layer : map.layers) {
    Json heads = Json::array();
    for (std::size_t h = 0; h < static_cast<std::size_t>(layer.heads); ++h) {
      Json rows = Json::array();
      for (std::size_t q = 0; q < Q; ++q) {
        Json row = Json::array();
        for (std::size_t k = 0; k < K; ++k)
          row.push_back(std::round(static_cast<double>(layer.weights[(h * Q + q) * K + k]) * 1e4) / 1e4);
        rows.push_back(std::move(row));
      }
      heads.push_back(std::move(rows));
    }
    layers.push_back({{"name", layer.name}, {"heads", std::move(heads)}});
    if (layer.masked.empty()) continue;
    Json masked = Json::array();
    for (std::size_t q = 0; q < Q; ++q) {
      Json row = Json::array();
      for (std::size_t k = 0; k < K; ++k) row.push_back(layer.masked[q * K + k] != 0);
      masked.push_back(std::move(row));
    }
    layers.back()["masked"] = std::move(masked);
  }
  return {{"kind", std::string(search::name_of(map.kind))},
          {"queries", map.queries},
          {"keys", map.keys},
          {"layers", std::move(layers)}};
}

// Answers with the maps of the text `shown`, a translation's source or a continued text.
void show_attention(Service& service, const CallPtr& call, const ModelPtr& m, const AttentionRequest& r,
                    const std::string& shown) {
  if (m->model().has_encoder() && r.target.empty()) throw field_error("target", "is missing");
  if (!m->model().has_encoder() && !r.target.empty()) throw field_error("target", "is only for translations");
  if (!m->model().has_encoder()) refuse_languages(r.source_language, r.target_language);
  const Languages languages =
      m->model().has_encoder() ? requested_languages(m, r.source_language, r.target_language) : Languages();
  const std::string source = m->model().has_encoder() ? tagged(*m, languages, shown) : shown;
  service.aside(call, [call, m, r, source, languages](search::WorkerPool& worker) {
    const AdapterOf adapter(worker, *m);
    const auto maps = search::all_attention_maps(worker.context(0), m->model(), m->tokenizer(),
                                                 {source, r.target, languages.source, languages.target},
                                                 {.tokens = r.max_tokens, .heads = 512});
    Json list = Json::array();
    for (const search::AttentionMaps& map : maps) list.push_back(json_of(map));
    call->send({{"model", m->name()}, {"maps", std::move(list)}});
  });
}

}  // namespace

void Service::add_model_routes() {
  routes_.push_back({.method = "POST",
                     .path = "/score",
                     .summary = "Scores given translations or texts by their log-probabilities",
                     .request_schema = schema_of_request<ScoreRequest>(),
                     .response = "the log-probability of each text and of its tokens; null for the first token of a "
                                 "text, which has no context; an empty text has log-probability 0 and no tokens",
                     .handle = [this](const CallPtr& call) {
                       const auto r = read_request<ScoreRequest>(parse_object(call->request.body), call->warnings);
                       const bool pairs = !r.target.empty() || !r.source.empty();
                       if (pairs == !r.text.empty())
                         throw field_error("text", "give either source and target, or text");
                       for (const auto& [name, list] : {std::pair("source", &r.source), std::pair("target", &r.target),
                                                        std::pair("text", &r.text)})
                         check_texts(*list, name);
                       count_texts(*call, std::max(r.target.size(), r.text.size()));
                       with_model(call, r.model, pairs, [this, call, r, pairs](const ModelPtr& m) {
                         pairs ? score_translations(*this, call, m, r) : score_texts(*this, call, m, r);
                       });
                     }});
  routes_.push_back({.method = "POST",
                     .path = "/tokenize",
                     .summary = "Splits a text into tokens",
                     .request_schema = schema_of_request<TokenizeRequest>(),
                     .response = "ids and pieces, and their positions [begin, end) in the text in bytes and in "
                                 "characters; null for a token that is not in the text",
                     .handle = [this](const CallPtr& call) {
                       const auto r = read_request<TokenizeRequest>(parse_object(call->request.body), call->warnings);
                       check_texts({r.text}, "text");
                       with_model(call, r.model, std::nullopt, [call, r](const ModelPtr& m) {
                         const TextTokenizer split(m->tokenizer(), side_of(r.side, *m));
                         Json answer{{"model", m->name()}};
                         answer.update(json_of(split.tokens_of(r.text, r.special_tokens)));
                         call->send(std::move(answer));
                       });
                     }});
  routes_.push_back({.method = "POST",
                     .path = "/detokenize",
                     .summary = "Converts tokens back to text",
                     .request_schema = detokenize_schema(),
                     .response = "the text",
                     .handle = [this](const CallPtr& call) {
                       const Json body = parse_object(call->request.body);
                       const auto r = read_request<DetokenizeRequest>(body, call->warnings, {"ids"});
                       with_model(call, r.model, std::nullopt, [call, r, body](const ModelPtr& m) {
                         const Side side = m->model().has_encoder() && r.side == "source" ? Side::source : Side::target;
                         const std::vector<std::int32_t> ids = ids_in(body, m->tokenizer().size(side));
                         call->send({{"model", m->name()},
                                     {"text", TextTokenizer(m->tokenizer(), side).text_of(ids, r.special_tokens)}});
                       });
                     }});
  routes_.push_back(
      {.method = "POST",
       .path = "/attention",
       .summary = "Attention maps of every head for a sentence and its translation, or for a text",
       .request_schema = schema_of_request<AttentionRequest>(),
       .response = "maps by kind and layer: weights [heads][queries][keys]",
       .handle = [this](const CallPtr& call) {
         const auto r = read_request<AttentionRequest>(parse_object(call->request.body), call->warnings);
         if (r.text && (r.source || !r.target.empty()))
           throw field_error("text", "is for language models; give either text alone, or source and target");
         if (!r.text && !r.source) throw field_error("text", "give either source and target, or text");
         const std::string& shown = r.text ? *r.text : *r.source;
         check_texts({shown, r.target}, r.text ? "text" : "source");
         with_model(call, r.model, r.text ? std::optional(false) : std::nullopt,
                    [this, call, r, shown](const ModelPtr& m) { show_attention(*this, call, m, r, shown); });
       }});
}

}  // namespace tril::serve
