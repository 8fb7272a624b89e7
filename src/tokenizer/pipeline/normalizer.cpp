#include "tokenizer/pipeline/normalizer.h"

#include <unicode/bytestream.h>
#include <unicode/normalizer2.h>
#include <unicode/uchar.h>

#include <algorithm>
#include <array>
#include <optional>

#include "base/error.h"
#include "tokenizer/pipeline/growth.h"
#include "tokenizer/pipeline/regex.h"
#include "unicode/character_map.h"
#include "unicode/characters.h"
#include "unicode/graphemes.h"

namespace tril {
namespace {

// Whether every byte of `text` is below `limit`.
bool all_below(std::string_view text, std::uint8_t limit) {
  std::uint8_t largest = 0;
  for (char byte : text) largest = std::max(largest, static_cast<std::uint8_t>(byte));
  return largest < limit;
}

// ---- Unicode's normal forms [UAX #15]

const icu::Normalizer2& normalizer_of(UnicodeForm::Form form) {
  UErrorCode status = U_ZERO_ERROR;
  const icu::Normalizer2* found = nullptr;
  switch (form) {
    case UnicodeForm::nfc:
      found = icu::Normalizer2::getNFCInstance(status);
      break;
    case UnicodeForm::nfd:
      found = icu::Normalizer2::getNFDInstance(status);
      break;
    case UnicodeForm::nfkc:
      found = icu::Normalizer2::getNFKCInstance(status);
      break;
    case UnicodeForm::nfkd:
      found = icu::Normalizer2::getNFKDInstance(status);
      break;
  }
  if (U_FAILURE(status) || !found) fail("Unicode normalisation", u_errorName(status), "install ICU's data");
  return *found;
}

icu::StringPiece piece(std::string_view text) {
  return {text.data(), static_cast<std::int32_t>(text.size())};
}

class ToUnicodeForm : public Normalizer {
 public:
  explicit ToUnicodeForm(UnicodeForm::Form form)
      : normalizer_(normalizer_of(form)),
        fixed_(form == UnicodeForm::nfc ? 0xcc : 0x80) {}  // 0xcc begins U+0300, the first that NFC may change

  bool apply(NormalText& text, std::string& out) const override {
    if (all_below(text.text, fixed_)) return false;
    check(text.text.size() < std::size_t{1} << 30, "Unicode normalisation", "a text of {} bytes is too long",
          text.text.size());
    UErrorCode status = U_ZERO_ERROR;
    if (normalizer_.isNormalizedUTF8(piece(text.text), status) != 0 && U_SUCCESS(status)) return false;
    status = U_ZERO_ERROR;
    icu::StringByteSink<std::string> sink(&out);
    normalizer_.normalizeUTF8(0, piece(text.text), sink, nullptr, status);
    if (U_FAILURE(status)) fail("Unicode normalisation", u_errorName(status));
    return true;
  }

 private:
  const icu::Normalizer2& normalizer_;
  std::uint8_t fixed_;  // a text of bytes below this never changes
};

// ---- Character by character

// Appends what map(c, out) writes for each character; map returns false to drop the character.
template <class Map>
void map_characters(NormalText& text, std::string& out, const Map& map) {
  for (std::size_t at = 0; at < text.text.size();) {
    const Character c = character_at(text.text, at);
    const bool kept = map(c.code, text.text.substr(at, c.length), out);
    if (at == 0 && !kept) text.at_start = false;
    at += c.length;
  }
}

void append_lower(std::string& out, char32_t c) {
  if (c == 0x130)  // the one character whose lower case is two characters
    out += "i\u0307";
  else
    append_utf8(out, static_cast<char32_t>(u_tolower(static_cast<UChar32>(c))));
}

class ToLowercase : public Normalizer {
 public:
  bool apply(NormalText& text, std::string& out) const override {
    const bool capitals = std::any_of(text.text.begin(), text.text.end(), [](char byte) {
      return (byte >= 'A' && byte <= 'Z') || (static_cast<std::uint8_t>(byte) & 0x80) != 0;
    });
    if (!capitals) return false;
    map_characters(text, out, [](char32_t c, std::string_view, std::string& to) {
      if (c < 0x80)
        to += static_cast<char>(c >= 'A' && c <= 'Z' ? c | 0x20 : c);
      else
        append_lower(to, c);
      return true;
    });
    return true;
  }
};

class WithoutAccents : public Normalizer {
 public:
  bool apply(NormalText& text, std::string& out) const override {
    if (all_below(text.text, 0xcc)) return false;
    map_characters(text, out, [this](char32_t c, std::string_view bytes, std::string& to) {
      if (kinds_(c) & kind_mark) return false;
      to += bytes;
      return true;
    });
    return true;
  }

