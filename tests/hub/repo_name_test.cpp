// Names of models on a hub, and paths that stay in their directory.
#include "hub/repo_name.h"

#include <gtest/gtest.h>

namespace tril::hub {
namespace {

TEST(RepoName, HasARepositoryARevisionAndAFile) {
  const auto plain = repo_name_of("Helsinki-NLP/opus-mt-en-de");
  ASSERT_TRUE(plain);
  EXPECT_EQ(plain->repo, "Helsinki-NLP/opus-mt-en-de");
  EXPECT_EQ(plain->revision, "main");
  EXPECT_EQ(plain->file, "");
  const auto pr = repo_name_of("facebook/nllb-200-distilled-600M@refs/pr/19");
  ASSERT_TRUE(pr);
  EXPECT_EQ(pr->revision, "refs/pr/19");
  const auto file = repo_name_of("Qwen/Qwen3-0.6B-GGUF:sub/q8_0.gguf");
  ASSERT_TRUE(file);
  EXPECT_EQ(file->repo, "Qwen/Qwen3-0.6B-GGUF");
  EXPECT_EQ(file->file, "sub/q8_0.gguf");
  const auto all = repo_name_of("a/b@v1.0:c.gguf");
  ASSERT_TRUE(all);
  EXPECT_EQ(all->revision, "v1.0");
  EXPECT_EQ(all->file, "c.gguf");
  EXPECT_EQ(repo_name_of("gpt2")->repo, "gpt2");
}

TEST(RepoName, IsWrittenAsItIsRead) {
  for (const char* text : {"a/b", "a/b@c", "a/b:c.gguf", "a/b@refs/pr/1:c/d.gguf", "gpt2"})
    EXPECT_EQ(repo_name_of(text)->text(), text);
}

TEST(RepoName, PathsAreNone) {
  for (const char* text : {"",       "/a/b",   "./a",      "../a",        "a/",         "/a",     "a//b",
                           "a/b/c",  "a b/c",  "-a/b",     "a/b-",        ".a/b",       "a/b.",   "a--b/c",
                           "a..b/c", "a/..",   "a@",       "a:",          "a/b@../c",   "a/b@/c", "a/b:../c",
                           "a/b:/c", "a/b@c:", "a/b@x\ny", "https://a/b", "C:\\models", "a\\b",   "a/b:c\\d"})
    EXPECT_FALSE(repo_name_of(text)) << text;
  EXPECT_FALSE(repo_name_of(std::string(97, 'a')));
  EXPECT_FALSE(repo_name_of("a/b:" + std::string(1025, 'c')));
}

TEST(RepoName, UrlsAreUrls) {
  EXPECT_TRUE(is_url("https://a/b.zip"));
  EXPECT_TRUE(is_url("http://127.0.0.1/b.zip"));
  EXPECT_FALSE(is_url("ftp://a/b"));
  EXPECT_FALSE(is_url("a/b"));
}

TEST(StaysInside, KnowsWaysOut) {
  for (const char* path : {"a", "a/b", "a.b/c", "...", "a..b"}) EXPECT_TRUE(stays_inside(path)) << path;
  for (const char* path : {"", "/", "/a", "a/", "a//b", ".", "..", "a/..", "a/../b", "./a", "a\\b", "a\tb", "a\x7f"})
    EXPECT_FALSE(stays_inside(path)) << path;
  EXPECT_FALSE(stays_inside(std::string("a\0b", 3)));
}

}  // namespace
}  // namespace tril::hub
