// A SentencePiece model's map of characters, checked before the library uses it: the library follows its jumps and
// reads the strings it points to without looking at the sizes, so a damaged map would read outside it.
#pragma once

#include <string>
#include <string_view>

namespace tril {

/// What is wrong with the maps in the SentencePiece model `bytes` (normalizer_spec and denormalizer_spec, each with a
/// precompiled_charsmap: the size of a double-array trie in 4 bytes, its units of 4 bytes, then strings that end in
/// NUL); "" where all are sound or there is none.
std::string character_map_fault(std::string_view bytes);

}  // namespace tril
