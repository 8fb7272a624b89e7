#include "tokenizer/pipeline/pre_tokenizer.h"

#include <algorithm>
#include <cstring>
#include <optional>

#include "tokenizer/pipeline/digit_groups.h"
#include "tokenizer/pipeline/growth.h"
#include "tokenizer/pipeline/regex.h"
#include "tokenizer/pipeline/word_patterns.h"
#include "unicode/characters.h"

namespace tril {
namespace {

using Scratch = PreTokenizerScratch;
using Stretch = Scratch::Stretch;

Word part(Word word, std::size_t begin, std::size_t end) {
  return {word.text.substr(begin, end - begin), word.at_start && begin == 0};
}

void hand_on(Word word, std::size_t begin, std::size_t end, const WordSink& take) {
  if (begin < end) take(part(word, begin, end));
}

// ---- What happens to delimiters. The stretches cover the word from left to right.

// A delimiter joins the non-delimiter before it; after another delimiter it stays separate.
void merge_with_previous(Word word, const std::vector<Stretch>& all, const WordSink& take) {
  std::size_t begin = 0, end = 0;
  bool after_delimiter = false;
  for (const Stretch& s : all) {
    if (!s.delimiter || after_delimiter) {
      hand_on(word, begin, end, take);
      begin = s.begin;
    }
    end = s.end;
    after_delimiter = s.delimiter;
  }
  hand_on(word, begin, end, take);
}

// A delimiter joins the non-delimiter after it; before another delimiter it stays separate.
void merge_with_next(Word word, const std::vector<Stretch>& all, const WordSink& take) {
  std::size_t begin = 0;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const bool joins = all[i].delimiter && i + 1 < all.size() && !all[i + 1].delimiter;
    if (joins) continue;
    hand_on(word, begin, all[i].end, take);
    begin = all[i].end;
  }
}

void join_contiguous(Word word, const std::vector<Stretch>& all, const WordSink& take) {
  for (std::size_t i = 0; i < all.size();) {
    const std::size_t first = i;
    while (i < all.size() && all[i].delimiter == all[first].delimiter) ++i;
    hand_on(word, all[first].begin, all[i - 1].end, take);
  }
}

void split(Word word, const std::vector<Stretch>& all, SplitBehavior behavior, const WordSink& take) {
  switch (behavior) {
    case SplitBehavior::removed:
      for (const Stretch& s : all)
        if (!s.delimiter) hand_on(word, s.begin, s.end, take);
      return;
    case SplitBehavior::isolated:
      for (const Stretch& s : all) hand_on(word, s.begin, s.end, take);
      return;
    case SplitBehavior::contiguous:
      return join_contiguous(word, all, take);
    case SplitBehavior::merged_with_previous:
      return merge_with_previous(word, all, take);
    case SplitBehavior::merged_with_next:
      return merge_with_next(word, all, take);
  }
}

// The stretches of a word, where each character that satisfies `is` is a delimiter.
template <class Is>
const std::vector<Stretch>& stretches_of(std::string_view text, Scratch& scratch, const Is& is) {
  std::vector<Stretch>& all = scratch.stretches;
  all.clear();
  std::size_t begin = 0;
  for (std::size_t at = 0; at < text.size();) {
    const Character c = character_at(text, at);
    const std::size_t end = at + c.length;
    if (is(c.code)) {
      if (begin < at) all.push_back({begin, at, false});
      all.push_back({at, end, true});
      begin = end;
    }
    at = end;
  }
  if (begin < text.size()) all.push_back({begin, text.size(), false});
  return all;
}

// ---- Steps

// Splits by a pattern with a dedicated function, whose matches cover every text.
class ByWordPattern : public PreTokenizer {
 public:
  explicit ByWordPattern(EndOfWord end_of_word) : end_of_word_(end_of_word) {}

  void cut(Word word, Scratch&, const WordSink& take) const override {
    for (std::size_t at = 0; at < word.text.size();) {
      const std::size_t end = end_of_word_(kinds_, word.text, at);
      take(part(word, at, end));
      at = end;
    }
  }

 private:
  EndOfWord end_of_word_;
  const CharacterKinds& kinds_ = CharacterKinds::table();
};

class ByPattern : public PreTokenizer {
 public:
  ByPattern(const SplitBy& how, const std::string& where) : how_(how) {
    if (how.pattern.regex || how.pattern.text.empty()) regex_.emplace(how.pattern.text, where);
  }

  void cut(Word word, Scratch& scratch, const WordSink& take) const override {
    find_matches(word.text, scratch.matches);
    std::vector<Stretch>& all = scratch.stretches;
    all.clear();
    std::size_t at = 0;
    for (const auto& [begin, end] : scratch.matches) {
      if (at < begin) all.push_back({at, begin, how_.invert});
      all.push_back({begin, end, !how_.invert});
      at = end;
    }
    if (at < word.text.size()) all.push_back({at, word.text.size(), how_.invert});
    split(word, all, how_.behavior, take);
  }

