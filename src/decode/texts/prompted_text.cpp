#include "decode/texts/prompted_text.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "decode/texts/continuation_text.h"
#include "decode/texts/text_stream.h"
#include "tokenizer/files/language_tag.h"
#include "unicode/trim.h"
#include "unicode/word_boundary.h"

namespace tril::search {
namespace {

// Room for reasoning, in addition to max_length_factor.
constexpr std::int64_t reasoning_tokens = 2048;

// The beginning of a text that has at most this many tokens.
std::string beginning_of(const Tokenizer& tokenizer, const std::string& text, std::size_t tokens) {
  std::vector<std::int32_t> ids = tokenizer.encode(text, Side::target);
  ids.resize(std::min(ids.size(), tokens));
  return tokenizer.decode(ids, Side::target);
}

// The ids of a phrase inside a text, where a space precedes it in scripts that have spaces.
std::vector<std::int32_t> phrase_ids(const Tokenizer& tokenizer, const std::string& phrase) {
  const std::string before = "a";
  const bool joined = is_word_boundary(before + phrase, before.size());
  std::vector<std::int32_t> ids = tokenizer.encode(before + (joined ? "" : " ") + phrase, Side::target);
  const std::size_t first = tokenizer.encode(before, Side::target).size();
  ids.erase(ids.begin(), ids.begin() + static_cast<std::ptrdiff_t>(std::min(ids.size(), first)));
  return ids;
}

std::vector<std::int32_t> all_given(const Request& request) {
  std::vector<std::int32_t> all{request.start_id};
  all.insert(all.end(), request.prefix.begin(), request.prefix.end());
  return all;
}

}  // namespace

PromptedText::PromptedText(const model::Model& model, std::shared_ptr<const Tokenizer> tokenizer,
                           std::shared_ptr<const TranslationPrompt> prompt)
    : TranslationText(model, std::move(tokenizer)), prompt_(std::move(prompt)), marks_(this->tokenizer()) {
  check_language_model(model, this->tokenizer());
}

void PromptedText::check(const TextOptions& o, const SearchPlan& search) const {
  using tril::check;
  check(o.max_length >= 1, "maximum length", "expected at least 1, got {}", o.max_length);
  check(o.min_length >= 0, "minimum length", "expected at least 0, got {}", o.min_length);
  check(o.max_length_factor >= 0, "maximum length factor", "expected at least 0, got {}", o.max_length_factor);
  check(!o.replace_unknowns && !search.attention && !search.shortlist, "alignment",
        "needs an encoder, as do shortlists and the replacement of unknown words; this is a {} model",
        model().family());
  const std::string& name = prompt_->description().name;
  check(!o.target_language.empty(), "target_language", "is not given, but {}'s prompt names it", name);
  check(!prompt_->description().needs_source || !o.source_language.empty(), "source_language",
        "is not given, but {}'s prompt names the language of the text", name);
  const auto readable = [&](bool given, const char* variable) {
    if (given && !prompt_->reads(variable))
      fail_usage(variable, fmt::format("{}'s prompt has no place for it", name),
                 fmt::format("leave it out, or pass a `prompt_template` with {{{{ {} }}}}", variable));
  };
  readable(o.context > 0, "context");
  readable(!o.style.empty(), "style");
  check(!o.terminology || prompt_->reads("terms") || search.has_beam(), "terminology",
        "{}'s prompt lists no terms, so beam search must place them, but the beam size is {}", name, search.beam_size);
  for (const std::string* code : {&o.source_language, &o.target_language})
    if (!code->empty())
      prompt_->check_language(*code, code == &o.source_language ? "source_language" : "target_language");
}

PromptInput PromptedText::input_of(const TextInput& input, const TextOptions& o, const std::vector<Term>& terms) const {
  PromptInput p{.text = input.text,
                .source = o.source_language,
                .target = o.target_language,
                .context = input.context,
                .terms = {},
                .style = o.style};
  for (const Term& term : terms) {
    const std::pair pair(term.source, term.target);
    if (std::find(p.terms.begin(), p.terms.end(), pair) == p.terms.end()) p.terms.push_back(pair);
  }
  return p;
}

std::vector<std::int32_t> PromptedText::ids_of(const PromptInput& input, std::string_view begin) const {
  std::string text = prompt_->written(input);
  if (!begin.empty()) text += std::string(prompt_->joint(text)) + std::string(begin);
  std::vector<std::int32_t> ids;
  if (prompt_->description().form == PromptForm::text) ids = tokenizer().frame(Side::target).prefix;
  tokenizer().encode(text, Side::target, ids);
  tril::check(!ids.empty(), "prompt", "has no token");
  return ids;
}

std::vector<std::int32_t> PromptedText::prompt_ids(const TextInput& input, const TextOptions& o,
                                                   const std::vector<Term>& terms) const {
  return ids_of(input_of(input, o, terms), trim(input.prefix));
}

Request PromptedText::request_for(std::vector<std::int32_t> ids, const TextOptions& o, TextToTranslate& t) const {
  const std::int64_t given = std::ssize(ids), text_tokens = std::ssize(t.source);
  const auto without_given = [&](std::int64_t length, Counted counted) {
    return counted == Counted::all ? length - (given - 1) : length;  // the first one is the start token
  };
  std::int64_t least = std::max<std::int64_t>(0, without_given(o.min_length, o.min_counts));
  std::int64_t most = std::max<std::int64_t>(1, without_given(o.max_length, o.max_counts));
  if (!o.min_raises_max) least = std::min(least, most);
  if (o.max_length_factor > 0) {
    double bound = std::ceil(o.max_length_factor * static_cast<double>(text_tokens)) + 20;
    if (marks_.has_channels() || marks_.is_opened(ids)) bound += static_cast<double>(reasoning_tokens);
    t.by_factor = bound < static_cast<double>(most) && bound > static_cast<double>(least);
    most = std::min(most, static_cast<std::int64_t>(std::min(bound, 1e9)));
  }
  most = std::max(most, least);
  // The last generated token is never read, so it needs no position.
  if (model().max_positions() > 0) {
    const std::int64_t free = model().max_positions() - given + 1;
    t.by_factor = t.by_factor && most <= free;
    most = std::min(most, free);
  }
  return {.start_id = ids.front(),
          .min_length = static_cast<std::int32_t>(std::min(least, most)),
          .max_length = static_cast<std::int32_t>(most),
          .prefix = {ids.begin() + 1, ids.end()},
          .new_word = !t.prefix.empty() && ends_in_space(t.prefix)};
}

TextToTranslate PromptedText::prepare(TextInput input, std::uint64_t number, const TextOptions& o,
                                      const SearchPlan& search) const {
  TextToTranslate t{.text = input.text, .prefix = input.prefix, .source = {}, .request = {}, .terms = {}};
  t.blank = trim(t.text).empty();
  t.recalled = recalled(t, o);
  if (t.is_empty()) return t;
  t.source = tokenizer().encode(t.text, Side::target);
  const auto find_terms = [&] {
    if (o.terminology) t.terms = o.terminology->find(input.text);
  };
  find_terms();
  std::vector<std::int32_t> ids = prompt_ids(input, o, t.terms);
  if (const std::int64_t positions = model().max_positions(); positions > 0) {
    const auto excess = [&] { return std::ssize(ids) + std::ssize(t.source) - positions; };
    while (excess() > 0 && !input.context.empty()) {
      std::string& oldest = input.context.front();
      const std::int64_t kept = std::ssize(tokenizer().encode(oldest, Side::target)) - excess();
      oldest = kept > 0 ? ending_of(tokenizer(), std::move(oldest), static_cast<std::size_t>(kept)) : "";
      if (oldest.empty()) input.context.erase(input.context.begin());
      ids = prompt_ids(input, o, t.terms);
    }
    const std::int64_t around = std::max<std::int64_t>(0, std::ssize(ids) - std::ssize(t.source));
    for (std::int64_t kept = (positions - around) / 2; std::ssize(ids) + std::ssize(t.source) > positions; kept -= 8) {
      const std::int64_t least = 1;
      tril::check(kept >= least, fmt::format("text {}", number + 1),
                  "its prompt takes {} tokens without the text, but the model has {} positions", around, positions);
      t.truncated = true;
      input.text = beginning_of(tokenizer(), t.text, static_cast<std::size_t>(kept));
      t.source = tokenizer().encode(input.text, Side::target);
      find_terms();
      ids = prompt_ids(input, o, t.terms);
    }
  }
  t.text = input.text;
  t.unknown = count_unknown(tokenizer(), t.text, t.source, Side::target);
  t.request = request_for(std::move(ids), o, t);
  t.request.number = number;
  if (search.encoder_no_repeat_ngram > 0) t.request.source = t.source;
  if (!prompt_->reads("terms") && search.has_beam())
    for (const Term& term : t.terms) t.request.phrases.push_back(phrase_ids(tokenizer(), term.target));
  return t;
}

std::int64_t PromptedText::positions_of(const TextInput& input, const TextOptions& o) const {
  const std::vector<Term> terms = o.terminology ? o.terminology->find(input.text) : std::vector<Term>();
  return std::ssize(prompt_ids(input, o, terms)) + std::ssize(tokenizer().encode(input.text, Side::target));
}

// The whole answer without reasoning; special tokens have no text.
std::string PromptedText::answer_of(const TextToTranslate& t, std::span<const std::int32_t> tokens,
                                    std::vector<RemovedPart>& removed) const {
  const std::vector<std::int32_t> given = all_given(t.request);
  const Reasoning reasoning = marks_.before_answer(given, tokens);
  if (reasoning.tokens > 0)
    removed.push_back({AroundAnswer::reasoning, tokenizer().decode(tokens.first(reasoning.tokens), Side::target)});
  const std::span<const std::int32_t> rest = tokens.subspan(reasoning.tokens);
  const std::string text = text_behind(tokenizer(), whole_end(tokenizer(), end_of(t.request)), rest);
  return t.prefix.empty() ? text : std::string(trim(t.prefix)) + text;
}

Translation PromptedText::translation(const TextToTranslate& t, const Hypothesis& h, const TextOptions& o) const {
  Translation one{.text = {},
                  .tokens = h.tokens,
                  .log_prob = h.log_prob,
                  .score = h.score,
                  .stop_reason = h.stop_reason,
                  .at_length = h.stop_reason == StopReason::length};
  const std::string answer = answer_of(t, h.tokens, one.removed);
  const std::string language = name_in_prompts(o.target_language, "target_language");
  AnswerParts parts = translation_in(answer, {.source = t.text, .language = language, .begun = !t.prefix.empty()});
  one.text = std::move(parts.translation);
  for (RemovedPart& part : parts.removed) one.removed.push_back(std::move(part));
  return one;
}

std::string PromptedText::partial(const TextToTranslate& t, std::span<const std::int32_t> tokens) const {
  std::vector<RemovedPart> removed;
  return translation_in(answer_of(t, tokens, removed), {.source = t.text, .begun = !t.prefix.empty()}).translation;
}

PromptedText::Given PromptedText::given_translation(const std::string& source, const std::string& target,
                                                    const TextOptions& o, std::span<const std::int32_t> eos_ids) const {
  const PromptInput input =
      input_of({.text = source}, o, o.terminology ? o.terminology->find(source) : std::vector<Term>());
  Given given{.ids = ids_of(input, {}), .prompt = 0};
  given.prompt = given.ids.size();
  const std::string joint(prompt_->joint(prompt_->written(input)));
  if (joint.empty()) {
    tokenizer().encode(target, Side::target, given.ids);
  } else {
    given.ids = ids_of(input, target);
    // The joint may make a token of its own with the target's first characters, and changes none before it.
  }
  const auto is_end = [&](std::int32_t id) { return std::find(eos_ids.begin(), eos_ids.end(), id) != eos_ids.end(); };
  std::int32_t end = eos_ids.empty() ? -1 : eos_ids.front();
  if (const std::optional<std::string> answered = prompt_->answered(input, target)) {
    const std::vector<std::int32_t> ids = tokenizer().encode(*answered, Side::target);
    const auto from = ids.begin() + static_cast<std::ptrdiff_t>(std::min(ids.size(), given.prompt));
    if (const auto found = std::find_if(from, ids.end(), is_end); found != ids.end()) end = *found;
  }
  if (end >= 0) given.ids.push_back(end);
  return given;
}

std::string ending_of(const Tokenizer& tokenizer, std::string text, std::size_t tokens) {
  while (!text.empty()) {
    const std::size_t now = tokenizer.encode(text, Side::target).size();
    if (now <= tokens) break;
    const std::size_t kept = std::min(text.size() * tokens / now, text.size() - 1);
    std::size_t from = text.size() - kept;
    while (from < text.size() && (static_cast<std::uint8_t>(text[from]) & 0xc0) == 0x80) ++from;
    if (const std::size_t space = text.find(' ', from); space != std::string::npos) from = space + 1;
    text.erase(0, from);
  }
  return text;
}

std::unique_ptr<const TranslationText> make_translation_text(const model::Model& model,
                                                             std::shared_ptr<const Tokenizer> tokenizer,
                                                             std::shared_ptr<const TranslationPrompt> prompt) {
  if (prompt) return std::make_unique<const PromptedText>(model, std::move(tokenizer), std::move(prompt));
  return std::make_unique<const EncodedText>(model, std::move(tokenizer));
}

}  // namespace tril::search
