#include "demo/demo_corpus.h"

#include <fmt/format.h>

#include <array>
#include <chrono>
#include <unordered_set>

#include "base/error.h"
#include "demo/number_words.h"

namespace tril::train {
namespace {

using Names = std::array<const char*, 12>;

constexpr Names english_months{"January", "February", "March",     "April",   "May",      "June",
                               "July",    "August",   "September", "October", "November", "December"};
constexpr Names short_months{"Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
constexpr Names german_months{"Januar", "Februar", "März",      "April",   "Mai",      "Juni",
                              "Juli",   "August",  "September", "Oktober", "November", "Dezember"};
constexpr Names french_months{"janvier", "février", "mars",      "avril",   "mai",      "juin",
                              "juillet", "août",    "septembre", "octobre", "novembre", "décembre"};
// From Sunday, like std::chrono::weekday.
constexpr std::array<const char*, 7> english_days{"Sunday",   "Monday", "Tuesday", "Wednesday",
                                                  "Thursday", "Friday", "Saturday"};
constexpr std::array<const char*, 7> german_days{"Sonntag",    "Montag",  "Dienstag", "Mittwoch",
                                                 "Donnerstag", "Freitag", "Samstag"};
constexpr std::array<const char*, 7> french_days{"dimanche", "lundi",    "mardi", "mercredi",
                                                 "jeudi",    "vendredi", "samedi"};

int between(RandomSequence& random, int least, int most) {
  return least + static_cast<int>(random.below(static_cast<std::uint64_t>(most - least) + 1));
}

template <class T, std::size_t N>
T one_of(RandomSequence& random, const std::array<T, N>& list) {
  return list[random.below(N)];
}

constexpr std::array languages{Language::english, Language::german, Language::french};
constexpr std::array spellings{Spelling::plain, Spelling::custom};

// --- dates ---

std::string english_suffix(int day) {
  if (day / 10 == 1) return "th";
  return day % 10 == 1 ? "st" : day % 10 == 2 ? "nd" : day % 10 == 3 ? "rd" : "th";
}

struct Date {
  int year, month, day;
  std::size_t weekday;  ///< from Sunday
};

Date any_date(RandomSequence& random) {
  using namespace std::chrono;
  const int y = random.below(2) ? between(random, 1950, 2049) : between(random, 1500, 2499);
  const auto m = static_cast<unsigned>(between(random, 1, 12));
  const auto last = static_cast<int>(unsigned{(year(y) / month(m) / std::chrono::last).day()});
  const int d = between(random, 1, last);
  const weekday w{sys_days(year(y) / month(m) / day(static_cast<unsigned>(d)))};
  return {y, static_cast<int>(m), d, w.c_encoding()};
}

// {d} day, {dd} in two digits, {nth} 7th, {en} {de} {fr} the month, {sh} its English abbreviation, {en_d} {de_d} {fr_d}
// the day in words, {fr_n} 1er or the day, {en_w} {de_w} {fr_w} the day of the week.
constexpr std::array date_forms{
    "{en} {d}, {y}",          "{d} {en} {y}",           "{en} {nth}, {y}",     "the {nth} of {en} {y}",
    "the {en_d} of {en} {y}", "{en} the {en_d}, {y}",   "{sh} {d}, {y}",       "{d} {sh} {y}",
    "{en_w}, {en} {d}, {y}",  "on {d} {en} {y}",        "{d}. {de} {y}",       "am {d}. {de} {y}",
    "der {d}. {de} {y}",      "der {de_d} {de} {y}",    "am {de_d}n {de} {y}", "{d}.{m}.{y}",
    "{dd}.{mm}.{y}",          "{de_w}, {d}. {de} {y}",  "{fr_n} {fr} {y}",     "le {fr_n} {fr} {y}",
    "le {fr_d} {fr} {y}",     "{fr_w} {fr_n} {fr} {y}", "{fr_d} {fr} {y}",     "{y}/{mm}/{dd}"};

std::string written_date(RandomSequence& random, const Date& at) {
  const auto month = static_cast<std::size_t>(at.month - 1);
  const auto two = [](int n) { return fmt::format("{:02}", n); };
  using fmt::arg;
  return fmt::format(
      fmt::runtime(one_of(random, date_forms)), arg("y", at.year), arg("m", at.month), arg("mm", two(at.month)),
      arg("d", at.day), arg("dd", two(at.day)), arg("nth", std::to_string(at.day) + english_suffix(at.day)),
      arg("en", english_months[month]), arg("sh", short_months[month]), arg("de", german_months[month]),
      arg("fr", french_months[month]), arg("en_d", day_in_words(Language::english, at.day)),
      arg("de_d", day_in_words(Language::german, at.day)), arg("fr_d", day_in_words(Language::french, at.day)),
      arg("fr_n", at.day == 1 ? "1er" : std::to_string(at.day)), arg("en_w", english_days[at.weekday]),
      arg("de_w", german_days[at.weekday]), arg("fr_w", french_days[at.weekday]));
}

// --- times of day ---

// "two in the afternoon": hours 1 to 11 and 13 to 23 have a name with their part of the day.
std::string part_of_day(Language language, int hour) {
  const std::size_t part = hour < 12 ? 0 : hour < 18 ? 1 : 2;
  constexpr std::array<std::array<const char*, 3>, 3> names{{{"in the morning", "in the afternoon", "in the evening"},
                                                             {"morgens", "nachmittags", "abends"},
                                                             {"du matin", "de l'après-midi", "du soir"}}};
  return names[static_cast<std::size_t>(language)][part];
}

// Times relative to the nearest hour. By language: on the hour; minutes past, a quarter past; minutes to, a quarter to;
// half an hour, which is past the hour except in German. {h} the hour, {u} the word for hours, {n} minutes.
constexpr std::array<std::array<const char*, 6>, 3> hour_forms{
    {{"{h} o'clock {part}", "{n} past {h} {part}", "quarter past {h} {part}", "{n} to {h} {part}",
      "quarter to {h} {part}", "half past {h} {part}"},
     {"{h} Uhr {part}", "{n} nach {h} {part}", "Viertel nach {h} {part}", "{n} vor {h} {part}",
      "Viertel vor {h} {part}", "halb {h} {part}"},
     {"{h} {u} {part}", "{h} {u} {n} {part}", "{h} {u} et quart {part}", "{h} {u} moins {n} {part}",
      "{h} {u} moins le quart {part}", "{h} {u} et demie {part}"}}};

DemoPair time_by_hour(RandomSequence& random) {
  const Language language = one_of(random, languages);
  const int named = random.below(2) ? between(random, 1, 11) : between(random, 13, 23);
  const std::size_t form = random.below(6);
  const int minutes = between(random, 1, 29);
  const int half = language == Language::german ? -30 : 30;
  const int at = named * 60 + std::array{0, minutes, 15, -minutes, -15, half}[form];

  const bool one = named % 12 == 1;
  std::string hour = cardinal(language, named % 12);
  if (one && language == Language::french) hour = "une";
  if (one && language == Language::german && form == 0) hour = "ein";  // ein Uhr, but fünf nach eins
  std::string count = cardinal(language, minutes);
  if (minutes % 5 != 0 && language == Language::english) count += minutes == 1 ? " minute" : " minutes";
  if (minutes % 5 != 0 && language == Language::german) count = minutes == 1 ? "eine Minute" : count + " Minuten";
  if (language == Language::french && minutes % 10 == 1 && minutes != 11) count += "e";  // une, vingt et une minutes

  const std::array prefixes{"at ", "um ", "à "};
  const std::string prefix = random.below(2) ? prefixes[static_cast<std::size_t>(language)] : "";
  using fmt::arg;
  return {prefix + fmt::format(fmt::runtime(hour_forms[static_cast<std::size_t>(language)][form]), arg("h", hour),
                               arg("u", one ? "heure" : "heures"), arg("n", count),
                               arg("part", part_of_day(language, named))),
          fmt::format("{:02}:{:02}", at / 60, at % 60)};
}

// {h} {m} in digits, {mm} in two digits, {t} the hour from 1 to 12 with {half} am or pm, {dotted} a.m. or p.m.;
// {de_h} {de_m} {fr_h} {fr_m} in words.
constexpr std::array time_forms{"{t}:{mm} {half}",   "{t}:{mm} {dotted}", "{t}:{mm}{half}",  "at {t}:{mm} {half}",
                                "{h}:{mm}",          "{h}.{mm} Uhr",      "um {h}:{mm} Uhr", "{h} Uhr {m}",
                                "{de_h} Uhr {de_m}", "{h}h{mm}",          "à {h} h {mm}",    "{h} {u} {m}",
                                "{fr_h} {u} {fr_m}"};

std::string written_time(RandomSequence& random, int hour, int minute) {
  using fmt::arg;
  return fmt::format(fmt::runtime(one_of(random, time_forms)), arg("h", hour), arg("m", minute),
                     arg("mm", fmt::format("{:02}", minute)), arg("t", hour % 12 == 0 ? 12 : hour % 12),
                     arg("half", hour < 12 ? "am" : "pm"), arg("dotted", hour < 12 ? "a.m." : "p.m."),
                     arg("de_h", hour == 1 ? "ein" : cardinal(Language::german, hour)),
                     arg("de_m", cardinal(Language::german, minute)),
                     arg("fr_h", hour == 1 ? "une" : cardinal(Language::french, hour)),
                     arg("fr_m", cardinal(Language::french, minute)), arg("u", hour < 2 ? "heure" : "heures"));
}

DemoPair any_time(RandomSequence& random) {
  if (random.below(3) == 0) return time_by_hour(random);
  const int hour = between(random, 0, 23), minute = between(random, 1, 59);
  return {written_time(random, hour, minute), fmt::format("{:02}:{:02}", hour, minute)};
}

// --- numbers ---

/// whole.fraction, where fraction is its digits without trailing zeros.
struct Number {
  bool negative = false;
  int whole = 0;
  std::string fraction;
};

Number any_number(RandomSequence& random) {
  Number n;
  n.whole = between(random, 0, one_of(random, std::array{9, 99, 999, 9999}));
  const auto digit = [&](int least) { return static_cast<char>('0' + between(random, least, 9)); };
  const std::uint64_t decimals = random.below(3);
  if (decimals == 2) n.fraction += digit(0);
  if (decimals > 0) n.fraction += digit(1);
  n.negative = (n.whole > 0 || decimals > 0) && random.below(8) == 0;
  return n;
}

std::string number_in_words(RandomSequence& random, const Number& n) {
  const Language language = one_of(random, languages);
  std::string text = n.negative ? language == Language::french ? "moins " : "minus " : "";
  text += cardinal(language, n.whole, one_of(random, spellings));
  if (n.fraction.empty()) return text;
  text += language == Language::english ? " point" : language == Language::german ? " Komma" : " virgule";
  if (language == Language::french && n.fraction[0] != '0')  // read as a number: "virgule vingt-cinq"
    return text + " " + cardinal(language, std::stoi(n.fraction));
  for (char digit : n.fraction) text += " " + cardinal(language, digit - '0');
  return text;
}

std::string number_in_digits(RandomSequence& random, const Number& n) {
  const std::string sign = n.negative ? "-" : "", plain = std::to_string(n.whole);
  const auto grouped = [&](const char* mark) {
    return n.whole < 1000 ? plain : fmt::format("{}{}{:03}", n.whole / 1000, mark, n.whole % 1000);
  };
  const auto with = [&](const std::string& whole, const char* mark) {
    return sign + whole + (n.fraction.empty() ? "" : mark + n.fraction);
  };
  // Thousands separators only beside a decimal mark, so that both are unambiguous.
  const bool clear = !n.fraction.empty();
  const std::array written{with(plain, "."), with(plain, ","), with(clear ? grouped(",") : plain, "."),
                           with(clear ? grouped(".") : plain, ","), with(grouped(" "), ",")};
  return one_of(random, written);
}

DemoPair any_number_pair(RandomSequence& random) {
  const Number n = any_number(random);
  const std::string source = random.below(3) ? number_in_words(random, n) : number_in_digits(random, n);
  return {source, fmt::format("{}{}{}{}", n.negative ? "-" : "", n.whole, n.fraction.empty() ? "" : ".", n.fraction)};
}

}  // namespace

DemoPair demo_pair(RandomSequence& random, DemoKind kind) {
  DemoPair pair;
  switch (kind) {
    case DemoKind::dates: {
      const Date at = any_date(random);
      pair = {written_date(random, at), fmt::format("{:04}-{:02}-{:02}", at.year, at.month, at.day)};
      break;
    }
    case DemoKind::times:
      pair = any_time(random);
      break;
    case DemoKind::numbers:
      pair = any_number_pair(random);
      break;
  }
  if (random.below(8) == 0)  // people do not always press shift; all capitals here are ASCII
    for (char& ch : pair.source) ch = ch >= 'A' && ch <= 'Z' ? static_cast<char>(ch - 'A' + 'a') : ch;
  return pair;
}

DemoCorpus make_demo_corpus(const DemoCorpusOptions& o) {
  check(!o.kinds.empty(), "demo corpus", "expected at least one kind");
  return make_demo_corpus({o.train, o.valid, o.test, o.seed}, [&](RandomSequence& random) {
    return demo_pair(random, o.kinds[random.below(o.kinds.size())]);
  });
}

DemoCorpus make_demo_corpus(const DemoSizes& o, const std::function<DemoPair(RandomSequence&)>& draw) {
  check(o.train > 0 && o.valid > 0 && o.test > 0, "demo corpus", "expected at least one line of each part");
  RandomSequence random(o.seed, /*stream=*/0);
  std::unordered_set<std::string> seen;
  std::vector<DemoPair> all;
  const std::int64_t wanted = o.train + o.valid + o.test;
  for (std::int64_t misses = 0; static_cast<std::int64_t>(all.size()) < wanted;) {
    DemoPair pair = draw(random);
    if (seen.insert(pair.source).second) {
      all.push_back(std::move(pair));
      misses = 0;
    } else if (++misses > 10'000) {
      fail_usage("demo corpus",
                 fmt::format("these forms give about {} different lines, but {} are asked for", all.size(), wanted),
                 "ask for fewer");
    }
  }
  // Rare forms come early and common ones late: shuffling spreads both over all parts.
  for (std::size_t i = all.size(); i > 1; --i) std::swap(all[i - 1], all[random.below(i)]);
  auto cut = [at = all.begin()](std::int64_t n) mutable {
    const auto from = at;
    at += n;
    return std::vector<DemoPair>(from, at);
  };
  DemoCorpus corpus;
  corpus.train = cut(o.train);
  corpus.valid = cut(o.valid);
  corpus.test = cut(o.test);
  return corpus;
}

}  // namespace tril::train