 private:
  void find_matches(std::string_view text, std::vector<std::pair<std::size_t, std::size_t>>& matches) const {
    matches.clear();
    if (regex_) return regex_->find_all(text, matches);
    const std::string& wanted = how_.pattern.text;
    for (std::size_t at = text.find(wanted); at != text.npos; at = text.find(wanted, at + wanted.size()))
      matches.emplace_back(at, at + wanted.size());
  }

  SplitBy how_;
  std::optional<Regex> regex_;
};

// Splits at single characters of some kind.
class ByKind : public PreTokenizer {
 public:
  ByKind(std::uint8_t kinds, SplitBehavior behavior) : kind_(kinds), behavior_(behavior) {}

  void cut(Word word, Scratch& scratch, const WordSink& take) const override {
    split(word, stretches_of(word.text, scratch, [this](char32_t c) { return (kinds_(c) & kind_) != 0; }), behavior_,
          take);
  }

 private:
  std::uint8_t kind_;
  SplitBehavior behavior_;
  const CharacterKinds& kinds_ = CharacterKinds::table();
};

class AtSpace : public PreTokenizer {
 public:
  void cut(Word word, Scratch&, const WordSink& take) const override {
    const std::string_view text = word.text;
    std::size_t begin = 0;
    for (std::size_t at = 0; at < text.size();) {
      const auto byte = static_cast<std::uint8_t>(text[at]);
      const Character c = byte < 0x80 ? Character{byte, 1} : character_at(text, at);
      if (kinds_(c.code) & kind_space) {
        hand_on(word, begin, at, take);
        begin = at + c.length;
      }
      at += c.length;
    }
    hand_on(word, begin, text.size(), take);
  }

 private:
  const CharacterKinds& kinds_ = CharacterKinds::table();
};

// \w+|[^\w\s]+
class WordsAndSigns : public PreTokenizer {
 public:
  void cut(Word word, Scratch&, const WordSink& take) const override {
    std::size_t begin = 0;
    unsigned run = kind_space;
    for (std::size_t at = 0; at < word.text.size();) {
      const Character c = character_at(word.text, at);
      const unsigned kinds = kinds_(c.code);
      const unsigned kind = (kinds & kind_word) != 0 ? unsigned{kind_word} : kinds & kind_space;
      if (kind != run) {
        if (run != kind_space) hand_on(word, begin, at, take);
        begin = at;
        run = kind;
      }
      at += c.length;
    }
    if (run != kind_space) hand_on(word, begin, word.text.size(), take);
  }

 private:
  const CharacterKinds& kinds_ = CharacterKinds::table();
};

// Splits at white space, which is dropped, and around each sign.
class AsBert : public PreTokenizer {
 public:
  void cut(Word word, Scratch&, const WordSink& take) const override {
    std::size_t begin = 0;
    for (std::size_t at = 0; at < word.text.size();) {
      const Character c = character_at(word.text, at);
      const unsigned kinds = kinds_(c.code);
      const std::size_t end = at + c.length;
      if (kinds & (kind_space | kind_punctuation)) {
        hand_on(word, begin, at, take);
        if (!(kinds & kind_space)) hand_on(word, at, end, take);
        begin = end;
      }
      at = end;
    }
    hand_on(word, begin, word.text.size(), take);
  }

 private:
  const CharacterKinds& kinds_ = CharacterKinds::table();
};

class AtCharacter : public PreTokenizer {
 public:
  explicit AtCharacter(std::string_view character) : wanted_(character_at(character, 0).code) {}

  void cut(Word word, Scratch& scratch, const WordSink& take) const override {
    split(word, stretches_of(word.text, scratch, [this](char32_t c) { return c == wanted_; }), SplitBehavior::removed,
          take);
  }

 private:
  char32_t wanted_;
};

class OfLength : public PreTokenizer {
 public:
  explicit OfLength(std::size_t length) : length_(length) {}

  void cut(Word word, Scratch&, const WordSink& take) const override {
    std::size_t begin = 0, count = 0;
    for (std::size_t at = 0; at < word.text.size();) {
      at += character_at(word.text, at).length;
      if (++count % length_ != 0) continue;
      hand_on(word, begin, at, take);
      begin = at;
    }
    hand_on(word, begin, word.text.size(), take);
  }

 private:
  std::size_t length_;
};

// A space in front, GPT-2's words, bytes as letters: each of the three is optional.
class AsByteLevel : public PreTokenizer {
 public:
  AsByteLevel(const ByteLevel& how, bool letters) : how_(how), letters_(letters) {}

  void cut(Word word, Scratch& scratch, const WordSink& take) const override {
    if (how_.add_prefix_space && word.text.front() != ' ') {
      scratch.text.assign(1, ' ').append(word.text);
      word.text = scratch.text;
    }
    std::string letters;
    const auto hand = [&](std::size_t begin, std::size_t end) {
      Word one = part(word, begin, end);
      if (letters_) {
        letters.clear();
        for (char byte : one.text) append_utf8(letters, byte_letters()[static_cast<std::uint8_t>(byte)]);
        one.text = letters;
      }
      take(one);
    };
    if (!how_.use_regex) return hand(0, word.text.size());
    for (std::size_t at = 0; at < word.text.size();) {
      const std::size_t end = end_of_gpt2_word(kinds_, word.text, at);
      hand(at, end);
      at = end;
    }
  }

