#include "tokenizer/pipeline/sentencepiece_normalizer.h"

#include "unicode/characters.h"

namespace tril {

SentencePieceNormalizer::SentencePieceNormalizer(const SentencePieceFile& file, const std::string& where)
    : map_(file.character_map, where),
      frozen_(tree_of_pieces(file, [](PieceType t) { return t == PieceType::user_defined; })),
      space_(file.escape_whitespaces ? space_mark : " "),
      dummy_(file.add_dummy_prefix),
      behind_(file.whitespace_as_suffix),
      one_space_(file.remove_extra_whitespaces) {
  for (std::size_t c = 0; c < 128; ++c) {
    const char byte = static_cast<char>(c);
    plain_[c] = byte != ' ' && map_.find({&byte, 1}, CharacterMap::Want::longest).bytes == 0 &&
                !frozen_.may_begin(static_cast<std::uint8_t>(c));
  }
}

void SentencePieceNormalizer::apply(std::string_view text, std::string& out) const {
  out.clear();
  Next next;
  while (one_space_ && !text.empty() && (next = take(text), next.text == " ")) text.remove_prefix(next.bytes);
  if (text.empty()) return;
  if (dummy_ && !behind_) out += space_;
  bool after_space = one_space_;
  while (!text.empty()) {
    if (const std::size_t run = plain_run(text)) {
      out += text.substr(0, run);
      text.remove_prefix(run);
      after_space = false;
      continue;
    }
    next = take(text);
    while (after_space && next.text.starts_with(' ')) next.text.remove_prefix(1);
    for (char byte : next.text)
      if (byte == ' ')
        out += space_;
      else
        out += byte;
    if (!next.text.empty()) after_space = one_space_ && next.text.ends_with(' ');
    text.remove_prefix(next.bytes);
  }
  while (one_space_ && out.ends_with(space_)) out.resize(out.size() - space_.size());
  if (dummy_ && behind_) out += space_;
}

// The length of a run of ASCII characters that do not change and begin no longer mapping.
std::size_t SentencePieceNormalizer::plain_run(std::string_view text) const {
  std::size_t n = 0;
  const auto byte = [&](std::size_t i) { return static_cast<std::uint8_t>(text[i]); };
  while (n < text.size() && byte(n) < 0x80 && plain_[byte(n)] && (n + 1 == text.size() || byte(n + 1) < 0x80)) ++n;
  return n;
}

SentencePieceNormalizer::Next SentencePieceNormalizer::take(std::string_view text) const {
  if (const auto match = frozen_.longest_prefix(text); match.bytes > 0)
    return {text.substr(0, match.bytes), match.bytes};
  if (const auto match = map_.find(text, CharacterMap::Want::longest); match.bytes > 0)
    return {match.replacement, match.bytes};
  const Character c = character_at(text, 0);
  if (c.code == Character::not_utf8) return {"\ufffd", 1};
  return {text.substr(0, c.length), c.length};
}

}  // namespace tril
