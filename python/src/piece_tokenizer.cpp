#include "piece_tokenizer.h"

#include <utility>

#include "base/error.h"

namespace tril::python {

PieceTokenizer::PieceTokenizer(Pieces source, Pieces target) : sides_{std::move(source), std::move(target)} {
  for (std::size_t side = 0; side < 2; ++side)
    for (const std::string& piece : sides_[side].list)
      ids_[side].emplace(piece, static_cast<std::int32_t>(ids_[side].size()));
}

void PieceTokenizer::encode(std::string_view, Side, std::vector<std::int32_t>&) const {
  fail_usage("text", "the model has no files that say how texts are split", "pass tokens");
}

std::string PieceTokenizer::decode(std::span<const std::int32_t> ids, Side side) const {
  std::string text;
  for (const std::int32_t id : ids) text += (text.empty() ? "" : " ") + piece(id, side);
  return text;
}

const std::string& PieceTokenizer::piece(std::int32_t id, Side side) const {
  check(id >= 0 && id < size(side), "ids", "{} is not in the vocabulary", id);
  return of(side).list[static_cast<std::size_t>(id)];
}

std::optional<std::int32_t> PieceTokenizer::find(std::string_view piece, Side side) const {
  const auto& ids = ids_.at(side == Side::target ? 1 : 0);
  const auto found = ids.find(std::string(piece));
  return found == ids.end() ? std::nullopt : std::optional(found->second);
}

}  // namespace tril::python