 private:
  ByteLevel how_;
  bool letters_;
  const CharacterKinds& kinds_ = CharacterKinds::table();
};

// Spaces become a mark, and each word begins with one.
class AsMetaspace : public PreTokenizer {
 public:
  explicit AsMetaspace(Metaspace how) : how_(std::move(how)) {}

  void cut(Word word, Scratch& scratch, const WordSink& take) const override {
    const std::string_view mark = how_.mark;
    std::string& text = scratch.text;
    text.clear();
    const bool wanted =
        how_.prepend == PrependScheme::always || (how_.prepend == PrependScheme::first && word.at_start);
    if (wanted && word.text.front() != ' ' && !word.text.starts_with(mark)) text = mark;
    append_marked(word.text, text);
    word.text = text;
    if (!how_.split) return take(word);
    std::size_t begin = 0;
    for (std::size_t at = next_mark(text, 1); at < text.size(); at = next_mark(text, at + 1)) {
      take(part(word, begin, at));
      begin = at;
    }
    take(part(word, begin, text.size()));
  }

 private:
  void append_marked(std::string_view from, std::string& to) const {
    for (std::size_t at = 0; at < from.size();) {
      const std::size_t space = std::min(from.find(' ', at), from.size());
      to += from.substr(at, space - at);
      if (space < from.size()) to += how_.mark;
      at = space + 1;
    }
  }

  // The position of the next mark from `at` on, or the end of the text.
  std::size_t next_mark(std::string_view text, std::size_t at) const {
    while (at < text.size()) {
      const void* found = std::memchr(text.data() + at, how_.mark.front(), text.size() - at);
      if (!found) break;
      at = static_cast<std::size_t>(static_cast<const char*>(found) - text.data());
      if (text.substr(at).starts_with(how_.mark)) return at;
      ++at;
    }
    return text.size();
  }

  Metaspace how_;
};

struct Make {
  bool letters;
  const std::string& where;

  using Made = std::unique_ptr<const PreTokenizer>;
  Made operator()(const SplitBy& s) const {
    const bool covers = s.behavior == SplitBehavior::isolated || (s.behavior == SplitBehavior::removed && s.invert);
    if (const EndOfWord own = s.pattern.regex && covers ? find_word_pattern(s.pattern.text) : nullptr)
      return std::make_unique<ByWordPattern>(own);
    if (Made groups = find_digit_groups(s)) return groups;
    return std::make_unique<ByPattern>(s, where);
  }
  Made operator()(const ByteLevel& s) const { return std::make_unique<AsByteLevel>(s, letters); }
  Made operator()(const Metaspace& s) const { return std::make_unique<AsMetaspace>(s); }
  Made operator()(const SplitAtSpace&) const { return std::make_unique<AtSpace>(); }
  Made operator()(const SplitWordsAndSigns&) const { return std::make_unique<WordsAndSigns>(); }
  Made operator()(const BertWords&) const { return std::make_unique<AsBert>(); }
  Made operator()(const SplitDigits& s) const {
    return std::make_unique<ByKind>(kind_number, s.individual ? SplitBehavior::isolated : SplitBehavior::contiguous);
  }
  Made operator()(const SplitPunctuation& s) const { return std::make_unique<ByKind>(kind_punctuation, s.behavior); }
  Made operator()(const SplitAtCharacter& s) const { return std::make_unique<AtCharacter>(s.character); }
  Made operator()(const FixedLength& s) const { return std::make_unique<OfLength>(s.length); }
};

}  // namespace

PreTokenizers::PreTokenizers(const std::vector<PreTokenizerStep>& steps, bool letters, const std::string& where)
    : where_(where) {
  for (std::size_t i = 0; i < steps.size(); ++i) {
    steps_.push_back(std::visit(Make{letters || i + 1 < steps.size(), where}, steps[i]));
    takes_bytes_ = takes_bytes_ && dynamic_cast<const ByPattern*>(steps_.back().get()) == nullptr;
  }
}
PreTokenizers::PreTokenizers(PreTokenizers&&) noexcept = default;
PreTokenizers::~PreTokenizers() = default;

void PreTokenizers::cut(Word text, std::vector<PreTokenizerScratch>& scratch, const WordSink& take) const {
  for (PreTokenizerScratch& one : scratch) one.bytes = 0;
  cut(0, text, {scratch, take, text.text.size()});
}

void PreTokenizers::cut(std::size_t step, Word word, const Run& run) const {
  if (word.text.empty()) return;
  if (step == steps_.size()) return run.take(word);
  PreTokenizerScratch& own = run.scratch[step];
  own.bytes += word.text.size();
  if (own.bytes > most_grown(run.bytes)) refuse_growth(where_, "the pre-tokenizers", run.bytes);
  const auto next = [&](Word w) { cut(step + 1, w, run); };
  steps_[step]->cut(word, own, next);
}

}  // namespace tril
