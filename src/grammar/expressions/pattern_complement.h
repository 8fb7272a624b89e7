// What a pattern does not allow: Rabin and Scott's sets of states [1959], each of which is a state that a text comes to for
// sure; those without the end become the ends.
#pragma once

#include "grammar/expressions/pattern.h"

namespace tril::search {

/// @throws Unsupported where that takes too many states
Pattern complement(const Pattern& pattern);

}  // namespace tril::search
