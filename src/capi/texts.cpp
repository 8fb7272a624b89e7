// Translation and generation for C.
#include <functional>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>

#include "capi/handles.h"

// A translation or a generation.
struct tril_results {
  struct Text {
    std::string text;
    std::vector<std::int32_t> tokens;
    double log_prob, score;
    tril::v0::StopReason stop_reason;
    std::vector<std::int32_t> source_tokens = {};
    std::vector<float> attention = {};
    std::vector<tril_alignment_point> alignment = {};
    bool recalled = false;
    std::vector<tril::v0::Term> term_texts = {}, missing_texts = {};
    std::vector<tril_term> terms = {}, missing_terms = {};  ///< point into term_texts and missing_texts
  };
  std::vector<std::vector<Text>> lists;
};

namespace {

using tril::capi::check_given;
using tril::capi::guarded;
using tril::capi::list_of;

std::vector<tril_term> terms_of(const std::vector<tril::v0::Term>& terms) {
  std::vector<tril_term> list;
  for (const tril::v0::Term& t : terms) list.push_back({t.source.c_str(), t.target.c_str()});
  return list;
}

template <class Text>
void append(std::vector<Text>&& list, tril_results& results) {
  std::vector<tril_results::Text>& texts = results.lists.emplace_back();
  for (Text& t : list) {
    texts.push_back({std::move(t.text), std::move(t.tokens), t.log_prob, t.score, t.stop_reason});
    if constexpr (std::is_same_v<Text, tril::v0::Translation>) {
      tril_results::Text& back = texts.back();
      back.source_tokens = std::move(t.source_tokens);
      back.attention = std::move(t.attention);
      back.alignment = tril::capi::points_of(t.alignment);
      back.recalled = t.recalled;
      back.term_texts = std::move(t.terms);
      back.missing_texts = std::move(t.missing_terms);
      back.terms = terms_of(back.term_texts);
      back.missing_terms = terms_of(back.missing_texts);
    }
  }
}

const tril_results::Text* at(const tril_results* results, std::size_t input, std::size_t rank) {
  if (!results || input >= results->lists.size() || rank >= results->lists[input].size()) return nullptr;
  return &results->lists[input][rank];
}

// A list of a text, and its size; none for an index outside.
template <class Item>
const Item* list_at(const tril_results* results, std::size_t input, std::size_t rank,
                    std::vector<Item> tril_results::Text::*list, std::size_t* count) {
  const tril_results::Text* t = at(results, input, rank);
  if (count) *count = t ? (t->*list).size() : 0;
  return t ? (t->*list).data() : nullptr;
}

// What a generator is watched by, on behalf of a tril_watch.
class Watched {
 public:
  explicit Watched(const tril_watch* watch) : watch_(watch ? *watch : tril_watch{}) {
    if (watch_.stop) forward_.emplace(watch_.stop->source.get_token(), [this] { source_.request_stop(); });
  }
  tril::v0::GenerateOptions options() {
    tril::v0::GenerateOptions o;
    o.stop = source_.get_token();
    if (watch_.on_text)
      o.on_text = [this](const tril::v0::TextPiece& p) {
        if (source_.stop_requested() && !p.ended) return;
        if (watch_.on_text(watch_.user, p.prompt, p.sample, p.text.c_str(), p.ended ? 1 : 0) != 0)
          source_.request_stop();
      };
    return o;
  }

 private:
  tril_watch watch_;
  std::stop_source source_;
  std::optional<std::stop_callback<std::function<void()>>> forward_;
};

}  // namespace

