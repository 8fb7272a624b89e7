#include "decode/prompts/answer_parts.h"

#include <algorithm>
#include <array>
#include <span>

#include "unicode/letter_case.h"
#include "unicode/trim.h"

namespace tril::search {
namespace {

using namespace std::string_view_literals;

// Stems of "translation" and "to translate", in lower case.
constexpr std::array translation_words{
    "translat"sv, "übersetz"sv, "traduc"sv, "traduz"sv,   "traduit"sv, "tradur"sv,   "перев"sv,  "переклад"sv,
    "翻译"sv,     "翻譯"sv,     "译文"sv,   "譯文"sv,     "翻訳"sv,    "번역"sv,     "vertal"sv, "tłumacz"sv,
    "překl"sv,    "preklad"sv,  "käänn"sv,  "översätt"sv, "oversæt"sv, "oversett"sv, "fordít"sv, "çevir"sv,
    "ترجم"sv,     "अनुवाद"sv,    "dịch"sv,   "terjemah"sv, "แปล"sv,     "μετάφρα"sv,  "תרגו"sv,   "превод"sv};

// Beginnings of answers in general, which count together with the name of the target language.
constexpr std::array polite_words{"sure"sv,    "certainly"sv, "of course"sv, "okay"sv,
                                  "here is"sv, "here's"sv,    "here are"sv};

// Beginnings of notes, in lower case.
constexpr std::array note_words{"note"sv,
                                "translator's note"sv,
                                "translation note"sv,
                                "please note"sv,
                                "explanation"sv,
                                "breakdown"sv,
                                "this translation"sv,
                                "the translation"sv,
                                "in this translation"sv,
                                "alternative translation"sv,
                                "alternatively"sv,
                                "literal translation"sv,
                                "i hope"sv,
                                "let me know"sv,
                                "anmerkung"sv,
                                "hinweis:"sv,
                                "erklärung:"sv,
                                "remarque"sv,
                                "nota:"sv,
                                "explicación"sv,
                                "примечание"sv,
                                "пояснение"sv,
                                "注："sv,
                                "注:"sv,
                                "注释"sv,
                                "说明："sv,
                                "解释："sv,
                                "備考"sv,
                                "참고:"sv};

constexpr std::array<std::pair<std::string_view, std::string_view>, 9> quotation_marks{
    {{"\"", "\""}, {"“", "”"}, {"„", "“"}, {"„", "”"}, {"«", "»"}, {"»", "«"}, {"「", "」"}, {"『", "』"}, {"'", "'"}}};

constexpr std::size_t longest_preamble = 200;  // bytes

std::size_t count_of(std::string_view text, std::string_view part) {
  std::size_t n = 0;
  for (std::size_t at = text.find(part); at != text.npos; at = text.find(part, at + part.size())) ++n;
  return n;
}

std::size_t colons_in(std::string_view text) {
  return count_of(text, ":") + count_of(text, "：");
}

bool contains_any(std::string_view text, std::span<const std::string_view> words) {
  return std::any_of(words.begin(), words.end(), [&](std::string_view word) { return text.find(word) != text.npos; });
}

// Without the marks of Markdown's headings and emphasis, and without an opening bracket.
std::string_view without_marks(std::string_view text) {
  const std::size_t at = text.find_first_not_of(" \t*#_([");
  return at == text.npos ? std::string_view() : text.substr(at);
}

// The answer as it gets shorter.
class Cutter {
 public:
  Cutter(std::string_view answer, const AnswerTo& to)
      : to_(to), rest_(trim(answer)), source_(lower_case(to.source)), language_(lower_case(to.language)) {}

  AnswerParts cut() {
    if (!to_.begun) {
      cut_reasoning();
      cut_fence();
      cut_preamble();
      cut_label();
      cut_fence();
    }
    cut_note();
    if (!to_.begun) cut_quotes();
    return {std::string(rest_), std::move(removed_)};
  }

 private:
  void keep(std::string_view rest, AroundAnswer kind, std::string removed) {
    rest = trim(rest);
    if (rest.empty()) return;
    rest_ = rest;
    removed_.push_back({kind, std::move(removed)});
  }
  std::string before(std::string_view rest) const {
    return std::string(trim(rest_.substr(0, static_cast<std::size_t>(rest.data() - rest_.data()))));
  }

  void cut_reasoning() {
    constexpr std::string_view open = "<think>", close = "</think>";
    if (!rest_.starts_with(open)) return;
    if (trim(to_.source).starts_with(open)) return;
    const std::size_t end = rest_.find(close);
    const std::string_view rest = end == rest_.npos ? rest_.substr(rest_.size()) : rest_.substr(end + close.size());
    removed_.push_back({AroundAnswer::reasoning, before(rest)});
    rest_ = trim(rest);
  }

