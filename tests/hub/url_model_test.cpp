// Models in one file, from the URL of anybody.
#include "hub/url_model.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <memory>

#include "hub/http_client.h"
#include "support/loopback_hub.h"
#include "support/raw_zip.h"
#include "support/run_program.h"
#include "support/temporary.h"

namespace tril::hub {
namespace {

using test::LoopbackHub, test::WebReply, test::WebRequest, test::WebServer;

class UrlModel : public ::testing::Test {
 protected:
  UrlModel() {
    const LoopbackHub any;
    settings_ = any.settings(home_.path());
    settings_.endpoint = "http://127.0.0.1:1";
  }
  void serve(WebServer::Answer answer) { server_ = std::make_unique<WebServer>(std::move(answer)); }
  std::string url() const { return server_->url() + "/opus/en-de.zip"; }
  std::string path() const { return settings_.downloads + "/" + server_->url().substr(7) + "/opus/en-de.zip"; }
  std::string url_error(const std::string& url) const {
    return error_of([&] { pull_url(settings_, url, {}); });
  }

  TemporaryDirectory home_;
  HubSettings settings_;
  const std::string archive_ = testing::raw_zip({{"model.npz", test::noise(100'000)}});
  std::unique_ptr<WebServer> server_;
};

TEST_F(UrlModel, IsKeptUnderItsAddress) {
  serve([&](const WebRequest& r) { return LoopbackHub::content(r, archive_); });
  EXPECT_FALSE(cached_url(settings_, url()));
  settings_.token = "hf_secret";
  const Pulled pulled = pull_url(settings_, url(), {});
  EXPECT_EQ(pulled.path, path());
  EXPECT_EQ(file_text(path()), archive_);
  EXPECT_EQ(pulled.files.front().file.sum, test::sum_of(SumKind::sha256, archive_));
  EXPECT_EQ(cached_url(settings_, url()), path());
  EXPECT_TRUE(pull_url(settings_, url(), {}).files.front().was_there);
  ASSERT_EQ(server_->requests().size(), 1u);
  EXPECT_EQ(server_->requests().front().header("authorization"), "") << "the token is the hub's alone";
}

TEST_F(UrlModel, ABrokenTransferGoesOnIfTheFileIsStillTheSame) {
  int number = 0;
  serve([&](const WebRequest& r) {
    WebReply reply = LoopbackHub::content(r, archive_);
    if (++number == 1) reply.cut_after = 50'000;
    return reply;
  });
  const Pulled pulled = pull_url(settings_, url(), {});
  EXPECT_EQ(file_text(path()), archive_);
  EXPECT_EQ(pulled.fetched, archive_.size());
  EXPECT_NE(server_->requests().back().header("range"), "");
  EXPECT_NE(server_->requests().back().header("if-range"), "");
  EXPECT_FALSE(std::filesystem::exists(path() + ".etag"));
}

TEST_F(UrlModel, WithoutAnEtagItStartsOver) {
  int number = 0;
  serve([&](const WebRequest& r) {
    WebReply reply = LoopbackHub::content(r, archive_);
    reply.headers.erase("ETag");
    if (++number == 1) reply.cut_after = 50'000;
    return reply;
  });
  pull_url(settings_, url(), {});
  EXPECT_EQ(file_text(path()), archive_);
  EXPECT_EQ(server_->requests().back().header("range"), "");
}

TEST_F(UrlModel, WhatIsNoArchiveIsNotKept) {
  serve([](const WebRequest&) { return WebReply{.body = "<html>sign in</html>"}; });
  EXPECT_TRUE(contains(url_error(url()), "ZIP"));
  EXPECT_FALSE(std::filesystem::exists(path()));
  serve([](const WebRequest&) { return WebReply{.status = 404}; });
  EXPECT_TRUE(contains(url_error(url()), "404"));
}

TEST_F(UrlModel, AddressesMustBePlainAndSafe) {
  for (const char* url :
       {"http://example.org/a.zip", "http://127.0.0.1.example.org/a.zip", "https://example.org/a.zip?x=1",
        "https://example.org/a.zip#b", "https://example.org/../a.zip", "https://example.org/a/%2e%2e/b.zip",
        "https://example.org/a.exe", "https://example.org/", "https://example.org", "https://", "https:///a.zip",
        "https://user:pass@example.org/a.zip", "https://example.org//a.zip"})
    EXPECT_NE(url_error(url), "") << url;
  EXPECT_FALSE(std::filesystem::exists(settings_.downloads));
  settings_.offline = true;
  EXPECT_TRUE(contains(url_error("https://example.org/a.zip"), "HF_HUB_OFFLINE"));
}

TEST(Origins, AreSchemeHostAndPort) {
  EXPECT_TRUE(same_origin("https://a.org/x", "https://A.org:443/y"));
  EXPECT_FALSE(same_origin("https://a.org", "http://a.org"));
  EXPECT_FALSE(same_origin("https://a.org", "https://b.a.org"));
  EXPECT_FALSE(same_origin("https://a.org", "https://a.org:444"));
  EXPECT_FALSE(same_origin("https://a.org", "https://a.org@b.org/"));
  EXPECT_FALSE(same_origin("", ""));
  EXPECT_EQ(url_escaped("refs/pr/1"), "refs%2Fpr%2F1");
  EXPECT_EQ(url_escaped("a b/c", "/"), "a%20b/c");
}

}  // namespace
}  // namespace tril::hub