 private:
  const CharacterKinds& kinds_ = CharacterKinds::table();
};

// SentencePiece's nmt rules for control characters and spaces.
class ToNmtText : public Normalizer {
 public:
  bool apply(NormalText& text, std::string& out) const override {
    map_characters(text, out, [](char32_t c, std::string_view bytes, std::string& to) {
      if (goes(c)) return false;
      to += is_space(c) ? std::string_view(" ") : bytes;
      return true;
    });
    return true;
  }

 private:
  static bool goes(char32_t c) {
    return (c >= 0x1 && c <= 0x8) || c == 0xb || (c >= 0xe && c <= 0x1f) || c == 0x7f || c == 0x8f || c == 0x9f;
  }
  static bool is_space(char32_t c) {
    return c == 0x9 || c == 0xa || c == 0xc || c == 0xd || c == 0x1680 || (c >= 0x200b && c <= 0x200f) || c == 0x2028 ||
           c == 0x2029 || c == 0x2581 || c == 0xfeff || c == 0xfffd;
  }
};

// BERT's cleaning: removes controls, makes spaces plain, isolates Chinese characters; then strips accents and lowers case.
class ToBertText : public Normalizer {
 public:
  explicit ToBertText(const BertText& how)
      : how_(how), strip_accents_(how.strip_accents.value_or(how.lowercase)), decompose_(UnicodeForm::nfd) {}

  bool apply(NormalText& text, std::string& out) const override {
    map_characters(text, out, [this](char32_t c, std::string_view bytes, std::string& to) {
      if (how_.clean_text && goes(c)) return false;
      if (how_.clean_text && is_space(c))
        to += ' ';
      else if (how_.handle_chinese_chars && is_chinese(c))
        to.append(" ").append(bytes).append(" ");
      else
        to += bytes;
      return true;
    });
    std::string other;
    NormalText now{out, text.at_start};
    if (strip_accents_ && !all_below(out, 0x80)) {
      if (!decompose_.apply(now, other)) other = out;
      out.clear();
      now.text = other;
      map_characters(now, out, [this](char32_t c, std::string_view bytes, std::string& to) {
        if (kinds_(c) & kind_nonspacing) return false;
        to += bytes;
        return true;
      });
      other.clear();
      now.text = out;
    }
    if (how_.lowercase && lower_.apply(now, other)) out.swap(other);
    text.at_start = now.at_start;
    return true;
  }

 private:
  static bool is_space(char32_t c) { return (CharacterKinds::table()(c) & kind_space) != 0; }
  static bool goes(char32_t c) {
    if (c == '\t' || c == '\n' || c == '\r') return false;
    if (c >= 0x20 && c < 0x7f) return false;
    if (c == 0xfffd) return true;
    UVersionInfo age{};
    u_charAge(static_cast<UChar32>(c), age);
    const std::uint32_t category = U_GET_GC_MASK(static_cast<UChar32>(c));
    return (category & (U_GC_CC_MASK | U_GC_CO_MASK)) != 0 || ((category & U_GC_CF_MASK) != 0 && age[0] <= 8);
  }
  // The CJK blocks without kana and Hangul.
  static bool is_chinese(char32_t c) {
    constexpr std::array<std::array<char32_t, 2>, 8> blocks = {{{0x4e00, 0x9fff},
                                                                {0x3400, 0x4dbf},
                                                                {0x20000, 0x2a6df},
                                                                {0x2a700, 0x2b73f},
                                                                {0x2b740, 0x2b81f},
                                                                {0x2b920, 0x2ceaf},
                                                                {0xf900, 0xfaff},
                                                                {0x2f800, 0x2fa1f}}};
    return c >= 0x3400 && std::any_of(blocks.begin(), blocks.end(), [c](auto b) { return c >= b[0] && c <= b[1]; });
  }

