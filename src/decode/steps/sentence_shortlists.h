// The vocabulary shortlist of each sentence of a batch (shortlist.h).
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "decode/steps/shortlist.h"

namespace tril::search {

class SentenceShortlists {
 public:
  /// @param list  null: the whole vocabulary
  void set(std::int32_t sentence, IdList list) {
    if (sentence >= std::ssize(of_)) of_.resize(sentence + 1);
    of_[sentence] = std::move(list);
  }
  /// Null: the whole vocabulary.
  IdList of(std::int32_t sentence) const { return sentence < std::ssize(of_) ? of_[sentence] : nullptr; }

 private:
  std::vector<IdList> of_;
};

}  // namespace tril::search
