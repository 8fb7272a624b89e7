#include "document/xml/xml_string.h"

#include <memory>
#include <vector>

#include "document/segments/character_references.h"
#include "document/segments/words.h"

namespace tril::document {
namespace {

constexpr std::string_view unread = "\ufffc";  // in place of a character that stays

// A part of a string as it is meant, with the bytes of the file for each of its characters.
class MeantString {
 public:
  MeantString(std::string_view bytes, Range at, const ReadCharacter& read) {
    for (std::size_t place = at.begin; place < at.end;) {
      auto known = read(bytes.substr(place, at.end - place));
      const std::size_t size = known ? known->bytes : 1;
      if (known) {
        if (known->kind == FileCharacter::point) known->text = unread;
        specials_.push_back({text_.size(), {place, place + size}, known->kind, known->text});
        text_ += known->text;
      } else {
        text_ += bytes[place];
      }
      places_.resize(text_.size(), place);
      place += size;
    }
    places_.push_back(at.end);
  }

  const std::string& text() const { return text_; }
  Range raw(Range meant) const { return {places_[meant.begin], places_[meant.end]}; }

  /// Adds words, which come in order. @param in_quotes  changed at each quote
  void add_words(SegmentBuilder& builder, Range meant, bool& in_quotes) {
    std::size_t done = meant.begin;
    const auto plain = [&](std::size_t end) {
      if (done < end) builder.plain(raw({done, end}));
    };
    while (next_ < specials_.size() && specials_[next_].at < meant.begin) ++next_;  // those within marks
    for (; next_ < specials_.size() && specials_[next_].at < meant.end; ++next_) {
      const Special& s = specials_[next_];
      plain(s.at);
      done = s.at + s.text.size();
      if (s.kind == FileCharacter::point) {
        builder.point(s.raw);
      } else if (s.kind == FileCharacter::quote) {
        in_quotes ? builder.close(s.raw, "\"") : builder.open(s.raw, "\"");
        in_quotes = !in_quotes;
      } else {
        builder.character(s.raw, s.text, s.kind == FileCharacter::spelled && !is_blank_character(s.text));
      }
    }
    plain(meant.end);
  }

 private:
  struct Special {
    std::size_t at;  ///< in the text
    Range raw;
    FileCharacter::Kind kind;
    std::string text;
  };
  // Else all blanks of the translation would be written as one of the source is.
  static bool is_blank_character(std::string_view text) { return text == " "; }

  std::string text_;
  std::vector<std::size_t> places_;  ///< for each byte of the text, and its end: the place in the file
  std::vector<Special> specials_;
  std::size_t next_ = 0;
};

void add_tag(SegmentBuilder& builder, const HtmlTag& tag, Range raw) {
  const std::string name = "<" + tag.name;  // not that of an element of the file
  if (tag.name.empty() || tag.alone || is_void_element(tag.name)) return builder.point(raw);
  tag.closing ? builder.close(raw, name) : builder.open(raw, name);
}

}  // namespace

std::optional<FileCharacter> reference_at(std::string_view rest) {
  if (!rest.starts_with('&')) return std::nullopt;
  if (auto known = character_reference(rest))
    return FileCharacter{.kind = FileCharacter::spelled, .text = std::move(known->text), .bytes = known->bytes};
  const std::size_t other = other_reference(rest);
  return other == 0 ? std::nullopt
                    : std::optional(FileCharacter{.kind = FileCharacter::point, .text = {}, .bytes = other});
}

AddWords string_words(ReadCharacter read, ShortcutKeys shortcuts) {
  // The two marks of a quotation may stand on different sides of an element.
  return [read = std::move(read), shortcuts, in_quotes = std::make_shared<bool>(false)](
             SegmentBuilder& builder, std::string_view bytes, Range at) {
    MeantString string(bytes, at, read);
    for (const StringToken& token : string_tokens(string.text(), shortcuts)) {
      const Range raw = string.raw(token.at);
      if (token.kind == StringToken::words || builder.is_full())
        string.add_words(builder, token.at, *in_quotes);
      else if (token.kind == StringToken::placeholder)
        builder.fixed(raw, std::string_view(string.text()).substr(token.at.begin, token.at.size()), true);
      else if (token.kind == StringToken::tag)
        add_tag(builder, token.html, raw);
      else
        builder.shortcut(raw);
    }
  };
}

std::string escape_cdata(std::string_view text, const Slot&) {
  constexpr std::string_view end = "]]>";
  std::string s;
  for (std::size_t at = 0; at < text.size();) {
    const bool is_end = text.substr(at).starts_with(end);
    const char c = text[at];
    if (is_end)
      s += "]]]]><![CDATA[>";
    else
      s += static_cast<unsigned char>(c) < 0x20 && c != '\t' && c != '\n' && c != '\r' ? ' ' : c;
    at += is_end ? end.size() : 1;
  }
  return s;
}

XmlTextStyle xml_string_style(XmlRoleOf role_of) {
  const auto none = [](std::string_view) -> std::optional<FileCharacter> { return std::nullopt; };
  return {.role_of = role_of,
          .keeps_space = true,
          .words = string_words(&reference_at, ShortcutKeys::possible),
          .cdata_words = string_words(none, ShortcutKeys::possible),
          .cdata_escape = &escape_cdata};
}

void add_segments(TextDocument& document, std::vector<SlottedSegment> segments) {
  for (SlottedSegment& s : segments) document.add(std::move(s.slot), std::move(s.segment));
}

}  // namespace tril::document
