// The complement of a pattern by Rabin and Scott's subset construction [1959]: sets of states become the states of a
// deterministic automaton, whose states without the end become the ends.
#pragma once

#include "grammar/expressions/pattern.h"

namespace tril::search {

/// @throws Unsupported if that takes too many states
Pattern complement(const Pattern& pattern);

}  // namespace tril::search
