#include "document/document.h"

#include "base/error.h"
#include "base/utf8.h"

namespace tril::document {

void TextDocument::add(Slot slot, Segment segment) {
  slots_.push_back(std::move(slot));
  segments_.push_back(std::move(segment));
}

std::string TextDocument::write(std::span<const Segment> translated) const {
  std::string out;
  std::size_t done = 0;
  for (std::size_t s = 0; s < slots_.size(); ++s) {
    const Slot& slot = slots_[s];
    if (translated[s] == segments_[s] && !slot.always) continue;
    if (slot.without) {
      out.append(bytes_, done, slot.without->begin - done);
      done = slot.without->end;
    }
    out.append(bytes_, done, slot.at.begin - done);
    out += rendered(translated[s],
                    [&](std::string_view text) { return slot.escape ? slot.escape(text, slot) : std::string(text); });
    done = slot.at.end;
  }
  return out.append(bytes_, done);
}

void check_encoding(std::string_view bytes, const std::string& where) {
  for (const auto& [mark, name] : {std::pair{"\xff\xfe", "UTF-16"}, {"\xfe\xff", "UTF-16"}})
    if (bytes.starts_with(mark)) fail(where, fmt::format("is {}, expected UTF-8", name), "save it as UTF-8");
  if (const auto fault = find_utf8_fault(bytes))
    fail(where, fmt::format("byte {} (0x{:02x}) is not UTF-8", fault->offset, fault->byte), "save it as UTF-8");
}

}  // namespace tril::document
