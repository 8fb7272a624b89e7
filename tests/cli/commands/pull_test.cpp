// tril pull, and models given by name to other commands, with a hub on the loopback: real processes, some of them killed.
#include <gtest/gtest.h>
#include <signal.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <thread>

#include "support/loopback_hub.h"
#include "support/run_program.h"
#include "support/tiny_marian.h"

namespace tril {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

class Pull : public ::testing::Test {
 protected:
  Pull() {
    for (const auto& entry : fs::directory_iterator(write_tiny_marian(folder_)))
      hub_.add(entry.path().filename().string(), file_text(entry.path().string()),
               entry.path().extension() == ".safetensors");
  }

  Launch launch(const std::string& endpoint, const std::map<std::string, std::string>& more = {}) const {
    return {.input = "",
            .stdout_to = "",
            .before =
                [=, home = folder_.at("home")] {
                  ::setenv("HF_ENDPOINT", endpoint.c_str(), 1);
                  ::setenv("HF_HOME", home.c_str(), 1);
                  ::setenv("HF_HUB_DOWNLOAD_TIMEOUT", "5", 1);
                  for (const char* name : {"HF_HUB_CACHE", "HF_TOKEN", "HF_HUB_OFFLINE"}) ::unsetenv(name);
                  for (const auto& [name, value] : more) ::setenv(name.c_str(), value.c_str(), 1);
                },
            .meanwhile = {}};
  }
  Ran tril(const std::vector<std::string>& args, const std::map<std::string, std::string>& more = {}) const {
    return run_tril(args, launch(hub_.endpoint(), more));
  }
  std::string snapshot() const { return folder_.at("home/hub/models--acme--model/snapshots/") + hub_.commit(); }

