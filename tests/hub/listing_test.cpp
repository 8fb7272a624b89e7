// A hub's description of a repository, right ones and hostile ones; and the sums that it gives.
#include "hub/listing.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "support/loopback_hub.h"
#include "support/temporary.h"

namespace tril::hub {
namespace {

using Json = nlohmann::json;

Json entry(const std::string& name) {
  return {{"rfilename", name}, {"size", 3}, {"blobId", std::string(40, 'b')}};
}

Json listing(const Json& files) {
  return {{"sha", std::string(40, 'a')}, {"siblings", files}, {"unknown", {1, 2}}};
}

std::string listing_error(const Json& json) {
  return error_of([&] { read_listing(json.dump(), "hub"); });
}

TEST(Checksum, IsGitsAndSha256) {
  EXPECT_EQ(test::sum_of(SumKind::git, "hello\n"), "ce013625030ba8dba906f756967f9e9ca394464a");
  EXPECT_EQ(test::sum_of(SumKind::git, ""), "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391");
  EXPECT_EQ(test::sum_of(SumKind::sha256, ""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
}

TEST(Listing, HasNamesSizesAndSums) {
  Json large = entry("model.safetensors");
  large["lfs"] = {{"sha256", std::string(64, 'c')}, {"size", 5'000'000'000}, {"pointerSize", 134}};
  const Listing l = read_listing(listing({entry("config.json"), large}).dump(), "hub");
  EXPECT_EQ(l.commit, std::string(40, 'a'));
  ASSERT_EQ(l.files.size(), 2u);
  EXPECT_EQ(l.files[0].kind, SumKind::git);
  EXPECT_EQ(l.files[1].kind, SumKind::sha256);
  EXPECT_EQ(l.files[1].size, 5'000'000'000u);
  EXPECT_EQ(l.find("model.safetensors")->sum, std::string(64, 'c'));
  EXPECT_EQ(l.find("none"), nullptr);
}

TEST(Listing, ANameThatLeadsOutIsRefused) {
  for (const char* name : {"../x", "/etc/passwd", "a/../../x", "", "a\nb", "a\\b", "."})
    EXPECT_TRUE(contains(listing_error(listing(Json::array({entry(name)}))), "not the name of a file")) << name;
}

TEST(Listing, SumsAndSizesMustBeSome) {
  const auto with = [](const char* key, const Json& value) {
    Json e = entry("a");
    e[key] = value;
    return listing_error(listing(Json::array({e})));
  };
  EXPECT_TRUE(contains(with("blobId", "../../x"), "sum"));
  EXPECT_TRUE(contains(with("blobId", std::string(40, 'B')), "sum")) << "upper case is another name in the cache";
  EXPECT_TRUE(contains(with("blobId", nullptr), "blobId"));
  EXPECT_TRUE(contains(with("size", -1), "bytes"));
  EXPECT_TRUE(contains(with("size", std::int64_t{1} << 62), "bytes"));
  EXPECT_NE(with("size", "3"), "");
  EXPECT_NE(with("lfs", Json{{"sha256", std::string(40, 'c')}, {"size", 3}}), "");
  EXPECT_NE(with("lfs", "x"), "");
}

TEST(Listing, OtherFormsAreRefused) {
  for (const char* text : {"", "[]", "{}", "null", "<html>", R"({"sha": "main", "siblings": []})", R"({"sha": 1})"})
    EXPECT_NE(error_of([&] { read_listing(text, "hub"); }), "") << text;
  Json twice = listing({entry("a"), entry("a")});
  EXPECT_TRUE(contains(listing_error(twice), "twice"));
  EXPECT_NE(listing_error(listing(Json::array({1}))), "");
  Json none = listing(Json::array());
  none["siblings"] = 1;
  EXPECT_NE(listing_error(none), "");
  std::string many = R"({"sha": ")" + std::string(40, 'a') + R"(", "siblings": [0)";
  for (int i = 0; i < 100'000; ++i) many += ",0";
  EXPECT_TRUE(contains(error_of([&] { read_listing(many + "]}", "hub"); }), "at most"));
}

}  // namespace
}  // namespace tril::hub
