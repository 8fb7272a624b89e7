#include "decode/batches/speculative.h"

#include "base/error.h"

namespace tril::search {
void check_shares_vocabulary(const model::Model& other, const model::Model& model, const char* what) {
  if (other.vocab_size() != model.vocab_size() || other.source_vocab_size() != model.source_vocab_size() ||
      other.has_encoder() != model.has_encoder())
    fail_usage(what,
               fmt::format("a {} model with {} tokens cannot be combined with a {} model with {}", other.family(),
                           other.vocab_size(), model.family(), model.vocab_size()),
               "use models that share a vocabulary");
}

void check_reaches(const model::Model& other, const model::Model& model, const char* what) {
  const std::int64_t positions = other.max_positions();
  if (positions > 0 && (model.max_positions() == 0 || positions < model.max_positions()))
    fail_usage(
        what,
        fmt::format("has {} positions, but the model has {}", positions,
                    model.max_positions() == 0 ? "an unlimited number" : fmt::format("{}", model.max_positions())),
        "use one with at least as many");
}

const char* why_not_undone(const model::Model& model) {
  if (model.cache_form() != model::CacheForm::tokens) return "its recurrent state cannot undo tokens";
  if (model.length_dependence().read_anew) return "it reads a text again from the beginning when the text grows long";
  return nullptr;
}

void check_options(const SpeculativeOptions& s, const model::Model& model) {
  if (const char* const why = s.on() ? why_not_undone(model) : nullptr)
    fail_usage(s.field(), fmt::format("is not supported with this {} model: {}", model.family(), why), "leave it out");
  if (const char* const why = s.draft ? why_not_undone(*s.draft) : nullptr)
    fail_usage("draft model", fmt::format("a {} model cannot be one: {}", s.draft->family(), why), "use another draft");
  if (s.draft) check_shares_vocabulary(*s.draft, model, "draft model");
  // A draft without an encoder stops proposing at its last position, but an encoder must read the whole source.
  if (s.draft && model.has_encoder()) check_reaches(*s.draft, model, "draft model");
  check(s.lookup >= 0 && s.tokens >= 1, "speculative decoding",
        "expected n-grams of at least 0 and at least 1 proposed token, got {} and {}", s.lookup, s.tokens);
  if ((s.draft ? 1 : 0) + (s.heads ? 1 : 0) + (s.lookup > 0 ? 1 : 0) > 1)
    fail_usage("speculative decoding", "draft models, draft heads and prompt lookup each propose tokens",
               "choose one of them");
  if (s.predictions && (s.draft || s.heads))
    fail_usage("prediction", "cannot be combined with a draft model or draft heads", "leave one of them out");
  if (!s.heads) return;
  const nn::MedusaSizes& sizes = s.heads->sizes();
  check(sizes.d_model == model.d_model() && (sizes.own_vocab == 0 || sizes.own_vocab == model.vocab_size()),
        "draft heads", "for {} values and {} tokens, but the model has {} and {}", sizes.d_model, sizes.own_vocab,
        model.d_model(), model.vocab_size());
  check(s.tokens <= s.heads->count(), "draft heads", "cannot propose {} tokens: there are {} heads", s.tokens,
        s.heads->count());
}

}  // namespace tril::search
