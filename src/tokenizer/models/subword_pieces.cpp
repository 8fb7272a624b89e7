#include "tokenizer/models/subword_pieces.h"

#include <algorithm>

#include "base/error.h"
#include "format/sentencepiece_file.h"

namespace tril {

namespace {

bool no_space_behind_start(std::string_view piece) {
  return piece.find(space_mark, 1) == std::string_view::npos;
}
bool no_space_before_end(std::string_view piece) {
  const std::size_t at = piece.find(space_mark);
  return at == std::string_view::npos || at + space_mark.size() == piece.size();
}

}  // namespace

std::size_t character_length(std::string_view text) {
  const auto byte = static_cast<unsigned char>(text.front());
  const std::size_t length = byte < 0x80 ? 1 : byte < 0xe0 ? 2 : byte < 0xf0 ? 3 : 4;
  return std::min(length, text.size());
}

SubwordPieces::SubwordPieces(const SentencePieceFile& model) {
  bool spaces_first = true, spaces_last = true;
  for (std::size_t i = 0; i < model.pieces.size(); ++i) {
    const SentencePieceEntry& p = model.pieces[i];
    if (p.type == PieceType::unused)
      fail_usage("subword sampling", fmt::format("piece \"{}\" of the vocabulary is marked as unused", p.text),
                 "use a vocabulary that was not restricted");
    if (p.type != PieceType::normal && p.type != PieceType::user_defined) continue;
    pieces_.emplace(p.text, Piece{p.score, static_cast<std::int32_t>(i)});
    lowest_score_ = std::min(lowest_score_, p.score);
    longest_ = std::max(longest_, p.text.size());
    spaces_first = spaces_first && no_space_behind_start(p.text);
    spaces_last = spaces_last && no_space_before_end(p.text);
    if (p.type != PieceType::user_defined) continue;
    frozen_.push_back(p.text);
    frozen_start_[static_cast<unsigned char>(p.text.front())] = true;
  }
  std::sort(frozen_.begin(), frozen_.end(), [](const auto& a, const auto& b) { return a.size() > b.size(); });
  boundary_ = spaces_first ? Boundary::before_space : spaces_last ? Boundary::behind_space : Boundary::none;
}

const SubwordPieces::Piece* SubwordPieces::find(std::string_view text) const {
  const auto found = pieces_.find(text);
  return found == pieces_.end() ? nullptr : &found->second;
}

std::size_t SubwordPieces::frozen_prefix(std::string_view text) const {
  if (!frozen_start_[static_cast<unsigned char>(text.front())]) return 0;
  for (const std::string& piece : frozen_)
    if (text.starts_with(piece)) return piece.size();
  return 0;
}

std::size_t SubwordPieces::word_end(std::string_view text) const {
  switch (boundary_) {
    case Boundary::before_space:
      return std::min(text.find(space_mark, 1), text.size());
    case Boundary::behind_space: {
      const std::size_t at = text.find(space_mark);
      return at == std::string_view::npos ? text.size() : at + space_mark.size();
    }
    case Boundary::none:
      break;
  }
  return text.size();
}

}  // namespace tril
