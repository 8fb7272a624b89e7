// Search options from several sources, and the resulting plan.
#include "search/resolve.h"

#include <gtest/gtest.h>

#include <string>

#include "base/error.h"

namespace tril::search {
namespace {

SearchOptions settled(SearchOptions o) {
  settle_sampling(o);
  return o;
}

template <class Act>
std::string field_of_error(const Act& act) {
  try {
    act();
  } catch (const Error& e) {
    EXPECT_EQ(e.kind(), ErrorKind::usage);
    return e.where();
  }
  return "no error";
}

bool is_greedy(const SearchPlan& plan) {
  return !plan.has_beam() && !plan.sampling.on && plan.n_best == 1;
}

TEST(Resolve, NothingAskedIsGreedySearch) {
  const SearchPlan plan = resolve({});
  EXPECT_TRUE(is_greedy(plan));
  EXPECT_EQ(plan.length_penalty, 1);
  EXPECT_NO_THROW(check_options(plan, 10));
}

TEST(Resolve, TheUpperAuthorWins) {
  SearchOptions publisher, request;
  publisher.beam_size = 4, publisher.length_penalty = 0.6, publisher.bad_words = {"a"};
  request.length_penalty = 2, request.bad_words = {"b"};
  const SearchOptions both = overlay(publisher, settled(request));
  EXPECT_EQ(both.bad_words, (std::vector<std::string>{"a", "b"}));
  const SearchPlan plan = resolve(both);
  EXPECT_EQ(plan.beam_size, 4);
  EXPECT_EQ(plan.length_penalty, 2);
}

// A field that overlay() forgot would be lost from requests.
TEST(Resolve, EveryFieldOfTheTableIsTaken) {
  const auto fields_of = [](SearchOptions& o) {
    const auto unset = [](std::string_view, std::string_view) { return std::string(); };
    Fields f;
    add_beam_fields(f, o, unset);
    add_alternative_fields(f, o, "alternatives", "min-alternative-prob");
    add_coverage_field(f, o);
    f.add("sampling", &o.sampling, "");
    add_sampling_fields(f, o, unset);
    add_penalty_fields(f, o, unset);
    add_length_fields(f, o, unset);
    add_new_token_fields(f, o, unset);
    return f;
  };
  SearchOptions every;
  Fields set = fields_of(every);
  for (const std::string& name : set.names()) {
    const Field& field = set.at(name);
    set.set_from_text(name, field.is_flag() ? "false" : field.allowed().empty() ? "1" : "never", "");
  }
  SearchOptions taken = overlay({}, every);
  const Fields got = fields_of(taken);
  for (const Field& field : set) EXPECT_EQ(got.at(field.name()).texts(), field.texts()) << field.name();
}

TEST(Resolve, DrawingTakesThePlaceOfTheLowerBeam) {
  SearchOptions publisher, request;
  publisher.beam_size = 4, publisher.beam_groups = 2, publisher.sampling = false, publisher.temperature = 0;
  request.top_p = 0.9;
  const SearchPlan plan = resolve(overlay(publisher, settled(request)));
  EXPECT_TRUE(plan.sampling.on);
  EXPECT_EQ(plan.sampling.temperature, 1);  // the publisher's 0 means no sampling
  EXPECT_EQ(plan.sampling.top_k, 50);
  EXPECT_EQ(plan.beam_size, 1);
  EXPECT_EQ(plan.beam_groups, 1);
}

TEST(Resolve, ABeamOrTemperatureZeroEndsTheLowerDrawing) {
  SearchOptions publisher;
  publisher.sampling = true, publisher.temperature = 0.7;
  SearchOptions beam, greedy;
  beam.beam_size = 3, greedy.temperature = 0;
  EXPECT_FALSE(resolve(overlay(publisher, settled(beam))).sampling.on);
  EXPECT_TRUE(is_greedy(resolve(overlay(publisher, settled(greedy)))));
  SearchOptions one;
  one.beam_size = 1;  // without a beam the publisher's sampling stays
  EXPECT_TRUE(resolve(overlay(publisher, settled(one))).sampling.on);
}

TEST(Resolve, TheLowersGroupsFallAwayWhereTheyDoNotDivide) {
  SearchOptions publisher, request;
  publisher.beam_size = 4, publisher.beam_groups = 2, publisher.diversity_penalty = 0.3;
  request.beam_size = 3;
  EXPECT_EQ(resolve(overlay(publisher, settled(request))).beam_groups, 1);
  request.beam_size = 6;
  const SearchPlan plan = resolve(overlay(publisher, settled(request)));
  EXPECT_EQ(plan.beam_groups, 2);
  EXPECT_EQ(plan.diversity_penalty, 0.3);
}

TEST(Resolve, ContradictionsNameTheField) {
  SearchOptions o;
  o.temperature = 1, o.beam_size = 4;
  EXPECT_EQ(field_of_error([&] { settled(o); }), "beam_size");
  o = {};
  o.sampling = true, o.temperature = 0;
  EXPECT_EQ(field_of_error([&] { settled(o); }), "temperature");
  o = {};
  o.beam_size = 4, o.beam_groups = 3;
  EXPECT_EQ(field_of_error([&] { resolve(o); }), "beam_groups");
  o = {};
  o.n_best = 3, o.beam_size = 2;
  EXPECT_EQ(field_of_error([&] { resolve(o); }), "n_best");
}

TEST(Resolve, WhatHasNoEffectIsNamedWhereItIsChecked) {
  const auto unused = [](const SearchOptions& o) {
    return field_of_error([&] { check_all_used(o, resolve(settled(o))); });
  };
  SearchOptions seed, patience, diversity, coverage, top_k;
  seed.seed = 1, patience.patience = 2, diversity.diversity_penalty = 1, coverage.coverage_penalty = 1;
  top_k.temperature = 0, top_k.top_k = 5;
  EXPECT_EQ(unused(seed), "seed");
  EXPECT_EQ(unused(patience), "patience");
  EXPECT_EQ(unused(diversity), "diversity_penalty");
  EXPECT_EQ(unused(coverage), "coverage_penalty");
  EXPECT_EQ(unused(top_k), "temperature");
  seed.sampling = true;
  EXPECT_EQ(unused(seed), "no error");
}

// Token-specific settings stay, numbers are replaced.
TEST(Resolve, KeepsWhatIsKnownOfTokens) {
  SearchPlan known;
  known.eos_ids = {2}, known.beam_size = 7, known.patience = 3;
  const SearchPlan plan = resolve({}, known);
  EXPECT_EQ(plan.eos_ids, (std::vector<std::int32_t>{2}));
  EXPECT_EQ(plan.beam_size, 1);
  EXPECT_EQ(plan.patience, 1);
}

}  // namespace
}  // namespace tril::search
