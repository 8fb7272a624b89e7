#include "serve/api/search_fields.h"

#include <algorithm>
#include <array>
#include <random>
#include <string>
#include <utility>

#include "base/error.h"
#include "decode/texts/bad_words.h"
#include "search/resolve.h"
#include "serve/http/http_error.h"

namespace tril::serve {
namespace {

constexpr double most_length = 100'000, most_length_factor = 1000;

// LibreTranslate's clients call the number of alternatives "alternatives".
constexpr std::array<std::pair<std::string_view, std::string_view>, 2> other_names{
    {{"alternatives", "branch"}, {"min_alternative_prob", "min_branch_probability"}}};

std::string unset_text(std::string_view field, std::string_view) {
  if (field == "seed") return ": the same seed, model and fields give the same text; unset: a different seed each time";
  return "";
}

// Converts a field's error to a request's.
HttpError of_request(const Error& error) {
  std::string field = error.where();
  for (const auto& [ours, theirs] : other_names)
    if (field == ours) field = theirs;
  std::string message = field + ": " + error.message() + (error.hint().empty() ? "" : "; " + error.hint());
  message.erase(std::remove(message.begin(), message.end(), '`'), message.end());
  return HttpError(400, message).of_field(field);
}

}  // namespace

void add_search_fields(Fields& f, SearchOptions& asked, bool translates) {
  add_beam_fields(f, asked, unset_text);
  for (const char* name : {"beam-size", "beam-groups"}) f.at(name, "").within(served_beams);
  if (translates) {
    add_length_fields(f, asked, unset_text);
    for (const char* name : {"min-length", "max-length"}) f.at(name, "").at_most(most_length);
    f.at("max-length-factor", "").at_most(most_length_factor);
    add_coverage_field(f, asked);
    add_alternative_fields(f, asked, "branch", "min-branch-probability");
  }
  add_sampling_fields(f, asked, unset_text);
  add_penalty_fields(f, asked, unset_text);
}

search::SearchPlan search_plan(SearchOptions asked, const SearchOptions& defaults, std::int64_t n,
                               const ServedModel& model) {
  try {
    asked.n_best = n;
    settle_sampling(asked);
    SearchOptions both = overlay(defaults, asked);
    if (!both.sampling.value_or(false) && !both.alternatives.value_or(false) && !asked.beam_size &&
        both.beam_size.value_or(1) < n)
      both.beam_size = n, both.beam_groups.reset();
    if (!asked.seed && both.sampling.value_or(false))
      both.seed = static_cast<std::int64_t>(std::uint64_t{std::random_device()()} << 32 | std::random_device()());
    search::SearchPlan plan = search::resolve(both, model.loaded().search);
    for (const std::string& text : asked.bad_words)
      search::forbid(text, model.tokenizer(), "bad_words", plan.bad_words);
    if (plan.coverage_penalty > 0) plan.attention.emplace();
    return plan;
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::usage) throw;
    throw of_request(error);
  }
}

}  // namespace tril::serve
