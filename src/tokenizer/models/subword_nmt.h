// Byte-pair encoding as subword-nmt applies it [Sennrich et al. 2016, "Neural Machine Translation of Rare Words with Subword
// Units", section 3.2].
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "tokenizer/models/merge_table.h"

namespace tril {

class SubwordNmt {
 public:
  /// Reads a file of codes: a line "#version: 0.2" or none, which means 0.1, then one merge "A B" for each line, the most frequent
  /// first; empty lines at the end have no meaning. The end of a word is "</w>".
  /// @throws Error naming the line that is wrong
  static SubwordNmt parse(std::string_view codes, const std::string& where);

  /// Appends the pieces of a word without spaces. Each piece but the last ends in "@@".
  void split(std::string_view word, std::vector<std::string>& pieces) const;
  /// The text of words that `pieces` are: they are joined by spaces, and "@@ " is removed, as is a final "@@".
  static std::string join(const std::vector<std::string>& pieces);

  const std::string& codes() const { return codes_; }  ///< the file

 private:
  std::string codes_;
  bool end_is_a_symbol_ = false;  // version 0.1: the end of a word is a symbol of its own before the merges
  std::unordered_map<std::string, std::int32_t> symbols_;  // ids of the symbols in merges
  MergeTable merges_{0};
};

}  // namespace tril