  ScratchFolder folder_;
  test::LoopbackHub hub_;
};

TEST_F(Pull, PrintsThePathAndCommandsFindTheModel) {
  const Ran pulled = tril({"pull", "acme/model"});
  EXPECT_EQ(pulled.code, 0) << pulled.err;
  EXPECT_EQ(pulled.out, snapshot() + "\n");
  const std::size_t asked = hub_.requests().size();
  const Ran named = tril({"inspect", "acme/model"}, {{"HF_HUB_OFFLINE", "1"}});
  EXPECT_EQ(named.code, 0) << named.err;
  EXPECT_EQ(named.out, tril({"inspect", snapshot()}).out);
  EXPECT_EQ(hub_.requests().size(), asked) << "what is in the cache is not asked for";
}

TEST_F(Pull, TellsAllAsJson) {
  const Ran ran = tril({"pull", "acme/model", "--json"});
  ASSERT_EQ(ran.code, 0) << ran.err;
  const Json last = Json::parse(lines_of(ran.out).back());
  EXPECT_EQ(last["event"], "done");
  EXPECT_EQ(last["path"], snapshot());
  EXPECT_EQ(last["commit"], hub_.commit());
  EXPECT_EQ(last["bytes"], last["fetched"]);
  EXPECT_GE(last["files"].size(), 3u);
}

TEST_F(Pull, CommandsFetchWithPullAlone) {
  const Ran without = tril({"inspect", "acme/model"});
  EXPECT_EQ(without.code, 1);
  for (const char* part : {"no such file or directory", "--pull", "tril pull acme/model"})
    EXPECT_NE(without.err.find(part), std::string::npos) << without.err;
  EXPECT_TRUE(hub_.requests().empty()) << "without a terminal nobody can be asked";
  const Ran with = tril({"inspect", "acme/model", "--pull"});
  EXPECT_EQ(with.code, 0) << with.err;
}

TEST_F(Pull, ALocalPathComesFirst) {
  fs::create_directories(folder_.at("acme"));
  fs::copy(folder_.at("model"), folder_.at("acme/model"));
  Launch there = launch(hub_.endpoint());
  there.before = [before = there.before, at = folder_.at("")] {
    before();
    static_cast<void>(::chdir(at.c_str()));
  };
  EXPECT_EQ(run_tril({"inspect", "acme/model", "--pull"}, there).code, 0);
  EXPECT_TRUE(hub_.requests().empty());
}

TEST_F(Pull, WhatIsNoNameIsAPath) {
  for (const char* path : {"./none", "/none", "a/b/c"}) {
    const Ran ran = tril({"inspect", path, "--pull"});
    EXPECT_EQ(ran.code, 1);
    EXPECT_NE(ran.err.find("check the path"), std::string::npos) << ran.err;
  }
  EXPECT_EQ(tril({"pull", "./none"}).code, 2);
  EXPECT_TRUE(hub_.requests().empty());
}

TEST_F(Pull, AnArchiveOfARepository) {
  hub_.add("en_de.argosmodel", test::noise(1000), true);
  const Ran ran = tril({"pull", "acme/model:en_de.argosmodel"});
  EXPECT_EQ(ran.out, snapshot() + "/en_de.argosmodel\n") << ran.err;
  EXPECT_EQ(file_text(snapshot() + "/en_de.argosmodel"), test::noise(1000));
  EXPECT_EQ(hub_.store_requests().size(), 1u);
}

TEST_F(Pull, KilledAtAnyTimeItGoesOn) {
  const std::string large = test::noise(2'000'000);
  hub_.add("source.spm", large, true);  // its content does not matter here
  hub_.set_whim([&](const test::WebRequest& r) -> std::optional<test::WebReply> {
    if (r.path != "/" + test::sum_of(hub::SumKind::sha256, large)) return std::nullopt;
    test::WebReply reply = test::LoopbackHub::content(r, large);
    reply.pause = 0.005;
    return reply;
  });
  int killed = 0;
  for (int round = 0; round < 40; ++round) {
    Launch l = launch(hub_.endpoint());
    l.meanwhile = [&](pid_t child) {
      std::this_thread::sleep_for(std::chrono::milliseconds(30 + 17 * round));
      ::kill(child, SIGKILL);
    };
    const Ran ran = run_tril({"pull", "acme/model"}, l);
    if (ran.signal == 0) {
      EXPECT_EQ(ran.code, 0) << ran.err;
      break;
    }
    ++killed;
  }
  EXPECT_GE(killed, 2);
  EXPECT_EQ(tril({"pull", "acme/model"}).code, 0);
  EXPECT_EQ(file_text(snapshot() + "/source.spm"), large);
  std::uint64_t ranged = 0;
  for (const test::WebRequest& r : hub_.store_requests()) ranged += !r.header("range").empty();
  EXPECT_GE(ranged, 1u) << "something was gone on with";
}

TEST_F(Pull, TwoAtOnceGiveOneGoodResult) {
  hub_.add("target.spm", test::noise(500'000), true);
  std::vector<std::thread> threads;
  std::vector<Ran> ran(3);
  for (Ran& one : ran) threads.emplace_back([&] { one = tril({"pull", "acme/model"}); });
  for (std::thread& t : threads) t.join();
  for (const Ran& one : ran) EXPECT_EQ(one.out, snapshot() + "\n") << one.err;
  EXPECT_EQ(file_text(snapshot() + "/target.spm"), test::noise(500'000));
}

TEST_F(Pull, AProxyIsUsed) {
  const Launch l = launch("http://hub.invalid", {{"http_proxy", hub_.endpoint()}, {"no_proxy", "127.0.0.1"}});
  const Ran ran = run_tril({"pull", "acme/model"}, l);
  EXPECT_EQ(ran.out, snapshot() + "\n") << ran.err;
}

TEST_F(Pull, ErrorsAreFailuresWithTheirRemedy) {
  const Ran ran = tril({"pull", "acme/other"}, {{"HF_TOKEN", "hf_secret"}});
  EXPECT_EQ(ran.code, 1);
  EXPECT_NE(ran.err.find("no such model"), std::string::npos) << ran.err;
  EXPECT_EQ(ran.err.find("hf_secret"), std::string::npos) << ran.err;
  EXPECT_EQ(hub_.requests().back().header("authorization"), "Bearer hf_secret");
}

TEST_F(Pull, OtherCommandsTakeNamesToo) {
  ASSERT_EQ(tril({"pull", "acme/model"}).code, 0);
  for (const std::vector<std::string>& args :
       {std::vector<std::string>{"quantize", "-m", "acme/model", "-o", folder_.at("small")},
        {"translate", "-m", "acme/model", "--models", "acme/model"},
        {"translate", "-m", "acme/model", "--draft-model", "acme/model", "-b", "1"}}) {
    const Ran ran = tril(args);
    EXPECT_EQ(ran.code, 0) << args[0] << ran.err;
  }
}

TEST_F(Pull, ServersTakeNamesOfAdapters) {
  hub_.remove("config.json");
  hub_.add("adapter_config.json", "{");
  hub_.add("adapter_model.safetensors", test::noise(1000), true);
  const auto serve = [&](const std::string& adapter, const std::vector<std::string>& more = {}) {
    std::vector<std::string> args{"serve", "--port", "0", "-m", "base=" + folder_.at("model"), "--adapter", adapter};
    args.insert(args.end(), more.begin(), more.end());
    return tril(args);
  };
  const Ran without = serve("legal=acme/model");
  EXPECT_EQ(without.code, 1);
  EXPECT_NE(without.err.find("tril pull acme/model"), std::string::npos) << without.err;
  const Ran with = serve("legal=acme/model", {"--pull"});
  EXPECT_EQ(with.code, 2);
  EXPECT_NE(with.err.find(snapshot()), std::string::npos) << "it is opened: " << with.err;
  const std::size_t asked = hub_.requests().size();
  const Ran nameless = serve("acme/model", {"--pull"});
  EXPECT_EQ(nameless.code, 2);
  EXPECT_NE(nameless.err.find("NAME=DIR"), std::string::npos) << nameless.err;
  EXPECT_EQ(hub_.requests().size(), asked);
}

}  // namespace
}  // namespace tril
