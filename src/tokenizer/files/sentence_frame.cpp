#include "tokenizer/files/sentence_frame.h"

#include <algorithm>

namespace tril {

TextFrame sentence_frame(const Tokenizer& tokenizer, Side side, std::string_view language) {
  TextFrame frame = tokenizer.frame(side, language);
  const std::int32_t eos = tokenizer.special(side).eos;
  if (eos < 0) return frame;
  const auto end = std::find(frame.suffix.begin(), frame.suffix.end(), eos);
  if (end == frame.suffix.end())
    frame.suffix.push_back(eos);
  else if (side == Side::target)
    frame.suffix.erase(end + 1, frame.suffix.end());
  return frame;
}

bool put_into_frame(std::vector<std::int32_t>& ids, const TextFrame& frame, std::size_t most) {
  const std::size_t around = frame.prefix.size() + frame.suffix.size();
  const bool cut = most > 0 && ids.size() + around > most;
  if (cut) ids.resize(most > around ? most - around : 0);
  ids.insert(ids.begin(), frame.prefix.begin(), frame.prefix.end());
  ids.insert(ids.end(), frame.suffix.begin(), frame.suffix.end());
  return cut;
}

std::vector<std::int32_t> sentence_ids(const Tokenizer& tokenizer, std::string_view text, Side side,
                                       std::string_view language) {
  std::vector<std::int32_t> ids;
  tokenizer.encode(text, side, ids);
  put_into_frame(ids, sentence_frame(tokenizer, side, language));
  return ids;
}

}  // namespace tril
