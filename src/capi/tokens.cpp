// Tokens and scores for C.
#include <memory>
#include <utility>
#include <vector>

#include "capi/handles.h"

using tril::capi::check_given;
using tril::capi::guarded;
using tril::capi::list_of;
using tril::capi::texts_of;

namespace {

tril::v0::TokenizeOptions options_of(unsigned flags) {
  if (flags > (TRIL_TARGET_SIDE | TRIL_SPECIAL_TOKENS))
    throw tril::Error(tril::ErrorKind::usage, "flags", "has an unknown bit: " + std::to_string(flags));
  return {.side = (flags & TRIL_TARGET_SIDE) != 0 ? tril::v0::Side::target : tril::v0::Side::source,
          .special_tokens = (flags & TRIL_SPECIAL_TOKENS) != 0};
}

tril_scores* scores_of(std::vector<tril::v0::Score>&& list) {
  auto scores = std::make_unique<tril_scores>();
  for (const tril::v0::Score& s : list) scores->alignments.push_back(tril::capi::points_of(s.alignment));
  scores->list = std::move(list);
  return scores.release();
}

// A list of a score, and its size; none for an index outside.
template <class Item>
const Item* list_at(const tril_scores* scores, std::size_t index, std::vector<Item> tril::v0::Score::*list,
                    std::size_t* count) {
  const bool has = scores && index < scores->list.size();
  if (count) *count = has ? (scores->list[index].*list).size() : 0;
  return has ? (scores->list[index].*list).data() : nullptr;
}

}  // namespace

tril_tokenizer* tril_tokenizer_open(const char* path_or_name, const tril_options* options, tril_error** error) {
  return guarded(error, [&] {
    check_given(path_or_name, "path_or_name");
    return new tril_tokenizer{tril::v0::Tokenizer::open(path_or_name, list_of(options))};
  });
}
tril_ids* tril_encode(const tril_tokenizer* tokenizer, const char* text, unsigned flags, tril_error** error) {
  return guarded(error, [&] {
    check_given(tokenizer, "tokenizer");
    check_given(text, "text");
    return new tril_ids{tokenizer->tokenizer.encode(text, options_of(flags))};
  });
}
const int32_t* tril_ids_data(const tril_ids* ids) {
  return ids ? ids->list.data() : nullptr;
}
size_t tril_ids_size(const tril_ids* ids) {
  return ids ? ids->list.size() : 0;
}
void tril_ids_free(tril_ids* ids) {
  delete ids;
}
char* tril_decode(const tril_tokenizer* tokenizer, const int32_t* ids, size_t count, unsigned flags,
                  tril_error** error) {
  return guarded(error, [&] {
    check_given(tokenizer, "tokenizer");
    if (count > 0) check_given(ids, "ids");
    return tril::capi::copy_of(tokenizer->tokenizer.decode({ids, count}, options_of(flags)));
  });
}
void tril_tokenizer_free(tril_tokenizer* tokenizer) {
  delete tokenizer;
}

tril_scorer* tril_scorer_new(const tril_model* model, const tril_options* options, tril_error** error) {
  return guarded(error, [&] {
    check_given(model, "model");
    return new tril_scorer{tril::v0::Scorer(model->model, list_of(options))};
  });
}
tril_scores* tril_score(tril_scorer* scorer, const char* const* sources, const char* const* targets, size_t count,
                        tril_error** error) {
  return guarded(error, [&] {
    check_given(scorer, "scorer");
    return scores_of(scorer->scorer.score(texts_of(sources, count, "source"), texts_of(targets, count, "target")));
  });
}
tril_scores* tril_score_texts(tril_scorer* scorer, const char* const* texts, size_t count, tril_error** error) {
  return guarded(error, [&] {
    check_given(scorer, "scorer");
    return scores_of(scorer->scorer.score_texts(texts_of(texts, count, "text")));
  });
}
double tril_scores_log_prob(const tril_scores* scores, size_t index) {
  return scores && index < scores->list.size() ? scores->list[index].log_prob : 0;
}
const float* tril_scores_tokens(const tril_scores* scores, size_t index, size_t* count) {
  return list_at(scores, index, &tril::v0::Score::token_log_probs, count);
}
const int32_t* tril_scores_target_tokens(const tril_scores* scores, size_t index, size_t* count) {
  return list_at(scores, index, &tril::v0::Score::tokens, count);
}
const int32_t* tril_scores_source_tokens(const tril_scores* scores, size_t index, size_t* count) {
  return list_at(scores, index, &tril::v0::Score::source_tokens, count);
}
const float* tril_scores_attention(const tril_scores* scores, size_t index, size_t* count) {
  return list_at(scores, index, &tril::v0::Score::attention, count);
}
const tril_alignment_point* tril_scores_alignment(const tril_scores* scores, size_t index, size_t* count) {
  const bool has = scores && index < scores->alignments.size();
  if (count) *count = has ? scores->alignments[index].size() : 0;
  return has ? scores->alignments[index].data() : nullptr;
}
void tril_scores_free(tril_scores* scores) {
  delete scores;
}
void tril_scorer_free(tril_scorer* scorer) {
  delete scorer;
}
