// Models pulled from a hub on the loopback: what goes into the cache, what goes wrong on the way, and what is said of
// it.
#include "hub/pull.h"

#include <gtest/gtest.h>

#include <atomic>
#include <filesystem>
#include <thread>

#include "hub/cache.h"
#include "support/loopback_hub.h"
#include "support/run_program.h"
#include "support/temporary.h"

namespace tril::hub {
namespace {

namespace fs = std::filesystem;
using test::LoopbackHub, test::WebReply, test::WebRequest;

const std::string weights = test::noise(300'000);

class Pulling : public ::testing::Test {
 protected:
  Pulling() {
    hub_.add("README.md", "hello\n");
    hub_.add("config.json", R"({"model_type": "marian"})");
    hub_.add("vocab.json", "{}");
    hub_.add("source.spm", "spm", /*large=*/true);
    hub_.add("model.safetensors", weights, /*large=*/true);
    hub_.add("pytorch_model.bin", "pickle", /*large=*/true);
    settings_ = hub_.settings(home_.path());
  }

  Pulled pull(const std::string& text = "acme/model") const { return hub::pull(settings_, *repo_name_of(text), {}); }
  std::string error(const std::string& text = "acme/model") const {
    return error_of([&] { pull(text); });
  }
  std::string folder() const { return settings_.cache + "/models--acme--model"; }
  std::string snapshot() const { return folder() + "/snapshots/" + hub_.commit(); }
  static std::string blob(const std::string& content) { return test::sum_of(SumKind::sha256, content); }
  /// Requests of the weights that the store has seen.
  int asked_for_weights() const {
    int count = 0;
    for (const WebRequest& r : hub_.store_requests()) count += r.path == "/" + blob(weights);
    return count;
  }
  /// The answer for the weights from the store; others as usual.
  void when_weights_are_asked(const std::function<std::optional<WebReply>(const WebRequest&, int number)>& whim) {
    auto number = std::make_shared<std::atomic<int>>(0);
    hub_.set_whim([=](const WebRequest& r) -> std::optional<WebReply> {
      return r.path == "/" + blob(weights) ? whim(r, ++*number) : std::nullopt;
    });
  }
  void leave(const std::string& partial) const {
    fs::create_directories(folder() + "/blobs");
    std::ofstream(folder() + "/blobs/" + blob(weights) + ".incomplete", std::ios::binary) << partial;
  }
  void expect_whole() const {
    EXPECT_EQ(file_text(snapshot() + "/model.safetensors"), weights);
    EXPECT_EQ(cached_model(settings_, *repo_name_of("acme/model")), snapshot());
    for (const auto& entry : fs::recursive_directory_iterator(settings_.cache))
      EXPECT_NE(entry.path().extension(), ".incomplete") << entry.path();
  }

  LoopbackHub hub_;
  TemporaryDirectory home_;
  HubSettings settings_;
};

TEST_F(Pulling, LaysTheCacheOutAsHuggingFaceDoes) {
  const Pulled pulled = pull();
  EXPECT_EQ(pulled.path, snapshot());
  EXPECT_EQ(pulled.commit, hub_.commit());
  EXPECT_EQ(pulled.fetched, pulled.bytes);
  EXPECT_EQ(file_text(folder() + "/refs/main"), hub_.commit());
  EXPECT_EQ(fs::read_symlink(snapshot() + "/model.safetensors"), "../../blobs/" + blob(weights));
  EXPECT_EQ(fs::read_symlink(snapshot() + "/vocab.json"), "../../blobs/" + test::sum_of(SumKind::git, "{}"));
  EXPECT_TRUE(fs::exists(settings_.cache + "/.locks/models--acme--model/" + blob(weights) + ".lock"));
  expect_whole();
  std::vector<std::string> names = names_in(snapshot());
  std::sort(names.begin(), names.end());
  EXPECT_EQ(names, (std::vector<std::string>{"config.json", "model.safetensors", "source.spm", "vocab.json"}));
}

TEST_F(Pulling, FetchesNothingTwice) {
  pull();
  const Pulled again = pull();
  EXPECT_EQ(again.fetched, 0u);
  EXPECT_TRUE(again.files.front().was_there);
  EXPECT_EQ(asked_for_weights(), 1);
  // Another commit with the same weights.
  hub_.set_commit('b');
  hub_.add("vocab.json", R"({"a": 1})");
  const Pulled next = pull();
  EXPECT_EQ(next.path, snapshot());
  EXPECT_LT(next.fetched, 20u);
  EXPECT_EQ(asked_for_weights(), 1);
  expect_whole();
}

TEST_F(Pulling, AContentThatTwoFilesShareIsFetchedOnce) {
  hub_.add("target.spm", "spm", true);
  pull();
  EXPECT_EQ(file_text(snapshot() + "/target.spm"), "spm");
}

TEST_F(Pulling, AnEmptyFileIsAFile) {
  hub_.add("merges.txt", "");
  pull();
  EXPECT_TRUE(fs::exists(snapshot() + "/merges.txt"));
}

TEST_F(Pulling, ShardsAreThoseOfTheIndex) {
  hub_.remove("model.safetensors");
  hub_.add("model.safetensors.index.json", R"({"weight_map": {"a": "m-1.safetensors", "b": "m-2.safetensors"}})");
  for (const char* name : {"m-1.safetensors", "m-2.safetensors", "m-3.safetensors"}) hub_.add(name, name, true);
  pull();
  EXPECT_TRUE(fs::exists(snapshot() + "/m-2.safetensors"));
  EXPECT_FALSE(fs::exists(snapshot() + "/m-3.safetensors"));
  EXPECT_FALSE(fs::exists(snapshot() + "/pytorch_model.bin"));
  EXPECT_TRUE(cached_model(settings_, *repo_name_of("acme/model")));
  fs::remove(snapshot() + "/m-2.safetensors");
  EXPECT_FALSE(cached_model(settings_, *repo_name_of("acme/model"))) << "a shard is missing";
}

TEST_F(Pulling, ARevisionHasARefOfItsOwn) {
  pull("acme/model@refs/pr/7");
  EXPECT_EQ(file_text(folder() + "/refs/refs/pr/7"), hub_.commit());
  EXPECT_FALSE(cached_model(settings_, *repo_name_of("acme/model")));
  EXPECT_EQ(cached_model(settings_, *repo_name_of("acme/model@refs/pr/7")), snapshot());
  EXPECT_EQ(cached_model(settings_, *repo_name_of("acme/model@" + hub_.commit())), snapshot());
  EXPECT_EQ(pull("acme/model@" + hub_.commit()).path, snapshot());
}

TEST_F(Pulling, OneGgufFileIsNamed) {
  hub_.add("sub/q4.gguf", "GGUF", true);
  const Pulled pulled = pull("acme/model:sub/q4.gguf");
  EXPECT_EQ(pulled.path, snapshot() + "/sub/q4.gguf");
  EXPECT_EQ(fs::read_symlink(pulled.path), "../../../blobs/" + blob("GGUF"));
  EXPECT_EQ(file_text(pulled.path), "GGUF");
  EXPECT_EQ(cached_model(settings_, *repo_name_of("acme/model:sub/q4.gguf")), pulled.path);
  EXPECT_FALSE(cached_model(settings_, *repo_name_of("acme/model"))) << "the rest of it was not fetched";
}

TEST_F(Pulling, TheTokenGoesToTheHubAlone) {
  settings_.token = "hf_secret";
  pull();
  for (const WebRequest& r : hub_.requests()) EXPECT_EQ(r.header("authorization"), "Bearer hf_secret") << r.path;
  EXPECT_FALSE(hub_.store_requests().empty());
  for (const WebRequest& r : hub_.store_requests()) EXPECT_EQ(r.header("authorization"), "") << r.path;
}

TEST_F(Pulling, RedirectsEndSomewhere) {
  hub_.set_whim([this](const WebRequest& r) -> std::optional<WebReply> {
    if (r.path != hub_.file_path("vocab.json")) return std::nullopt;
    return WebReply{.status = 307, .headers = {{"Location", r.path}}};
  });
  EXPECT_TRUE(contains(error(), "redirects more than"));
  hub_.set_whim([this](const WebRequest& r) -> std::optional<WebReply> {
    if (r.path != hub_.file_path("vocab.json")) return std::nullopt;
    return WebReply{.status = 302, .headers = {{"Location", "file:///etc/passwd"}}};
  });
  EXPECT_TRUE(contains(error(), "not followed")) << error();
}

TEST_F(Pulling, ABrokenTransferGoesOn) {
  when_weights_are_asked([](const WebRequest& r, int number) -> std::optional<WebReply> {
    if (number > 3) return std::nullopt;
    WebReply reply = LoopbackHub::content(r, weights);
    reply.cut_after = 70'000;
    return reply;
  });
  pull();
  expect_whole();
  EXPECT_EQ(asked_for_weights(), 4);
  for (const WebRequest& r : hub_.store_requests())
    EXPECT_TRUE(r.header("range").empty() || r.header("range").starts_with("bytes=")) << r.header("range");
}

TEST_F(Pulling, ATransferThatBringsNothingIsGivenUp) {
  when_weights_are_asked([](const WebRequest& r, int) -> std::optional<WebReply> {
    WebReply reply = LoopbackHub::content(r, weights);
    reply.cut_after = 0;
    return reply;
  });
  EXPECT_TRUE(contains(error(), "resumes from there")) << error();
  EXPECT_FALSE(fs::exists(snapshot()));
  EXPECT_FALSE(cached_model(settings_, *repo_name_of("acme/model")));
}

TEST_F(Pulling, AnEarlierTryIsGoneOnWith) {
  leave(weights.substr(0, 123'456));
  const Pulled pulled = pull();
  expect_whole();
  EXPECT_EQ(pulled.fetched, pulled.bytes - 123'456);
  for (const WebRequest& r : hub_.store_requests())
    if (r.path == "/" + blob(weights)) {
      EXPECT_EQ(r.header("range"), "bytes=123456-");
    }
}

TEST_F(Pulling, AnEarlierTryThatIsWholeNeedsNoTransfer) {
  leave(weights);
  pull();
  expect_whole();
  EXPECT_EQ(asked_for_weights(), 0);
}

TEST_F(Pulling, ADamagedEarlierTryIsFetchedAgain) {
  for (const std::string& left : {test::noise(1000, 7), weights + "x", test::noise(weights.size(), 7)}) {
    fs::remove_all(settings_.cache);
    leave(left);
    pull();
    expect_whole();
  }
}

TEST_F(Pulling, AServerWithoutRangesStartsOver) {
  leave(weights.substr(0, 1000));
  when_weights_are_asked([](const WebRequest&, int) { return WebReply{.body = weights}; });
  const Pulled pulled = pull();
  expect_whole();
  EXPECT_EQ(pulled.fetched, pulled.bytes);
}

TEST_F(Pulling, AWrongRangeIsRefused) {
  leave(weights.substr(0, 1000));
  when_weights_are_asked([](const WebRequest&, int) {
    return WebReply{.status = 206, .headers = {{"Content-Range", "bytes 5-9/10"}}, .body = "12345"};
  });
  EXPECT_TRUE(contains(error(), "1000"));
}

TEST_F(Pulling, AWrongContentIsRefused) {
  std::string other = weights;
  other[200'000] ^= 1;
  when_weights_are_asked([=](const WebRequest& r, int) { return LoopbackHub::content(r, other); });
  EXPECT_TRUE(contains(error(), "does not have the checksum"));
  EXPECT_FALSE(fs::exists(folder() + "/blobs/" + blob(weights)));
  hub_.set_whim(nullptr);
  pull();
  expect_whole();
}

TEST_F(Pulling, AWrongSizeIsRefused) {
  when_weights_are_asked([](const WebRequest& r, int) { return LoopbackHub::content(r, weights + "more"); });
  EXPECT_TRUE(contains(error(), "is longer than"));
  when_weights_are_asked([](const WebRequest& r, int) { return LoopbackHub::content(r, weights.substr(0, 1000)); });
  EXPECT_NE(error(), "");
  EXPECT_FALSE(fs::exists(snapshot()));
}

TEST_F(Pulling, AListThatContradictsTheAnswerIsRefused) {
  hub_.set_whim([this](const WebRequest& r) -> std::optional<WebReply> {
    if (r.path != hub_.file_path("vocab.json")) return std::nullopt;
    return WebReply{.headers = {{"X-Linked-Size", "77"}}, .body = "{}"};
  });
  EXPECT_TRUE(contains(error(), "77"));
}

TEST_F(Pulling, ASlowBodyArrivesAndAStuckOneIsBroken) {
  when_weights_are_asked([](const WebRequest& r, int number) {
    WebReply reply = LoopbackHub::content(r, weights);
    reply.pause = number == 1 ? 5 : 0.01;  // the first stops for longer than stall_seconds
    return reply;
  });
  pull();
  expect_whole();
  EXPECT_GE(asked_for_weights(), 2);
}

TEST_F(Pulling, PassingErrorsAreTriedAgain) {
  when_weights_are_asked([](const WebRequest&, int number) -> std::optional<WebReply> {
    if (number == 1) return WebReply{.status = 500};
    if (number == 2) return WebReply{.status = 503, .headers = {{"Retry-After", "0"}}};
    if (number == 3) return WebReply{.status = 429, .headers = {{"Retry-After", "0"}}};
    return std::nullopt;
  });
  pull();
  expect_whole();
}

TEST_F(Pulling, LastingErrorsSayWhatToDo) {
  const auto answered = [&](WebReply reply, const std::string& token = "") {
    hub_.set_whim([=](const WebRequest& r) -> std::optional<WebReply> {
      return r.path.starts_with("/api/") ? std::optional(reply) : std::nullopt;
    });
    settings_.token = token;
    settings_.token_origin = "HF_TOKEN";
    return error();
  };
  const WebReply gated{.status = 401, .headers = {{"X-Error-Code", "GatedRepo"}}};
  EXPECT_TRUE(contains(answered(gated), "accept its conditions at " + hub_.endpoint() + "/acme/model"));
  EXPECT_TRUE(contains(answered(gated), "HF_TOKEN"));
  const WebReply not_yet{.status = 403, .headers = {{"X-Error-Code", "GatedRepo"}}};
  EXPECT_TRUE(contains(answered(not_yet, "hf_x"), "the account of the token in HF_TOKEN"));
  EXPECT_TRUE(contains(answered({.status = 401}), "private"));
  EXPECT_TRUE(contains(answered({.status = 401}, "hf_x"), "expired"));
  EXPECT_TRUE(contains(answered({.status = 403}, "hf_x"), "right"));
  EXPECT_FALSE(contains(answered({.status = 403}, "hf_x"), "hf_x")) << "a token is never shown";
  EXPECT_TRUE(contains(answered({.status = 404, .headers = {{"X-Error-Code", "RepoNotFound"}}}), "no such model"));
  EXPECT_TRUE(contains(answered({.status = 404, .headers = {{"X-Error-Code", "RevisionNotFound"}}}), "revision"));
  EXPECT_TRUE(contains(answered({.status = 429, .headers = {{"Retry-After", "300"}}}), "in 5m"));
  EXPECT_TRUE(
      contains(answered({.status = 500, .headers = {{"X-Error-Message", "on\x1b[1m fire"}}}), "on\\x1B[1m fire"));
  EXPECT_TRUE(contains(answered({.status = 418}), "418"));
  EXPECT_TRUE(contains(answered({.body = "<html>"}), "JSON")) << answered({.body = "<html>"});
  hub_.set_whim(nullptr);
  EXPECT_TRUE(contains(error("acme/other"), "no such model"));
  EXPECT_TRUE(contains(error("acme/model@none"), "no revision"));
}

TEST_F(Pulling, AGatedFileOfAPublicListIsGated) {
  hub_.set_whim([this](const WebRequest& r) -> std::optional<WebReply> {
    if (r.path != hub_.file_path("model.safetensors")) return std::nullopt;
    return WebReply{.status = 403, .headers = {{"X-Error-Code", "GatedRepo"}}};
  });
  EXPECT_TRUE(contains(error(), "gated"));
}

TEST_F(Pulling, NobodyAtTheEndpointIsSaid) {
  settings_.endpoint = "http://127.0.0.1:1";
  EXPECT_TRUE(contains(error(), "check the connection")) << error();
}

TEST_F(Pulling, OfflineNothingIsAsked) {
  settings_.offline = true;
  EXPECT_TRUE(contains(error(), "HF_HUB_OFFLINE"));
  EXPECT_TRUE(hub_.requests().empty());
}

TEST_F(Pulling, HostileListsWriteNothing) {
  nlohmann::json list = hub_.listing();
  list["siblings"].push_back({{"rfilename", "../../../evil"}, {"size", 1}, {"blobId", std::string(40, 'e')}});
  hub_.set_whim([=](const WebRequest& r) -> std::optional<WebReply> {
    return r.path.starts_with("/api/") ? std::optional(WebReply{.body = list.dump()}) : std::nullopt;
  });
  EXPECT_TRUE(contains(error(), "evil"));
  EXPECT_FALSE(fs::exists(settings_.cache));
}

TEST_F(Pulling, ALinkInThePlaceOfAPartialFileIsNotFollowed) {
  fs::create_directories(folder() + "/blobs");
  const std::string victim = home_.write("victim", "precious");
  fs::create_symlink(victim, folder() + "/blobs/" + blob(weights) + ".incomplete");
  EXPECT_NE(error(), "");
  EXPECT_EQ(file_text(victim), "precious");
}

TEST_F(Pulling, AWrongLinkIsReplaced) {
  fs::create_directories(snapshot());
  fs::create_symlink("../../blobs/none", snapshot() + "/model.safetensors");
  std::ofstream(snapshot() + "/vocab.json") << "a file";
  pull();
  expect_whole();
  EXPECT_EQ(file_text(snapshot() + "/vocab.json"), "{}");
  EXPECT_EQ(names_in(snapshot()).size(), 4u) << "nothing else is left";
}

TEST_F(Pulling, ABlobThatIsALinkItselfStays) {  // to a store that several caches share
  fs::create_directories(folder() + "/blobs");
  fs::create_symlink(home_.write("store", weights), folder() + "/blobs/" + blob(weights));
  pull();
  expect_whole();
  EXPECT_EQ(fs::read_symlink(snapshot() + "/model.safetensors"), "../../blobs/" + blob(weights));
  EXPECT_EQ(asked_for_weights(), 0);
}

TEST_F(Pulling, ABlobOfAnotherSizeIsFetchedAgain) {
  pull();
  std::ofstream(folder() + "/blobs/" + blob(weights), std::ios::binary) << "short";
  pull();
  expect_whole();
}

TEST_F(Pulling, ADiskThatIsTooSmallIsSaidBefore) {
  nlohmann::json list = hub_.listing();
  for (auto& entry : list["siblings"])
    if (entry["rfilename"] == "model.safetensors") entry["lfs"]["size"] = std::int64_t{1} << 45;
  hub_.set_whim([=](const WebRequest& r) -> std::optional<WebReply> {
    return r.path.starts_with("/api/") ? std::optional(WebReply{.body = list.dump()}) : std::nullopt;
  });
  EXPECT_TRUE(contains(error(), "35 TB are to be downloaded")) << error();
  EXPECT_EQ(asked_for_weights(), 0);
}

TEST_F(Pulling, ManyAtOnceGiveOneGoodResult) {
  std::vector<std::thread> threads;
  std::atomic<int> good = 0;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([&] {
      // As processes do, each has its own settings.
      const HubSettings own = settings_;
      good += hub::pull(own, *repo_name_of("acme/model"), {}).path == snapshot();
    });
  for (std::thread& t : threads) t.join();
  EXPECT_EQ(good, 4);
  expect_whole();
  EXPECT_EQ(asked_for_weights(), 1) << "the others wait for the lock";
}

TEST_F(Pulling, ProgressEndsAtTheTotal) {
  PullProgress last;
  hub::pull(settings_, *repo_name_of("acme/model"), {.connections = 2, .progress = [&](const PullProgress& p) {
                                                       EXPECT_GE(p.done, last.done);
                                                       last = p;
                                                     }});
  EXPECT_EQ(last.done, last.total);
  EXPECT_EQ(last.fetched, last.total);
}

TEST_F(Pulling, ASnapshotTellsItsRepository) {
  const Pulled pulled = pull();
  EXPECT_EQ(repo_of_snapshot(pulled.path), "acme/model");
  EXPECT_EQ(repo_of_snapshot(pulled.path + "/sub/q4.gguf"), "acme/model");
  EXPECT_EQ(repo_of_snapshot(home_.path()), std::nullopt);
  EXPECT_EQ(repo_of_snapshot("model"), std::nullopt);
}

}  // namespace
}  // namespace tril::hub
