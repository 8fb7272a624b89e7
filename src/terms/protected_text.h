// The parts of a text that are not words of its language: addresses, placeholders of programs, tags. No term is found
// in them.
#pragma once

#include <string_view>
#include <vector>

#include "document/segments/segment.h"

namespace tril::terms {

/// Ranges in bytes, in order and apart from each other:
///   addresses      https://example.org/a?b=c, www.example.org, name@example.org; without the punctuation behind them
///   placeholders   as in document/segments/string_tokens.h: %s, %(name)s, {name}, ${name}, whole ICU messages
///   tags           <b>, </b>, <x id="1"/>
std::vector<document::Range> protected_ranges(std::string_view text);

}  // namespace tril::terms
