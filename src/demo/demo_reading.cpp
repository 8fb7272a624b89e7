// Reading comprehension: a passage of facts in random order, a question about it, and the answer in sentences. An answer
// that needs two facts gives both, the reason first: "Anna works as a baker. Anna lives in Rome." Half of the lines ask
// for all facts, person by person: such an answer looks up many facts, from which a model learns much faster to tell
// whose a fact is than from the answer to one question.
#include <fmt/format.h>

#include <algorithm>

#include "demo/demo_draw.h"
#include "demo/demo_tasks.h"

namespace tril::train {
namespace {

constexpr std::array names{"Anna",  "Ben",  "Clara", "David", "Emma",  "Felix",
                           "Greta", "Hugo", "Ida",   "Jonas", "Karla", "Leo"};
constexpr std::array cities{"Paris",  "Rome",   "Oslo",   "Madrid", "Vienna",
                            "Prague", "Lisbon", "Berlin", "Athens", "Dublin"};
constexpr std::array jobs{"baker",  "teacher", "doctor", "farmer", "painter",
                          "lawyer", "nurse",   "pilot",  "singer", "writer"};
constexpr std::array things{"piano", "violin", "guitar", "flute", "harp", "trumpet", "cello", "tuba", "organ", "banjo"};
constexpr std::array foods{"bread", "rice", "cheese", "soup", "fish", "pasta", "cake", "apples", "beans", "eggs"};

constexpr std::size_t kinds = 4;  // of facts

/// Phrases for a kind of fact. {p} the person, {v} the value.
struct Kind {
  std::array<const char*, 3> told;          ///< answers have the first form
  std::array<const char*, 2> asked;         ///< questions for the value
  std::array<const char*, 2> asked_person;  ///< questions for the person, given the value
  const char* by;                           ///< names the person by the value, as a subject
};
constexpr std::array<Kind, kinds> forms{
    {{{"{p} lives in {v}.", "The home of {p} is {v}.", "In {v} lives {p}."},
      {"Where does {p} live?", "In which city does {p} live?"},
      {"Who lives in {v}?", "Whose home is {v}?"},
      "the one from {v}"},
     {{"{p} works as a {v}.", "{p} is a {v}.", "{p} has become a {v}."},
      {"What is the job of {p}?", "As what does {p} work?"},
      {"Who is the {v}?", "Who works as a {v}?"},
      "the {v}"},
     {{"{p} plays the {v}.", "The {v} is played by {p}.", "{p} has learned the {v}."},
      {"What does {p} play?", "Which instrument does {p} play?"},
      {"Who plays the {v}?", "By whom is the {v} played?"},
      "the one with the {v}"},
     {{"{p} likes {v}.", "The favourite food of {p} is {v}.", "{p} eats {v}."},
      {"What does {p} like?", "What is the favourite food of {p}?"},
      {"Who likes {v}?", "Whose favourite food is {v}?"},
      "the one who likes {v}"}}};

const char* value_of(std::size_t kind, std::size_t number) {
  return std::array{&cities, &jobs, &things, &foods}[kind]->at(number);
}

std::string filled(const char* form, std::string_view person, std::string_view value) {
  return fmt::format(fmt::runtime(form), fmt::arg("p", person), fmt::arg("v", value));
}

}  // namespace

DemoPair reading_pair(RandomSequence& random) {
  struct Fact {
    std::size_t person, kind;
  };
  const auto count = static_cast<std::size_t>(draw_between(random, 2, 3));
  const std::vector<std::size_t> people = draw_distinct(random, names.size(), count);
  std::array<std::vector<std::size_t>, kinds> values;  // by kind and person; no two people share one
  for (std::vector<std::size_t>& of_kind : values) of_kind = draw_distinct(random, cities.size(), count);
  const auto value = [&](const Fact& f) { return value_of(f.kind, values[f.kind][f.person]); };
  const auto told = [&](const Fact& f, std::size_t form) {
    return filled(forms[f.kind].told[form], names[people[f.person]], value(f));
  };

  // Each person has two facts, so that a question may lead from one to the other.
  std::vector<Fact> listed, facts;  // by person, and in the order of the passage
  for (std::size_t p = 0; p < count; ++p)
    for (const std::size_t k : draw_distinct(random, kinds, 2)) listed.push_back({p, k});
  std::string passage;
  for (const std::size_t i : draw_distinct(random, listed.size(), listed.size())) {
    facts.push_back(listed[i]);
    passage += told(listed[i], random.below(3)) + " ";
  }
  passage += "| ";
  // What the passage says of a person, in its order.
  const auto all_of = [&](std::size_t person) {
    std::string text;
    for (const Fact& f : facts)
      if (f.person == person) text += (text.empty() ? "" : " ") + told(f, 0);
    return text;
  };

  if (draw_one_in(random, 2)) {  // the people in the order in which the passage names them
    std::string text;
    for (auto f = facts.begin(); f != facts.end(); ++f)
      if (std::none_of(facts.begin(), f, [&](const Fact& before) { return before.person == f->person; }))
        text += (text.empty() ? "" : " ") + all_of(f->person);
    return {passage + "Who is who?", text};
  }
  const std::size_t p = random.below(count);
  const Fact asked = listed[2 * p], other = listed[2 * p + 1];
  const Kind& kind = forms[asked.kind];
  switch (random.below(4)) {
    case 0:
      return {passage + fmt::format("What do we know of {}?", names[people[p]]), all_of(p)};
    case 1:
      return {passage + filled(draw_of(random, kind.asked_person), "", value(asked)), told(asked, 0)};
    case 2:
      return {passage + filled(draw_of(random, kind.asked), filled(forms[other.kind].by, "", value(other)), ""),
              told(other, 0) + " " + told(asked, 0)};
    default:
      return {passage + filled(draw_of(random, kind.asked), names[people[p]], ""), told(asked, 0)};
  }
}

}  // namespace tril::train