  void cut_fence() {
    constexpr std::string_view fence = "```";
    if (!rest_.starts_with(fence) || rest_.size() < 2 * fence.size() || !rest_.ends_with(fence)) return;
    if (to_.source.find(fence) != to_.source.npos) return;
    const std::size_t line = rest_.find('\n');
    if (line == rest_.npos || line + fence.size() >= rest_.size()) return;
    const std::string_view inside = rest_.substr(line + 1, rest_.size() - line - 1 - fence.size());
    if (inside.find(fence) != inside.npos) return;
    keep(inside, AroundAnswer::code_fence, std::string(rest_.substr(0, line)));
  }

  void cut_preamble() {
    const std::size_t latin = rest_.find(':'), wide = rest_.find("：");
    const std::size_t colon = std::min(latin, wide);
    if (colon == rest_.npos || colon > longest_preamble) return;
    const std::string head = lower_case(without_marks(rest_.substr(0, colon)));
    const bool polite = std::any_of(polite_words.begin(), polite_words.end(),
                                    [&](std::string_view word) { return head.starts_with(word); });
    if (!polite && head.find('\n') != head.npos) return;
    std::string_view rest = rest_.substr(colon + (colon == latin ? 1 : "："sv.size()));
    if (without_marks(rest_) != rest_) rest = rest.substr(std::min(rest.size(), rest.find_first_not_of("*_")));
    const bool new_line = rest.substr(0, rest.find_first_not_of(" \t\r\n")).find('\n') != rest.npos;
    const bool speaks = contains_any(head, translation_words);
    const bool names = polite && new_line && !language_.empty() && head.find(language_) != head.npos;
    if (!speaks && !names) return;
    if (contains_any(source_, translation_words) || colons_in(rest) < colons_in(to_.source)) return;
    if (names && !speaks && !language_.empty() && source_.find(language_) != source_.npos) return;
    keep(rest, AroundAnswer::preamble, before(rest));
  }

  void cut_label() {
    if (language_.empty()) return;
    const std::string_view begin = without_marks(rest_);
    if (begin.size() <= language_.size() || lower_case(begin.substr(0, language_.size())) != language_) return;
    std::string_view rest = begin.substr(language_.size());
    rest = rest.substr(std::min(rest.size(), rest.find_first_not_of("*_])")));
    const std::string_view colon = rest.starts_with(':') ? ":"sv : rest.starts_with("：") ? "："sv : ""sv;
    if (colon.empty()) return;
    rest.remove_prefix(colon.size());
    if (begin != rest_) rest = rest.substr(std::min(rest.size(), rest.find_first_not_of("*_")));
    if (colons_in(rest) < colons_in(to_.source)) return;
    keep(rest, AroundAnswer::label, before(rest));
  }

  void cut_note() {
    if (to_.source.find("\n\n") != to_.source.npos || to_.source.find("\n\r\n") != to_.source.npos) return;
    const std::size_t unix_line = rest_.find("\n\n"), dos_line = rest_.find("\n\r\n");
    const std::size_t blank = std::min(unix_line, dos_line);
    if (blank == rest_.npos) return;
    const std::string note = lower_case(without_marks(trim(rest_.substr(blank))));
    const auto word =
        std::find_if(note_words.begin(), note_words.end(), [&](std::string_view w) { return note.starts_with(w); });
    if (word == note_words.end() || source_.find(*word) != source_.npos) return;
    keep(rest_.substr(0, blank), AroundAnswer::note, std::string(trim(rest_.substr(blank))));
  }

  void cut_quotes() {
    const std::string_view source = trim(to_.source);
    for (const auto& [open, close] : quotation_marks)
      for (const std::string_view mark : {open, close})
        if (source.starts_with(mark) || source.ends_with(mark)) return;
    for (const auto& [open, close] : quotation_marks) {
      if (rest_.size() <= open.size() + close.size() || !rest_.starts_with(open) || !rest_.ends_with(close)) continue;
      const std::string_view inside = rest_.substr(open.size(), rest_.size() - open.size() - close.size());
      if (inside.find(open) != inside.npos || inside.find(close) != inside.npos) continue;
      keep(inside, AroundAnswer::quotes, std::string(open) + std::string(close));
      return;
    }
  }

  const AnswerTo& to_;
  std::string_view rest_;
  std::string source_, language_;
  std::vector<RemovedPart> removed_;
};

}  // namespace

std::string_view name_of(AroundAnswer kind) {
  constexpr std::array names{"reasoning"sv, "preamble"sv, "label"sv, "quotes"sv, "code fence"sv, "note"sv};
  return names.at(static_cast<std::size_t>(kind));
}

AnswerParts translation_in(std::string_view answer, const AnswerTo& to) {
  return Cutter(answer, to).cut();
}

}  // namespace tril::search
