// Word alignment between a source and its translation.
#pragma once

#include <tril/namespace.h>

#include <cstdint>

TRIL_NAMESPACE_BEGIN
/// A token of the source and a token of the translation that correspond, counted from 0.
struct AlignmentPoint {
  std::int32_t source = 0;  ///< index of the source's token
  std::int32_t target = 0;  ///< index of the translation's token
};

TRIL_NAMESPACE_END
