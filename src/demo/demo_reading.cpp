// Reading comprehension: a passage of facts in random order, a question about one of them, and its answer, which is a
// word of the passage. Some questions name a person by another fact ("the baker"), so that two facts are needed.
#include <fmt/format.h>

#include <algorithm>

#include "demo/demo_draw.h"
#include "demo/demo_tasks.h"

namespace tril::train {
namespace {

constexpr std::array names{"Anna", "Ben",   "Clara", "David", "Emma",  "Felix",  "Greta", "Hugo",
                           "Ida",  "Jonas", "Karla", "Leo",   "Maria", "Nils",   "Olga",  "Paul",
                           "Rosa", "Simon", "Tina",  "Uwe",   "Vera",  "Walter", "Yara",  "Zoe"};
constexpr std::array cities{"Paris",  "Rome",   "Oslo",   "Madrid", "Vienna",  "Prague", "Lisbon",
                            "Berlin", "Athens", "Dublin", "Warsaw", "Zagreb",  "Geneva", "Milan",
                            "Porto",  "Krakow", "Bergen", "Turin",  "Seville", "Leeds"};
constexpr std::array jobs{"baker", "teacher", "doctor", "farmer", "painter", "lawyer", "nurse",
                          "pilot", "singer",  "writer", "judge",  "miner",   "tailor", "waiter"};
constexpr std::array things{"piano",   "violin", "guitar", "flute", "harp",
                            "trumpet", "cello",  "drums",  "organ", "banjo"};
constexpr std::array foods{"bread", "rice",   "cheese", "soup", "fish",  "pasta",
                           "cake",  "apples", "beans",  "eggs", "honey", "olives"};

constexpr std::size_t kinds = 4;  // of facts

/// Phrases for a kind of fact. {p} the person, {v} the value.
struct Kind {
  std::array<const char*, 3> told;
  std::array<const char*, 2> asked;         ///< questions for the value
  std::array<const char*, 2> asked_person;  ///< questions for the person, given the value
  const char* by;                           ///< names the person by the value, as a subject
};
constexpr std::array<Kind, kinds> forms{
    {{{"{p} lives in {v}.", "The home of {p} is {v}.", "{p} has a house in {v}."},
      {"Where does {p} live?", "In which city does {p} live?"},
      {"Who lives in {v}?", "Whose home is {v}?"},
      "the one from {v}"},
     {{"{p} works as a {v}.", "{p} is a {v}.", "The job of {p} is that of a {v}."},
      {"What is the job of {p}?", "As what does {p} work?"},
      {"Who is the {v}?", "Who works as a {v}?"},
      "the {v}"},
     {{"{p} plays the {v}.", "The {v} is played by {p}.", "{p} has learned the {v}."},
      {"What does {p} play?", "Which instrument does {p} play?"},
      {"Who plays the {v}?", "By whom is the {v} played?"},
      "the one with the {v}"},
     {{"{p} likes {v}.", "The favourite food of {p} is {v}.", "Nothing tastes better to {p} than {v}."},
      {"What does {p} like?", "What is the favourite food of {p}?"},
      {"Who likes {v}?", "Whose favourite food is {v}?"},
      "the one who likes {v}"}}};

const char* value_of(std::size_t kind, std::size_t number) {
  return kind == 0 ? cities[number] : kind == 1 ? jobs[number] : kind == 2 ? things[number] : foods[number];
}
std::size_t values_of(std::size_t kind) {
  return std::array{cities.size(), jobs.size(), things.size(), foods.size()}[kind];
}

std::string filled(const char* form, std::string_view person, std::string_view value) {
  return fmt::format(fmt::runtime(form), fmt::arg("p", person), fmt::arg("v", value));
}

}  // namespace

DemoPair reading_pair(RandomSequence& random) {
  const auto count = static_cast<std::size_t>(draw_between(random, 2, 4));
  const std::vector<std::size_t> people = draw_distinct(random, names.size(), count);
  std::array<std::vector<std::size_t>, kinds> values;  // by kind and person; no two people share one
  for (std::size_t k = 0; k < kinds; ++k) values[k] = draw_distinct(random, values_of(k), count);

  // Each person has two facts, so that a question may lead from one to the other.
  std::vector<std::string> sentences;
  std::vector<std::vector<std::size_t>> facts;
  for (std::size_t p = 0; p < count; ++p) {
    facts.push_back(draw_distinct(random, kinds, 2));
    for (const std::size_t k : facts.back())
      sentences.push_back(filled(draw_of(random, forms[k].told), names[people[p]], value_of(k, values[k][p])));
  }
  std::string passage;
  for (const std::size_t i : draw_distinct(random, sentences.size(), sentences.size())) passage += sentences[i] + " ";

  const std::size_t p = random.below(count), asked = facts[p][0], other = facts[p][1];
  const char* const answer = value_of(asked, values[asked][p]);
  switch (random.below(4)) {
    case 0:
      return {passage + "| " + filled(draw_of(random, forms[asked].asked_person), "", answer), names[people[p]]};
    case 1:
      return {passage + "| " +
                  filled(draw_of(random, forms[asked].asked),
                         filled(forms[other].by, "", value_of(other, values[other][p])), ""),
              answer};
    default:
      return {passage + "| " + filled(draw_of(random, forms[asked].asked), names[people[p]], ""), answer};
  }
}

}  // namespace tril::train
