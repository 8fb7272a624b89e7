// The chapters of the course, docs/learn/ and docs/learn/zh/.
#pragma once

#include <vector>

#include "learn/language.h"

namespace tril::learn {

struct Chapter {
  int number = 0;
  std::string_view file;  ///< in docs/learn/ and docs/learn/zh/
  Text title, question;
};

/// All of them, in order.
const std::vector<Chapter>& chapters();

/// @throws Error(usage) if there is no such chapter
const Chapter& chapter(int number);

}  // namespace tril::learn
