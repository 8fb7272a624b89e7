// Reading requests: addresses and their queries.
#include "serve/http/http.h"

#include <gtest/gtest.h>

namespace tril::serve {
namespace {

TEST(Http, AddressesAreDecoded) {
  EXPECT_EQ(url_decoded("a%20b+c"), "a b+c");
  EXPECT_FALSE(url_decoded("%4"));
  EXPECT_FALSE(url_decoded("%zz"));
  const auto query = parse_query("a=1&b&=2&c=%41&&a=3");
  EXPECT_EQ(query, (std::map<std::string, std::string>{{"", "2"}, {"a", "3"}, {"b", ""}, {"c", "A"}}));
}

}  // namespace
}  // namespace tril::serve
