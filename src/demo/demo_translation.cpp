// English sentences and their German translations, from a small grammar of both: a clause is a tree (who, does what, to
// whom, where, when), which each language puts into words in its own order.
//
//   the small girl has found a red ball in the garden    das kleine Mädchen hat im Garten einen roten Ball gefunden
//   the man laughs because the dog calls the cat         der Mann lacht, weil der Hund die Katze anruft
#include <fmt/format.h>

#include <string>

#include "demo/demo_draw.h"
#include "demo/demo_tasks.h"

namespace tril::train {
namespace {

enum Gender : std::size_t { masculine, feminine, neuter };
enum Case : std::size_t { nominative, accusative, dative };

struct Noun {
  const char *english, *german;
  Gender gender;
};
constexpr std::array clause_people{
    Noun{"man", "Mann", masculine},           Noun{"woman", "Frau", feminine},      Noun{"child", "Kind", neuter},
    Noun{"girl", "Mädchen", neuter},          Noun{"teacher", "Lehrer", masculine}, Noun{"doctor", "Ärztin", feminine},
    Noun{"dog", "Hund", masculine},           Noun{"cat", "Katze", feminine},       Noun{"horse", "Pferd", neuter},
    Noun{"neighbour", "Nachbarin", feminine}, Noun{"baker", "Bäcker", masculine},   Noun{"uncle", "Onkel", masculine},
    Noun{"queen", "Königin", feminine},       Noun{"bird", "Vogel", masculine}};
constexpr std::array clause_things{
    Noun{"ball", "Ball", masculine},    Noun{"book", "Buch", neuter},        Noun{"lamp", "Lampe", feminine},
    Noun{"apple", "Apfel", masculine},  Noun{"key", "Schlüssel", masculine}, Noun{"bicycle", "Fahrrad", neuter},
    Noun{"letter", "Brief", masculine}, Noun{"flower", "Blume", feminine},   Noun{"picture", "Bild", neuter},
    Noun{"cup", "Tasse", feminine},     Noun{"coat", "Mantel", masculine},   Noun{"bread", "Brot", neuter}};
// "in the" with these takes the dative.
constexpr std::array places{Noun{"garden", "Garten", masculine}, Noun{"house", "Haus", neuter},
                            Noun{"kitchen", "Küche", feminine},  Noun{"forest", "Wald", masculine},
                            Noun{"school", "Schule", feminine},  Noun{"village", "Dorf", neuter},
                            Noun{"park", "Park", masculine},     Noun{"city", "Stadt", feminine}};

struct Adjective {
  const char *english, *german;
};
constexpr std::array adjectives{Adjective{"small", "klein"},  Adjective{"old", "alt"},
                                Adjective{"red", "rot"},      Adjective{"new", "neu"},
                                Adjective{"big", "groß"},     Adjective{"beautiful", "schön"},
                                Adjective{"young", "jung"},   Adjective{"green", "grün"},
                                Adjective{"heavy", "schwer"}, Adjective{"quiet", "leis"}};

// A separable verb moves its particle to the end of the clause: ruft ... an, anruft, angerufen, anrufen.
struct Verb {
  const char *third, *past, *base;                     ///< sees, seen, see
  const char *german_third, *participle, *infinitive;  ///< sieht, gesehen, sehen: without the particle
  const char* particle;
  bool takes_person;
};
constexpr std::array verbs{
    Verb{"sees", "seen", "see", "sieht", "gesehen", "sehen", "", true},
    Verb{"finds", "found", "find", "findet", "gefunden", "finden", "", true},
    Verb{"loves", "loved", "love", "liebt", "geliebt", "lieben", "", true},
    Verb{"looks for", "looked for", "look for", "sucht", "gesucht", "suchen", "", true},
    Verb{"calls", "called", "call", "ruft", "gerufen", "rufen", "an", true},
    Verb{"invites", "invited", "invite", "lädt", "geladen", "laden", "ein", true},
    Verb{"picks up", "picked up", "pick up", "holt", "geholt", "holen", "ab", true},
    Verb{"buys", "bought", "buy", "kauft", "gekauft", "kaufen", "", false},
    Verb{"paints", "painted", "paint", "malt", "gemalt", "malen", "an", false},
    Verb{"brings along", "brought along", "bring along", "bringt", "gebracht", "bringen", "mit", false},
    Verb{"takes", "taken", "take", "nimmt", "genommen", "nehmen", "", false},
    Verb{"shows", "shown", "show", "zeigt", "gezeigt", "zeigen", "", false}};

struct Phrase {
  const Noun* noun;
  const Adjective* adjective = nullptr;
  bool definite = true;
};

enum class Tense : std::uint8_t { present, perfect, modal };

struct Clause {
  Phrase subject, object;
  const Verb* verb;
  const Noun* place = nullptr;
  Tense tense = Tense::present;
  bool negated = false;
  std::size_t modal = 0;
};

Phrase any_phrase(RandomSequence& random, const Noun& noun) {
  return {&noun, draw_one_in(random, 2) ? &draw_of(random, adjectives) : nullptr, draw_between(random, 0, 2) > 0};
}

Clause any_clause(RandomSequence& random) {
  Clause c{any_phrase(random, draw_of(random, clause_people)), {}, &draw_of(random, verbs)};
  const bool person = c.verb->takes_person && draw_one_in(random, 2);
  c.object = any_phrase(random, person ? draw_of(random, clause_people) : draw_of(random, clause_things));
  if (draw_one_in(random, 2)) c.place = &draw_of(random, places);
  c.tense = draw_of(random, std::array{Tense::present, Tense::perfect, Tense::modal});
  c.negated = draw_one_in(random, 5);
  c.modal = random.below(3);
  return c;
}

// --- English ---

std::string english(const Phrase& p) {
  const std::string words = (p.adjective ? std::string(p.adjective->english) + " " : "") + p.noun->english;
  if (p.definite) return "the " + words;
  return (std::string_view("aeiou").find(words[0]) == std::string_view::npos ? "a " : "an ") + words;
}

constexpr std::array english_modals{"can", "must", "wants to"};

std::string english(const Clause& c) {
  std::string verb;
  switch (c.tense) {
    case Tense::present:
      verb = c.negated ? std::string("does not ") + c.verb->base : c.verb->third;
      break;
    case Tense::perfect:
      verb = std::string(c.negated ? "has not " : "has ") + c.verb->past;
      break;
    case Tense::modal:
      if (c.negated)
        verb = std::string(std::array{"cannot ", "need not ", "does not want to "}[c.modal]) + c.verb->base;
      else
        verb = std::string(english_modals[c.modal]) + " " + c.verb->base;
      break;
  }
  return english(c.subject) + " " + verb + " " + english(c.object) +
         (c.place ? std::string(" in the ") + c.place->english : "");
}

// --- German ---

constexpr const char* definite_article[3][3]{{"der", "die", "das"}, {"den", "die", "das"}, {"dem", "der", "dem"}};
constexpr const char* indefinite_article[3][3]{
    {"ein", "eine", "ein"}, {"einen", "eine", "ein"}, {"einem", "einer", "einem"}};
constexpr const char* weak_ending[3][3]{{"e", "e", "e"}, {"en", "e", "e"}, {"en", "en", "en"}};
constexpr const char* mixed_ending[3][3]{{"er", "e", "es"}, {"en", "e", "es"}, {"en", "en", "en"}};

std::string german(const Phrase& p, Case c) {
  const Gender g = p.noun->gender;
  std::string text = p.definite ? definite_article[c][g] : indefinite_article[c][g];
  if (p.adjective)
    text += std::string(" ") + p.adjective->german + (p.definite ? weak_ending[c][g] : mixed_ending[c][g]);
  return text + " " + p.noun->german;
}

std::string in_the(const Noun& place) {
  return std::string(place.gender == feminine ? "in der " : "im ") + place.german;
}

/// The word at the second position of a main clause, and the words at the end of either clause.
struct GermanVerb {
  std::string second, end;
};

GermanVerb parts(const Clause& c) {
  const std::string particle = c.verb->particle;
  switch (c.tense) {
    case Tense::present:
      return {c.verb->german_third, particle};
    case Tense::perfect:
      return {"hat", particle + c.verb->participle};
    case Tense::modal:
      break;
  }
  return {std::array{"kann", c.negated ? "braucht" : "muss", "will"}[c.modal],
          c.modal == 1 && c.negated ? (particle.empty() ? std::string("zu ") : particle + "zu") + c.verb->infinitive
                                    : particle + c.verb->infinitive};
}

// The object, the place and "nicht" between the verb's two parts; a negated indefinite object would be "kein", so it is
// definite.
std::string middle(const Clause& c) {
  std::string text = c.place ? in_the(*c.place) + " " : "";
  text += german(c.object, accusative);
  return c.negated ? text + " nicht" : text;
}

std::string with(const std::string& text, const std::string& more) {
  return more.empty() ? text : text + " " + more;
}

enum class Order : std::uint8_t { main, question, inverted, subordinate };

std::string german(const Clause& c, Order order) {
  const GermanVerb verb = parts(c);
  const std::string subject = german(c.subject, nominative);
  if (order == Order::main) return with(subject + " " + verb.second + " " + middle(c), verb.end);
  if (order != Order::subordinate) return with(verb.second + " " + subject + " " + middle(c), verb.end);
  const std::string end = c.tense == Tense::present ? verb.end + verb.second : verb.end + " " + verb.second;
  return subject + " " + middle(c) + " " + end;
}

// --- sentences ---

std::string english_question(const Clause& c) {
  const std::string rest = english(c.object) + (c.place ? std::string(" in the ") + c.place->english : "") + "?";
  const std::string subject = english(c.subject) + " ";
  if (c.tense == Tense::present) return "does " + subject + c.verb->base + " " + rest;
  if (c.tense == Tense::perfect) return "has " + subject + c.verb->past + " " + rest;
  if (c.modal == 2) return "does " + subject + "want to " + c.verb->base + " " + rest;
  return std::string(english_modals[c.modal]) + " " + subject + c.verb->base + " " + rest;
}

struct Linking {
  const char *english, *german;
};
constexpr std::array subordinators{Linking{"because", "weil"}, Linking{"when", "wenn"}, Linking{"although", "obwohl"},
                                   Linking{"that", "dass"}};
constexpr std::array adverbs{Linking{"today", "heute"}, Linking{"perhaps", "vielleicht"}, Linking{"often", "oft"},
                             Linking{"of course", "natürlich"}};

}  // namespace

DemoPair translation_pair(RandomSequence& random) {
  Clause c = any_clause(random);
  if (c.negated) c.object.definite = true;
  switch (random.below(5)) {
    case 0:
      c.negated = false;
      return {english_question(c), german(c, Order::question) + "?"};
    case 1: {
      const Linking& adverb = draw_of(random, adverbs);
      return {fmt::format("{} {}.", adverb.english, english(c)),
              fmt::format("{} {}.", adverb.german, german(c, Order::inverted))};
    }
    case 2: {
      Clause other = any_clause(random);
      if (other.negated) other.object.definite = true;
      const std::size_t link = random.below(subordinators.size());
      const Linking& word = subordinators[link];
      if (link == 3) {
        const Phrase who = any_phrase(random, draw_of(random, clause_people));
        return {fmt::format("{} knows that {}.", english(who), english(c)),
                fmt::format("{} weiß, dass {}.", german(who, nominative), german(c, Order::subordinate))};
      }
      return {fmt::format("{} {} {}.", english(c), word.english, english(other)),
              fmt::format("{}, {} {}.", german(c, Order::main), word.german, german(other, Order::subordinate))};
    }
    default:
      return {english(c) + ".", german(c, Order::main) + "."};
  }
}

}  // namespace tril::train
