#include "decode/texts/continuation_text.h"

#include <algorithm>

#include "base/error.h"
#include "decode/texts/text_stream.h"

namespace tril::search {
namespace {

constexpr std::int32_t default_new_tokens = 256;

}  // namespace

std::vector<std::int32_t> end_of(const Request& request) {
  std::vector<std::int32_t> all{request.start_id};
  all.insert(all.end(), request.prefix.begin(), request.prefix.end());
  if (all.size() > 8) all.erase(all.begin(), all.end() - 8);
  return all;
}

void check_language_model(const model::Model& model, const Tokenizer& tokenizer) {
  if (model.has_encoder())
    fail_usage("language model", fmt::format("a {} model translates and does not continue text", model.family()),
               "use `tril translate`");
  if (tokenizer.size(Side::target) > model.vocab_size())
    fail("tokenizer", fmt::format("its {} ids do not fit the model's vocabulary of {}", tokenizer.size(Side::target),
                                  model.vocab_size()));
}

ContinuationText::ContinuationText(const model::Model& model, std::shared_ptr<const Tokenizer> tokenizer)
    : model_(&model), tokenizer_(std::move(tokenizer)) {
  check_language_model(model, *tokenizer_);
}

SearchPlan ContinuationText::completed(SearchPlan s, const ContinuationOptions& o) const {
  check(o.max_new_tokens.value_or(1) >= 1, "new tokens", "expected at least 1, got {}", o.max_new_tokens.value_or(1));
  check(o.min_new_tokens.value_or(0) >= 0 && o.min_length >= 0, "new tokens", "expected at least 0, got {}",
        std::min(o.min_new_tokens.value_or(0), o.min_length));
  for (std::int64_t id = tokenizer_->size(Side::target); id < model_->vocab_size(); ++id)
    s.suppress_ids.push_back(static_cast<std::int32_t>(id));
  if (o.stops.empty()) return s;
  for (const std::string& stop : o.stops)
    check(!stop.empty(), "stop text", "an empty stop string would end every text at once");
  s.ends = stop_test(tokenizer_, o.stops);
  return s;
}

std::vector<std::int32_t> ContinuationText::prompt_ids(const std::string& prompt, const std::string& where) const {
  std::vector<std::int32_t> ids = tokenizer_->frame(Side::target).prefix;
  const std::size_t framed = ids.size();
  tokenizer_->encode(prompt, Side::target, ids);
  if (ids.empty() && prompt.empty()) {
    const std::int32_t begin =
        model_->special_ids().bos >= 0 ? model_->special_ids().bos : tokenizer_->special(Side::target).bos;
    check(begin >= 0, where, "is empty, but the model has no token to begin a text with");
    ids.push_back(begin);
  }
  check(prompt.empty() || ids.size() > framed, where, "has no character that is in the vocabulary");
  const std::int64_t positions = model_->max_positions();
  if (positions > 0 && std::ssize(ids) > positions)
    fail_usage(where, fmt::format("has {} tokens, but the model has {} positions", ids.size(), positions),
               "shorten it, for example to its end");
  return ids;
}

// The last generated token is never read, so it needs no position.
Request ContinuationText::request_for(std::vector<std::int32_t> ids, std::uint64_t number,
                                      const ContinuationOptions& options) const {
  const auto given = std::ssize(ids);
  std::int64_t most = options.max_new_tokens.value_or(default_new_tokens);
  if (!options.max_new_tokens && options.max_length) most = std::max<std::int64_t>(1, *options.max_length - given);
  const std::int64_t least = options.min_new_tokens ? std::int64_t{*options.min_new_tokens}
                                                    : std::max<std::int64_t>(0, options.min_length - given);
  if (!options.max_new_tokens) most = std::max(most, least);
  if (model_->max_positions() > 0) most = std::min(most, model_->max_positions() - given + 1);
  return {.start_id = ids.front(),
          .min_length = static_cast<std::int32_t>(std::min(least, most)),
          .max_length = static_cast<std::int32_t>(most),
          .prefix = {ids.begin() + 1, ids.end()},
          .number = number};
}

Generation ContinuationText::finish(const Hypothesis& h, const Request& request,
                                    const ContinuationOptions& options) const {
  Generation g{text_behind(*tokenizer_, whole_end(*tokenizer_, end_of(request)), h.tokens),
               h.tokens,
               h.log_prob,
               h.score,
               h.stop_reason,
               h.token_scores};
  const std::size_t stop = find_stop(g.text, options.stops);
  const auto given = std::ssize(request.prefix) + 1;
  if (stop != std::string::npos) {
    g.text.resize(stop);
    g.stop_reason = StopReason::stop;
  } else if (h.stop_reason == StopReason::length) {
    // A max_length equal to the model's positions is its capacity, not a requested length.
    const bool full = model_->max_positions() > 0 && given + request.max_length >= model_->max_positions();
    const bool asked = options.max_new_tokens && *options.max_new_tokens == request.max_length;
    if (full && !asked) g.stop_reason = StopReason::positions;
  }
  return g;
}

}  // namespace tril::search
