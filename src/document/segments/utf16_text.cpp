#include "document/segments/utf16_text.h"

#include <algorithm>
#include <cstdint>

#include "base/error.h"
#include "unicode/characters.h"

namespace tril::document {
namespace {

bool is_little_endian(std::string_view bytes) {
  return bytes.starts_with("\xff\xfe");
}

std::uint32_t unit_at(std::string_view bytes, std::size_t at, bool little) {
  if (at + 2 > bytes.size()) return 0;
  const auto first = static_cast<unsigned char>(bytes[at]), second = static_cast<unsigned char>(bytes[at + 1]);
  return little ? first + 256u * second : second + 256u * first;
}

std::string utf8_of(std::string_view bytes, const std::string& where) {
  const bool little = is_little_endian(bytes);
  if (little && bytes.substr(2).starts_with(std::string_view("\0\0", 2)))
    fail(where, "is UTF-32, expected UTF-8 or UTF-16", "save it as UTF-8");
  std::string text;
  for (std::size_t at = 2; at < bytes.size(); at += 2) {
    std::uint32_t code = unit_at(bytes, at, little);
    if (code >= 0xd800 && code < 0xdc00) {
      const std::uint32_t low = unit_at(bytes, at + 2, little);
      if (low >= 0xdc00 && low < 0xe000) code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00), at += 2;
    }
    if (at + 2 > bytes.size() || (code >= 0xd800 && code < 0xe000))
      fail(where, fmt::format("byte {} is not UTF-16", at), "save it as UTF-8");
    append_utf8(text, static_cast<char32_t>(code));
  }
  return text;
}

std::string utf16_of(std::string_view text, bool little) {
  std::string bytes;
  const auto put = [&](std::uint32_t unit) {
    const char low = static_cast<char>(unit & 0xff), high = static_cast<char>(unit >> 8);
    bytes += little ? low : high;
    bytes += little ? high : low;
  };
  put(0xfeff);
  for (std::size_t at = 0; at < text.size();) {
    const Character c = character_at(text, at);
    const std::uint32_t code = c.code == Character::not_utf8 ? 0xfffd : static_cast<std::uint32_t>(c.code);
    if (code >= 0x10000) {
      put(0xd800 + ((code - 0x10000) >> 10));
      put(0xdc00 + ((code - 0x10000) & 0x3ff));
    } else {
      put(code);
    }
    at += c.length;
  }
  return bytes;
}

class Utf16Document final : public Document {
 public:
  Utf16Document(std::unique_ptr<Document> text, const std::string& bytes)
      : text_(std::move(text)), little_(is_little_endian(bytes)) {
    segments_ = text_->segments();
  }
  std::string write(std::span<const Segment> translated) const override {
    return utf16_of(text_->write(translated), little_);
  }

 private:
  std::unique_ptr<Document> text_;
  bool little_;
};

}  // namespace

bool is_utf16(std::string_view bytes) {
  return is_little_endian(bytes) || bytes.starts_with("\xfe\xff");
}

std::unique_ptr<Document> read_utf16(const std::string& bytes, const std::string& where,
                                     const std::function<std::unique_ptr<Document>(std::string text)>& read) {
  return std::make_unique<Utf16Document>(read(utf8_of(bytes, where)), bytes);
}

}  // namespace tril::document
