// Dialogue: booking a table; from the conversation so far to the next reply. The reply asks for missing details,
// repeats them on request, accepts corrections, and at the end summarises the booking.
#include <fmt/format.h>

#include <optional>

#include "demo/demo_draw.h"
#include "demo/demo_tasks.h"

namespace tril::train {
namespace {

enum Slot : std::size_t { people, kitchen, day, hour, slots };

constexpr std::array counts{"two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"};
constexpr std::array kitchens{"Italian", "Greek", "Indian", "Chinese", "French", "Thai", "Mexican", "Turkish"};
constexpr std::array days{"Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"};
constexpr std::array hours{"noon",  "one", "half past one", "six", "half past six", "seven", "half past seven",
                           "eight", "nine"};

std::string any_value(RandomSequence& random, std::size_t slot) {
  return slot == people    ? draw_of(random, counts)
         : slot == kitchen ? draw_of(random, kitchens)
         : slot == day     ? draw_of(random, days)
                           : draw_of(random, hours);
}

/// Phrases for a slot. {} is its value.
struct Words {
  std::array<const char*, 3> told;
  std::array<const char*, 2> corrected, wondered;  ///< "make it {} instead", "how many of us did I say?"
  const char *asked, *repeated;                    ///< by the person who takes the booking
};
constexpr std::array<Words, slots> slot_words{{{{"for {}", "we are {}", "a table for {}"},
                                                {"we will be {} after all", "make it {} people"},
                                                {"for how many did I say?", "how many of us were that?"},
                                                "For how many people?",
                                                "You said {} people."},
                                               {{"{} food", "something {}", "we would like {} food"},
                                                {"rather {} food", "we changed our mind: {} food"},
                                                {"which food did I want?", "what kind of food was it?"},
                                                "Which kitchen would you like?",
                                                "You wanted {} food."},
                                               {{"on {}", "for {} please", "it should be {}"},
                                                {"rather on {}", "{} would be better"},
                                                {"which day did I say?", "what day was it?"},
                                                "On which day?",
                                                "You said {}."},
                                               {{"at {}", "{} would suit us", "we come at {}"},
                                                {"rather at {}", "a table at {} would be better"},
                                                {"what time was that?", "at what time did I say?"},
                                                "At what time?",
                                                "You said at {}."}}};

std::string filled(const char* form, const std::string& value) {
  return fmt::format(fmt::runtime(form), value);
}

struct Booking {
  std::array<std::optional<std::string>, slots> said;

  bool complete() const {
    for (const auto& value : said)
      if (!value) return false;
    return true;
  }
  std::string next_question() const {
    for (std::size_t s = 0; s < slots; ++s)
      if (!said[s]) return slot_words[s].asked;
    return fmt::format("A table for {} with {} food on {} at {}. Is that right?", *said[people], *said[kitchen],
                       *said[day], *said[hour]);
  }
};

/// One turn of the guest, and the reply.
struct Turn {
  std::string guest, reply;
};

Turn any_turn(RandomSequence& random, Booking& b) {
  std::vector<std::size_t> known, missing;
  for (std::size_t s = 0; s < slots; ++s) (b.said[s] ? known : missing).push_back(s);
  const std::uint64_t kind = random.below(10);
  if (!known.empty() && kind < 2) {  // asks to repeat a detail
    const std::size_t s = draw_of(random, known);
    return {draw_of(random, slot_words[s].wondered),
            filled(slot_words[s].repeated, *b.said[s]) + " " + b.next_question()};
  }
  if (!known.empty() && kind < 4) {  // a correction
    const std::size_t s = draw_of(random, known);
    b.said[s] = any_value(random, s);
    return {filled(draw_of(random, slot_words[s].corrected), *b.said[s]), "Very well. " + b.next_question()};
  }
  if (missing.empty())
    return {draw_of(random, std::array{"yes", "that is right", "yes please"}), "Your table is booked."};
  const std::size_t told = missing.size() > 1 && draw_one_in(random, 3) ? 2 : 1;
  std::string text;
  for (const std::size_t i : draw_distinct(random, missing.size(), told)) {
    const std::size_t s = missing[i];
    b.said[s] = any_value(random, s);
    text += (text.empty() ? "" : " and ") + filled(draw_of(random, slot_words[s].told), *b.said[s]);
  }
  return {text, b.next_question()};
}

}  // namespace

// A conversation up to some turn: most are cut before their end, so that every stage is learned.
DemoPair dialogue_pair(RandomSequence& random) {
  Booking booking;
  std::string history =
      "G: " + std::string(draw_of(random, std::array{"hello", "I would like to book a table", "good evening"}));
  std::string reply = booking.next_question();
  const int turns = draw_between(random, 1, 8);
  for (int t = 0; t < turns && reply != "Your table is booked."; ++t) {
    const Turn turn = any_turn(random, booking);
    history += " R: " + reply + " G: " + turn.guest;
    reply = turn.reply;
  }
  return {history, reply};
}

}  // namespace tril::train