  BertText how_;
  bool strip_accents_;
  ToUnicodeForm decompose_;
  ToLowercase lower_;
  const CharacterKinds& kinds_ = CharacterKinds::table();
};

class ToByteLetters : public Normalizer {
 public:
  bool apply(NormalText& text, std::string& out) const override {
    for (char byte : text.text) append_utf8(out, byte_letters()[static_cast<std::uint8_t>(byte)]);
    return true;
  }
};

// ---- Of the whole text

class Stripped : public Normalizer {
 public:
  explicit Stripped(StripSpace ends) : ends_(ends) {}

  bool apply(NormalText& text, std::string&) const override {
    while (ends_.left && !text.text.empty()) {
      const Character c = character_at(text.text, 0);
      if (!(kinds_(c.code) & kind_space)) break;
      text.text.remove_prefix(c.length);
      text.at_start = false;
    }
    while (ends_.right && !text.text.empty()) {
      const std::size_t last = last_character(text.text, text.text.size());
      if (!(kinds_(character_at(text.text, last).code) & kind_space)) break;
      text.text = text.text.substr(0, last);
    }
    return false;
  }

 private:
  StripSpace ends_;
  const CharacterKinds& kinds_ = CharacterKinds::table();
};

class Prepended : public Normalizer {
 public:
  explicit Prepended(std::string text) : text_(std::move(text)) {}

  bool apply(NormalText& text, std::string& out) const override {
    if (text.text.empty()) return false;
    out.append(text_).append(text.text);
    return true;
  }

 private:
  std::string text_;
};

class Replaced : public Normalizer {
 public:
  Replaced(const ReplaceText& how, const std::string& where) : how_(how) {
    if (how.pattern.regex || how.pattern.text.empty()) regex_.emplace(how.pattern.text, where);
  }

  bool apply(NormalText& text, std::string& out) const override {
    std::size_t at = 0;
    const auto replace = [&](std::size_t begin, std::size_t end) {
      out.append(text.text.substr(at, begin - at)).append(how_.content);
      if (begin == 0 && end > 0)  // the new text inherits whether the last character was at the start
        text.at_start = text.at_start && !how_.content.empty() && character_at(text.text, 0).length == end;
      at = end;
    };
    if (regex_) {
      std::vector<std::pair<std::size_t, std::size_t>> matches;
      regex_->find_all(text.text, matches);
      if (matches.empty()) return false;
      for (auto match = matches.begin(); match != matches.end() && out.size() <= text.most; ++match)
        replace(match->first, match->second);
    } else {
      std::size_t found = text.text.find(how_.pattern.text);
      if (found == text.text.npos) return false;
      out.reserve(text.text.size() + text.text.size() / 2);
      for (; found != text.text.npos && out.size() <= text.most; found = text.text.find(how_.pattern.text, at))
        replace(found, found + how_.pattern.text.size());
    }
    out += text.text.substr(at);
    return true;
  }

 private:
  ReplaceText how_;
  std::optional<Regex> regex_;
};

// A grapheme cluster of at most 5 bytes becomes the mapping of its shortest mapped prefix, and the rest of it is lost;
// otherwise each character is mapped by itself.
class Mapped : public Normalizer {
 public:
  Mapped(std::string_view map, const std::string& where) : map_(map, where) {
    for (std::size_t c = 0; c < 128; ++c) {
      const char byte = static_cast<char>(c);
      plain_[c] = find({&byte, 1}) == nullptr;
    }
    plain_['\r'] = false;  // may form a cluster with \n
  }

