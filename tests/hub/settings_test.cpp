// The environment variables of huggingface_hub, with its meanings.
#include "hub/settings.h"

#include <gtest/gtest.h>

#include <array>
#include <map>

#include "support/temporary.h"

namespace tril::hub {
namespace {

using Variables = std::map<std::string, std::string>;

HubSettings settings(const Variables& variables) {
  return read_settings([&](const std::string& name) {
    const auto at = variables.find(name);
    return at == variables.end() ? "" : at->second;
  });
}

TEST(HubSettings, HaveHuggingFacesDefaults) {
  const HubSettings s = settings({{"HOME", "/nobody"}});
  EXPECT_TRUE(s.endpoint.starts_with("https://"));
  EXPECT_EQ(s.cache, "/nobody/.cache/huggingface/hub");
  EXPECT_EQ(s.downloads, "/nobody/.cache/huggingface/assets/tril");
  EXPECT_EQ(s.token, "");
  EXPECT_FALSE(s.offline);
}

TEST(HubSettings, TheNearestVariableCounts) {
  EXPECT_EQ(settings({{"XDG_CACHE_HOME", "/x"}}).cache, "/x/huggingface/hub");
  EXPECT_EQ(settings({{"XDG_CACHE_HOME", "/x"}, {"HF_HOME", "/h"}}).cache, "/h/hub");
  EXPECT_EQ(settings({{"HF_HOME", "/h"}, {"HUGGINGFACE_HUB_CACHE", "/old"}}).cache, "/old");
  EXPECT_EQ(settings({{"HUGGINGFACE_HUB_CACHE", "/old"}, {"HF_HUB_CACHE", "/new"}}).cache, "/new");
  EXPECT_EQ(settings({{"HF_ASSETS_CACHE", "/a"}}).downloads, "/a/tril");
  EXPECT_EQ(settings({{"HF_ENDPOINT", "https://mirror.example/hub//"}}).endpoint, "https://mirror.example/hub");
}

TEST(HubSettings, PathsAreExpandedAsPythonDoes) {
  const Variables v{{"HOME", "/me"}, {"DISK", "/big"}};
  const auto cache = [&](const std::string& text) {
    Variables with = v;
    with["HF_HUB_CACHE"] = text;
    return settings(with).cache;
  };
  EXPECT_EQ(cache("~/c"), "/me/c");
  EXPECT_EQ(cache("~"), "/me");
  EXPECT_EQ(cache("$DISK/c"), "/big/c");
  EXPECT_EQ(cache("${DISK}c"), "/bigc");
  EXPECT_EQ(cache("$NONE/c"), "$NONE/c");
  EXPECT_EQ(cache("${DISK/c"), "${DISK/c");
  EXPECT_EQ(cache("/a~b$"), "/a~b$");
}

TEST(HubSettings, OfflineIsWhatPythonTakesForTrue) {
  for (const char* yes : {"1", "true", "TRUE", "on", "Yes"})
    EXPECT_TRUE(settings({{"HF_HUB_OFFLINE", yes}}).offline) << yes;
  for (const char* no : {"0", "", "no", "2"}) EXPECT_FALSE(settings({{"HF_HUB_OFFLINE", no}}).offline) << no;
  EXPECT_TRUE(settings({{"TRANSFORMERS_OFFLINE", "1"}}).offline);
}

TEST(HubSettings, ATokenComesFromTheEnvironmentOrAFile) {
  const TemporaryDirectory home;
  home.write("token", "hf_file\n");
  const std::string other = home.write("other", " hf_other ");
  EXPECT_EQ(settings({{"HF_HOME", home.path()}}).token, "hf_file");
  EXPECT_EQ(settings({{"HF_HOME", home.path()}}).token_origin, home.path("token"));
  EXPECT_EQ(settings({{"HF_HOME", home.path()}, {"HF_TOKEN_PATH", other}}).token, "hf_other");
  EXPECT_EQ(settings({{"HF_HOME", home.path()}, {"HF_TOKEN", "hf_env"}}).token, "hf_env");
  EXPECT_EQ(settings({{"HUGGING_FACE_HUB_TOKEN", "hf_old"}}).token, "hf_old");
  EXPECT_EQ(settings({{"HF_TOKEN", "hf_env"}, {"HF_HUB_DISABLE_IMPLICIT_TOKEN", "1"}}).token, "");
  // It would end the line of the request that it goes into.
  const std::string error = error_of([] { settings({{"HF_TOKEN", "hf\r\nX: y"}}); });
  EXPECT_TRUE(contains(error, "HF_TOKEN")) << error;
  EXPECT_FALSE(contains(error, "X: y")) << "a token is never shown: " << error;
}

TEST(HubSettings, CertificatesAreTheNamedOnesOrTheSystems) {
  EXPECT_EQ(settings({{"CURL_CA_BUNDLE", "/c.pem"}, {"SSL_CERT_FILE", "/s.pem"}}).certificates, "/c.pem");
  EXPECT_EQ(settings({{"SSL_CERT_FILE", "/s.pem"}}).certificates, "/s.pem");
  const TemporaryDirectory system;
  const std::string none = system.path("ca-certificates.crt"), second = system.write("ca-bundle.crt", "");
  const std::string third = system.write("cert.pem", "");
  EXPECT_EQ(first_present(std::array{none, second, third}), second);
  EXPECT_EQ(first_present(std::array{none}), "");
  EXPECT_EQ(settings({}).certificates, first_present(certificate_files()));
}

TEST(HubSettings, WhatIsNotUnderstoodIsNamed) {
  EXPECT_TRUE(contains(error_of([] { settings({{"HF_ENDPOINT", "mirror.example"}}); }), "HF_ENDPOINT"));
  EXPECT_TRUE(contains(error_of([] { settings({{"HF_HUB_DOWNLOAD_TIMEOUT", "soon"}}); }), "HF_HUB_DOWNLOAD_TIMEOUT"));
  EXPECT_EQ(settings({{"HF_HUB_DOWNLOAD_TIMEOUT", "30"}}).stall_seconds, 30);
}

}  // namespace
}  // namespace tril::hub
