#include "tokenizer/pipeline/regex.h"

#include <gtest/gtest.h>

#include "support/temporary.h"

namespace tril {
namespace {

// The unrolled size is limited: nested repetitions multiply, adjacent ones add up.
TEST(Regex, RepetitionsAreBoundedByWhatTheyUnrollTo) {
  for (const char* pattern : {"(?:a{1000}b){2000}", "((a{100}){100}){200}", "[a-z]{1000}{2000}",
                              R"((\p{N}{3000}\s{2}){400})", "a{2000000}", R"(((\{{3000}){2}x){200})"})
    EXPECT_TRUE(contains(error_of([&] { Regex(pattern, "x"); }), "it has too many repetitions")) << pattern;
  for (const char* pattern :
       {R"(\s{512}(?!\S)|\s{256}(?!\S)|\s{128}(?!\S)|\s{64}(?!\S)|\s{32}(?!\S)|\s{16}(?!\S)|\s{8})",
        R"([{}]{9}[\]{9999}]{9}\{9999\}(?:x{99}y{99}z{99}){9})", R"(\p{Han}+|a{1,3}|b{,5}|(?:c{2}|d{2}){3})"})
    EXPECT_EQ(error_of([&] { Regex(pattern, "x"); }), "") << pattern;
}

}  // namespace
}  // namespace tril
