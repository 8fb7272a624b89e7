// A vocabulary without rules that split texts: pieces and their ids, as the directories of CTranslate2 hold them. Its users split
// texts themselves.
#pragma once

#include <array>
#include <string>
#include <unordered_map>
#include <vector>

#include "tokenizer/files/tokenizer.h"

namespace tril::python {

/// The pieces of one side in the order of their ids, and its special ids.
struct Pieces {
  std::vector<std::string> list;
  SpecialIds special;
};

class PieceTokenizer : public Tokenizer {
 public:
  PieceTokenizer(Pieces source, Pieces target);

  using Tokenizer::decode;
  using Tokenizer::encode;
  /// @throws Error(usage): there are no rules that split texts
  void encode(std::string_view text, Side side, std::vector<std::int32_t>& ids) const override;
  /// The pieces with spaces between them.
  std::string decode(std::span<const std::int32_t> ids, Side side) const override;
  const std::string& piece(std::int32_t id, Side side) const override;
  std::optional<std::int32_t> find(std::string_view piece, Side side) const override;
  std::int32_t size(Side side) const override { return static_cast<std::int32_t>(of(side).list.size()); }
  const SpecialIds& special(Side side) const override { return of(side).special; }
  bool shared_vocabulary() const override { return sides_[0].list == sides_[1].list; }
  std::int32_t model_max_length() const override { return 1'000'000'000; }
  std::vector<TokenizerFile> files() const override { return {}; }

 private:
  const Pieces& of(Side side) const { return sides_.at(side == Side::target ? 1 : 0); }

  std::array<Pieces, 2> sides_;
  std::array<std::unordered_map<std::string, std::int32_t>, 2> ids_;
};

}  // namespace tril::python
