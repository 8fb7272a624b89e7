#include "document/segments/document.h"

#include <algorithm>
#include <stdexcept>

#include "base/error.h"
#include "base/utf8.h"
#include "unicode/characters.h"

namespace tril::document {

std::string escape_each(std::string_view text, const Slot& slot, const WriteCharacter& write) {
  std::string s;
  for (std::size_t at = 0; at < text.size();) {
    const std::string_view rest = text.substr(at), character = rest.substr(0, character_at(text, at).length);
    const auto spelled = slot.spelling.find(std::string(character));
    s += spelled != slot.spelling.end() ? spelled->second : write(character, rest);
    at += character.size();
  }
  return s;
}

void TextDocument::add(Slot slot, Segment segment) {
  slots_.push_back(std::move(slot));
  segments_.push_back(std::move(segment));
}

void TextDocument::replace(Range at, std::string bytes) {
  if (!replaced_.empty() && at.begin < replaced_.back().first.end)
    throw std::logic_error("replaced places of a document are out of order");
  replaced_.emplace_back(at, std::move(bytes));
}

// Appends bytes of the file to `out`, with what replaces some of them.
void TextDocument::copy(Range at, std::string& out) const {
  const auto before = [](const auto& r, std::size_t place) { return r.first.begin < place; };
  for (auto r = std::lower_bound(replaced_.begin(), replaced_.end(), at.begin, before);
       r != replaced_.end() && r->first.end <= at.end; ++r) {
    out.append(bytes_, at.begin, r->first.begin - at.begin);
    out += r->second;
    at.begin = r->first.end;
  }
  out.append(bytes_, at.begin, at.size());
}

std::string TextDocument::write(std::span<const Segment> translated) const {
  std::string out;
  std::size_t done = 0;
  for (std::size_t s = 0; s < slots_.size(); ++s) {
    const Slot& slot = slots_[s];
    if (translated[s] == segments_[s] && !slot.always) continue;
    if (slot.without) {
      copy({done, slot.without->begin}, out);
      done = slot.without->end;
    }
    copy({done, slot.at.begin}, out);
    std::string text = rendered(translated[s], [&](std::string_view part) {
      return slot.escape ? slot.escape(part, slot) : std::string(part);
    });
    out += slot.finish ? slot.finish(std::move(text)) : text;
    done = slot.at.end;
  }
  copy({done, bytes_.size()}, out);
  return out;
}

void check_encoding(std::string_view bytes, const std::string& where) {
  for (const auto& [mark, name] : {std::pair{"\xff\xfe", "UTF-16"}, {"\xfe\xff", "UTF-16"}})
    if (bytes.starts_with(mark)) fail(where, fmt::format("is {}, expected UTF-8", name), "save it as UTF-8");
  // The first characters of a text file are ASCII: marks of its format, or white space.
  if (const auto is_zero = [&](std::size_t at) { return at < bytes.size() && bytes[at] == 0; };
      is_zero(0) != is_zero(1) && is_zero(2) == is_zero(0) && is_zero(3) == is_zero(1))
    fail(where, "is UTF-16 without a byte order mark, expected UTF-8", "save it as UTF-8");
  if (const auto fault = find_utf8_fault(bytes))
    fail(where, fmt::format("byte {} (0x{:02x}) is not UTF-8", fault->offset, fault->byte), "save it as UTF-8");
}

}  // namespace tril::document
