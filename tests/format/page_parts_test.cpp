#include "format/page_parts.h"

#include <gtest/gtest.h>

#include <array>

#include "support/error_of.h"

namespace tril {
namespace {

TEST(PageParts, ReplaceEachMarkButNoneOfTheirOwn) {
  std::string page = "<%M%>%M%";
  put_part(page, "%M%", "a %M%");
  EXPECT_EQ(page, "<a %M%>a %M%");
  EXPECT_NE(error_of([&] { put_part(page, "%OTHER%", ""); }), "");
}

TEST(PageParts, DataEndsNoScript) {
  std::string page = "<script>%DATA%</script>";
  put_data(page, "%DATA%", R"({"text": "</script>%DATA%"})");
  EXPECT_EQ(page, R"(<script>{"text": "\u003c/script>%DATA%"}</script>)");
  page = "";
  EXPECT_NE(error_of([&] { put_data(page, "%DATA%", "{}"); }), "");
}

TEST(PageParts, AScriptHasItsPartsInOrder) {
  constexpr std::array names{"b.js", "a.js"};
  EXPECT_EQ(joined_script(names, [](std::string_view name) { return name.substr(0, 1); }), "// b.js\nb\n// a.js\na\n");
}

}  // namespace
}  // namespace tril
