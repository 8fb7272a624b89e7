#include "tokenizer/pipeline/added_tokens.h"

namespace tril {

AddedTokens::AddedTokens(std::vector<AddedToken> tokens, const std::vector<std::string>& spellings)
    : tokens_(std::move(tokens)) {
  std::vector<std::pair<std::string_view, std::int32_t>> strings;
  for (std::size_t i = 0; i < tokens_.size(); ++i) {
    if (spellings[i].empty()) continue;
    strings.emplace_back(spellings[i], static_cast<std::int32_t>(i));
    starts_[static_cast<std::uint8_t>(spellings[i].front())] = true;
  }
  tree_ = PrefixTree(std::move(strings));
}

bool AddedTokens::stands_alone(std::string_view text, std::size_t begin, std::size_t end) {
  const CharacterKinds& kinds = CharacterKinds::table();
  const auto is_word = [&](std::size_t at) { return (kinds(character_at(text, at).code) & kind_word) != 0; };
  return (begin == 0 || !is_word(last_character(text, begin))) && (end == text.size() || !is_word(end));
}

std::size_t AddedTokens::space_before(std::string_view text, std::size_t begin) {
  const CharacterKinds& kinds = CharacterKinds::table();
  while (begin > 0) {
    const std::size_t last = last_character(text, begin);
    if (!(kinds(character_at(text, last).code) & kind_space)) break;
    begin = last;
  }
  return begin;
}

std::size_t AddedTokens::space_behind(std::string_view text, std::size_t end) {
  const CharacterKinds& kinds = CharacterKinds::table();
  while (end < text.size()) {
    const Character c = character_at(text, end);
    if (!(kinds(c.code) & kind_space)) break;
    end += c.length;
  }
  return end;
}

}  // namespace tril
