#include "tokenizer/files/token_bytes.h"

#include <algorithm>
#include <array>
#include <unordered_map>

#include "tokenizer/files/gpt2_tokenizer.h"

namespace tril {
namespace {

constexpr std::string_view replacement = "\xef\xbf\xbd";

// "<0xE2>"
bool is_byte_piece(const std::string& piece) {
  return piece.size() == 6 && piece.starts_with("<0x") && piece[5] == '>' &&
         piece.find_first_not_of("0123456789abcdefABCDEF", 3) == 5;
}

// The bytes of a piece in GPT-2's letters; "" if it has other characters.
std::string bytes_of_letters(const std::string& piece) {
  static const std::unordered_map<std::string, char> bytes = [] {
    std::unordered_map<std::string, char> map;
    for (int b = 0; b < 256; ++b) map[gpt2_letters(std::string(1, static_cast<char>(b)))] = static_cast<char>(b);
    return map;
  }();
  std::string out;
  for (std::size_t i = 0; i < piece.size();) {
    const auto lead = static_cast<unsigned char>(piece[i]);
    const std::size_t n = lead < 0x80 ? 1 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
    const auto byte = bytes.find(piece.substr(i, n));
    if (byte == bytes.end()) return "";
    out += byte->second;
    i += n;
  }
  return out;
}

bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

// A token that decodes to a letter, or else to a word: after it, the decoder shows all that another token adds; -1:
// there is none.
std::int32_t anchor_of(const Tokenizer& tokenizer, Side side) {
  std::int32_t word = -1;
  for (std::int32_t id = 0; id < tokenizer.size(side); ++id) {
    const std::string text = tokenizer.decode({&id, 1}, side);
    if (text.empty() || !std::all_of(text.begin(), text.end(), is_letter)) continue;
    if (text.size() == 1) return id;
    if (word < 0) word = id;
  }
  return word;
}

}  // namespace

TokenTexts::TokenTexts(const Tokenizer& tokenizer, Side side)
    : tokenizer_(&tokenizer), side_(side), anchor_(anchor_of(tokenizer, side)) {
  if (anchor_ >= 0) before_ = tokenizer.decode({&anchor_, 1}, side);
}

std::string TokenTexts::of(std::int32_t id) const {
  const std::array both{anchor_, id};
  std::string text = anchor_ < 0 ? tokenizer_->decode({&id, 1}, side_) : tokenizer_->decode(both, side_);
  text = text.starts_with(before_) ? text.substr(before_.size()) : tokenizer_->decode({&id, 1}, side_);
  if (text.find(replacement) == std::string::npos) return text;
  const std::string& piece = tokenizer_->piece(id, side_);
  if (is_byte_piece(piece)) return std::string(1, static_cast<char>(std::stoi(piece.substr(3, 2), nullptr, 16)));
  const std::string bytes = bytes_of_letters(piece);
  return bytes.empty() ? text : bytes;
}

std::vector<std::string> token_bytes(const Tokenizer& tokenizer, Side side) {
  const TokenTexts texts(tokenizer, side);
  std::vector<std::string> list;
  for (std::int32_t id = 0; id < tokenizer.size(side); ++id) list.push_back(texts.of(id));
  return list;
}

}  // namespace tril
