// Whether a message says what its reader needs: the place, what was found and what to try, whatever the words between.
#pragma once

#include <gtest/gtest.h>

#include <string>

namespace tril {

/// True if `text` contains each of the parts; a failed EXPECT_TRUE prints the text and the first part that it lacks.
template <class... Parts>
::testing::AssertionResult contains(const std::string& text, const Parts&... parts) {
  static_assert(sizeof...(Parts) > 0, "no text lacks a part if there are none");
  for (const std::string& part : {std::string(parts)...})
    if (text.find(part) == std::string::npos)
      return ::testing::AssertionFailure() << "\"" << text << "\" lacks \"" << part << "\"";
  return ::testing::AssertionSuccess();
}

}  // namespace tril
