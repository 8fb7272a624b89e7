// Word alignment of a sentence and its translation, as bytes of both texts.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "document/segments/segment.h"

namespace tril::document {

/// A part of the source and a part of the translation that correspond.
struct Link {
  Range source, target;
  float weight = 1;  ///< positive; higher is more certain
};

/// A translated sentence. If it has no links, guessed_links() supplies them.
struct Translated {
  std::string text;
  std::vector<Link> links = {};
};

/// Links for a translation without any: equal words correspond, and the others by their relative position.
std::vector<Link> guessed_links(std::string_view source, std::string_view target);

}  // namespace tril::document
