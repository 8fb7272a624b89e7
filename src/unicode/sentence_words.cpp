#include "unicode/sentence_words.h"

#include <unicode/uloc.h>

#include <algorithm>
#include <utility>

#include "unicode/sentence_word_lists.h"

namespace tril {
namespace {

using Masks = std::array<std::uint64_t, word_kinds>;  // for each kind, the languages whose list has the word

constexpr std::size_t row_count = std::tuple_size_v<decltype(sentence_word_lists)>;
constexpr std::size_t longest_word = 32;  // in bytes, more than any word of the lists
constexpr std::uint64_t not_known = std::uint64_t{1} << 63;
static_assert(row_count < 63);

class WordTable {
 public:
  static const WordTable& table() {
    static const WordTable words;
    return words;
  }
  const Masks* find(std::string_view word) const {
    if (word.empty() || word.size() > longest_word) return nullptr;
    const auto found = words_.find(word);
    return found == words_.end() ? nullptr : &found->second;
  }

 private:
  WordTable() {
    for (std::size_t row = 0; row < row_count; ++row)
      for (std::size_t kind = 0; kind < word_kinds; ++kind) add(sentence_word_lists[row].lists()[kind], row, kind);
  }
  void add(std::string_view list, std::size_t row, std::size_t kind) {
    while (!list.empty()) {
      const std::size_t end = std::min(list.find(' '), list.size());
      std::string_view word = list.substr(0, end);
      list.remove_prefix(std::min(list.size(), end + 1));
      const bool only_known = word.starts_with('*');
      if (only_known) word.remove_prefix(1);
      if (!word.empty()) words_[word][kind] |= std::uint64_t{1} << row | (only_known ? 0 : not_known);
    }
  }

  std::unordered_map<std::string_view, Masks> words_;
};

// Languages whose abbreviations are those of another one with a list.
constexpr std::array<std::pair<std::string_view, std::string_view>, 7> relatives{
    {{"nb", "no"}, {"nn", "no"}, {"bs", "hr"}, {"sh", "hr"}, {"ms", "id"}, {"mr", "hi"}, {"ne", "hi"}}};

// The row of a language; row_count: it has none.
std::size_t row_of(std::string_view language) {
  const auto find = [](std::string_view code) {
    for (const auto& [other, known] : relatives)
      if (code == other) code = known;
    const auto row = std::find_if(sentence_word_lists.begin(), sentence_word_lists.end(),
                                  [code](const LanguageWords& w) { return w.language == code; });
    return static_cast<std::size_t>(row - sentence_word_lists.begin());
  };
  if (language.empty()) return row_count;
  if (const std::size_t row = find(language); row < row_count) return row;
  std::array<char, ULOC_LANG_CAPACITY> code{};
  UErrorCode error = U_ZERO_ERROR;
  uloc_getLanguage(std::string(language).c_str(), code.data(), static_cast<std::int32_t>(code.size()), &error);
  return U_FAILURE(error) || code[0] == '\0' ? row_count : find(code.data());
}

}  // namespace

SentenceWords::SentenceWords(std::string_view language) : languages_(not_known) {
  const std::size_t row = row_of(language);
  if (row == row_count) return;
  languages_ = std::uint64_t{1} << row | 1;  // the first row has the words of all
  ordinals_ = sentence_word_lists[row].ordinals;
  english_ = sentence_word_lists[row].language == "en";
}

bool SentenceWords::has(WordKind kind, std::string_view word) const {
  const Masks* const masks = WordTable::table().find(word);
  return masks != nullptr && ((*masks)[static_cast<std::size_t>(kind)] & languages_) != 0;
}

}  // namespace tril