  bool apply(NormalText& text, std::string& out) const override {
    const std::string_view s = text.text;
    out.reserve(s.size() + s.size() / 8);
    bool changed = false;
    for (std::size_t at = 0; at < s.size() && out.size() <= text.most;) {
      const std::size_t run = end_of_plain(s, at);
      out += s.substr(at, run - at);
      at = run;
      if (at == s.size()) break;
      const std::size_t end = end_of_grapheme(s, at);
      const char* whole = end - at < 6 ? find(s.substr(at, end - at)) : nullptr;
      if (whole) out += whole;
      for (std::size_t i = at; i < end && !whole;) {
        const std::string_view character = s.substr(i, character_at(s, i).length);
        const char* mapped = find(character);
        out += mapped ? std::string_view(mapped) : character;
        changed = changed || mapped;
        i += character.size();
      }
      changed = changed || whole;
      at = end;
    }
    return changed;
  }

 private:
  const char* find(std::string_view text) const { return map_.find(text, CharacterMap::Want::shortest).replacement; }

  // ASCII characters that do not change and have no mark after them.
  std::size_t end_of_plain(std::string_view s, std::size_t at) const {
    const auto byte = [&](std::size_t i) { return static_cast<std::uint8_t>(s[i]); };
    while (at < s.size() && byte(at) < 0x80 && plain_[byte(at)] && (at + 1 == s.size() || byte(at + 1) < 0x80)) ++at;
    return at;
  }

  CharacterMap map_;
  std::array<bool, 128> plain_{};
};

std::unique_ptr<const Normalizer> make_step(const NormalizerStep& step, const std::string& where) {
  struct Make {
    const std::string& where;
    std::unique_ptr<const Normalizer> operator()(const UnicodeForm& s) const {
      return std::make_unique<ToUnicodeForm>(s.form);
    }
    std::unique_ptr<const Normalizer> operator()(const Lowercase&) const { return std::make_unique<ToLowercase>(); }
    std::unique_ptr<const Normalizer> operator()(const StripSpace& s) const { return std::make_unique<Stripped>(s); }
    std::unique_ptr<const Normalizer> operator()(const StripAccents&) const {
      return std::make_unique<WithoutAccents>();
    }
    std::unique_ptr<const Normalizer> operator()(const ReplaceText& s) const {
      return std::make_unique<Replaced>(s, where);
    }
    std::unique_ptr<const Normalizer> operator()(const PrependText& s) const {
      return std::make_unique<Prepended>(s.text);
    }
    std::unique_ptr<const Normalizer> operator()(const PrecompiledMap& s) const {
      return std::make_unique<Mapped>(s.bytes, where);
    }
    std::unique_ptr<const Normalizer> operator()(const BertText& s) const { return std::make_unique<ToBertText>(s); }
    std::unique_ptr<const Normalizer> operator()(const NmtText&) const { return std::make_unique<ToNmtText>(); }
    std::unique_ptr<const Normalizer> operator()(const ByteLetters&) const { return std::make_unique<ToByteLetters>(); }
  };
  return std::visit(Make{where}, step);
}

}  // namespace

Normalizers::Normalizers(const std::vector<NormalizerStep>& steps, const std::string& where) : where_(where) {
  for (const NormalizerStep& step : steps) steps_.push_back(make_step(step, where));
}
Normalizers::Normalizers(Normalizers&&) noexcept = default;
Normalizers::~Normalizers() = default;

NormalText Normalizers::apply(NormalText text, NormalizerScratch& scratch) const {
  const std::size_t bytes = text.text.size();
  text.most = most_grown(bytes);
  std::string *out = &scratch.one, *other = &scratch.other;  // the text is in `other`, if in either
  for (const auto& step : steps_) {
    out->clear();
    if (!step->apply(text, *out)) continue;
    if (out->size() > text.most) refuse_growth(where_, "the normalizers", bytes);
    text.text = *out;
    std::swap(out, other);
  }
  return text;
}

}  // namespace tril