size_t tril_results_size(const tril_results* results) {
  return results ? results->lists.size() : 0;
}
size_t tril_results_count(const tril_results* results, size_t input) {
  return results && input < results->lists.size() ? results->lists[input].size() : 0;
}
const char* tril_results_text(const tril_results* results, size_t input, size_t rank) {
  const tril_results::Text* t = at(results, input, rank);
  return t ? t->text.c_str() : nullptr;
}
double tril_results_score(const tril_results* results, size_t input, size_t rank) {
  const tril_results::Text* t = at(results, input, rank);
  return t ? t->score : 0;
}
double tril_results_log_prob(const tril_results* results, size_t input, size_t rank) {
  const tril_results::Text* t = at(results, input, rank);
  return t ? t->log_prob : 0;
}
tril_stop_reason tril_results_stop_reason(const tril_results* results, size_t input, size_t rank) {
  const tril_results::Text* t = at(results, input, rank);
  return t ? static_cast<tril_stop_reason>(t->stop_reason) : TRIL_END_TOKEN;
}
const int32_t* tril_results_tokens(const tril_results* results, size_t input, size_t rank, size_t* count) {
  return list_at(results, input, rank, &tril_results::Text::tokens, count);
}
const int32_t* tril_results_source_tokens(const tril_results* results, size_t input, size_t rank, size_t* count) {
  return list_at(results, input, rank, &tril_results::Text::source_tokens, count);
}
const float* tril_results_attention(const tril_results* results, size_t input, size_t rank, size_t* count) {
  return list_at(results, input, rank, &tril_results::Text::attention, count);
}
const tril_alignment_point* tril_results_alignment(const tril_results* results, size_t input, size_t rank,
                                                   size_t* count) {
  return list_at(results, input, rank, &tril_results::Text::alignment, count);
}
const tril_term* tril_results_terms(const tril_results* results, size_t input, size_t rank, size_t* count) {
  return list_at(results, input, rank, &tril_results::Text::terms, count);
}
const tril_term* tril_results_missing_terms(const tril_results* results, size_t input, size_t rank, size_t* count) {
  return list_at(results, input, rank, &tril_results::Text::missing_terms, count);
}
int tril_results_recalled(const tril_results* results, size_t input, size_t rank) {
  const tril_results::Text* t = at(results, input, rank);
  return t && t->recalled ? 1 : 0;
}
void tril_results_free(tril_results* results) {
  delete results;
}

tril_translator* tril_translator_new(const tril_model* model, const tril_options* options, tril_error** error) {
  return guarded(error, [&] {
    check_given(model, "model");
    return new tril_translator{tril::v0::Translator(model->model, list_of(options))};
  });
}
char* tril_translate(tril_translator* translator, const char* text, tril_error** error) {
  return guarded(error, [&] {
    check_given(translator, "translator");
    check_given(text, "text");
    return tril::capi::copy_of(translator->translator.translate(std::string(text)));
  });
}
tril_results* tril_translate_batch(tril_translator* translator, const char* const* texts, size_t count,
                                   const tril_stop* stop, tril_error** error) {
  return guarded(error, [&] {
    check_given(translator, "translator");
    tril::v0::TranslateOptions options;
    if (stop) options.stop = stop->source.get_token();
    auto results = std::make_unique<tril_results>();
    for (auto& list : translator->translator.translate_n_best(tril::capi::texts_of(texts, count, "text"), options))
      append(std::move(list), *results);
    return results.release();
  });
}
void tril_translator_free(tril_translator* translator) {
  delete translator;
}

tril_generator* tril_generator_new(const tril_model* model, const tril_options* options, tril_error** error) {
  return guarded(error, [&] {
    check_given(model, "model");
    return new tril_generator{tril::v0::Generator(model->model, list_of(options))};
  });
}
tril_results* tril_generate(tril_generator* generator, const char* const* prompts, size_t count,
                            const tril_watch* watch, tril_error** error) {
  return guarded(error, [&] {
    check_given(generator, "generator");
    Watched watched(watch);
    auto results = std::make_unique<tril_results>();
    for (auto& list : generator->generator.generate(tril::capi::texts_of(prompts, count, "prompt"), watched.options()))
      append(std::move(list), *results);
    return results.release();
  });
}
tril_results* tril_chat(tril_generator* generator, const tril_message* messages, size_t count, const tril_watch* watch,
                        tril_error** error) {
  return guarded(error, [&] {
    check_given(generator, "generator");
    if (count > 0) check_given(messages, "messages");
    std::vector<tril::v0::Message> list;
    for (std::size_t i = 0; i < count; ++i) {
      const std::string where = "message " + std::to_string(i + 1);
      check_given(messages[i].role, where.c_str());
      check_given(messages[i].content, where.c_str());
      list.push_back({messages[i].role, messages[i].content});
    }
    Watched watched(watch);
    auto results = std::make_unique<tril_results>();
    append(generator->generator.chat(list, watched.options()), *results);
    return results.release();
  });
}
void tril_generator_free(tril_generator* generator) {
  delete generator;
}
