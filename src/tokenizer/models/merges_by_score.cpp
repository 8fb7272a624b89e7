#include "tokenizer/models/merges_by_score.h"

#include <algorithm>
#include <string_view>
#include <unordered_set>

#include "base/error.h"
#include "format/sentencepiece_file.h"

namespace tril {
namespace {

std::vector<std::pair<std::string, std::string>> merges_of(const SentencePieceFile& model) {
  std::unordered_set<std::string_view> known;
  std::vector<const SentencePieceEntry*> order;
  for (const SentencePieceEntry& p : model.pieces)
    if (p.type == PieceType::normal && known.insert(p.text).second) order.push_back(&p);
  std::stable_sort(order.begin(), order.end(), [](const auto* a, const auto* b) { return a->score > b->score; });
  std::vector<std::pair<std::string, std::string>> merges;
  for (const SentencePieceEntry* p : order) {
    const std::string_view piece = p->text;
    for (std::size_t at = 1; at < piece.size(); ++at)
      if (known.contains(piece.substr(0, at)) && known.contains(piece.substr(at)))
        merges.emplace_back(piece.substr(0, at), piece.substr(at));
  }
  return merges;
}

}  // namespace

bool only_marks_spaces(const SentencePieceFile& model) {
  return model.character_map.empty() && !model.remove_extra_whitespaces && model.escape_whitespaces &&
         !model.whitespace_as_suffix;
}

TokenizerParts with_merges(const TokenizerParts& parts) {
  const auto& model = std::get<SentencePieceParts>(parts.model);
  if (model.file.algorithm != SubwordAlgorithm::bpe || !only_marks_spaces(model.file))
    fail_usage("tokenizer.json", "this SentencePiece model cannot be written in that format", "keep its own file");
  BpeParts bpe;
  bpe.merges = merges_of(model.file);
  bpe.byte_fallback = model.file.byte_fallback;
  bpe.fuse_unk = true;
  for (std::size_t i = 0; i < model.file.pieces.size(); ++i) {
    const SentencePieceEntry& p = model.file.pieces[i];
    if (p.type == PieceType::unknown) bpe.unk_token = p.text;
    bpe.vocab.emplace_back(p.text, model.id_of.empty() ? static_cast<std::int32_t>(i) : model.id_of[i]);
  }
  TokenizerParts same = parts;
  same.model = std::move(bpe);
  const bool in_front = model.file.add_dummy_prefix;
  const std::string mark(space_mark);
  if (in_front) same.normalizers.push_back(PrependText{mark});
  same.normalizers.push_back(ReplaceText{TextPattern{" ", false}, mark});
  same.decoders = {ReplaceText{TextPattern{mark, false}, " "}, DecodeByteFallback{}, FusePieces{}};
  if (in_front) same.decoders.push_back(StripPiece{.character = " ", .start = 1});
  return same;
}

}  // namespace tril
