// `tril train` killed, restarted, and told to stop.
#include <gtest/gtest.h>
#include <signal.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <thread>

#include "base/rng.h"
#include "support/run_program.h"
#include "support/train_program.h"

namespace tril::train_stops_test {
namespace {

using test::records;
using test::run_with_signal;
using test::wait_for;
using Data = test::TrainData;

TEST(Train, KilledAtRandomPointsEndsWithTheSameBits) {
  const Data data;
  const auto start = std::chrono::steady_clock::now();
  const Ran whole = run_tril(data.train("whole"));
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  ASSERT_EQ(whole.code, 0) << whole.err;

  const char* wanted = std::getenv("TRIL_KILLS");  // a soak asks for more
  const int kills = wanted ? std::atoi(wanted) : 8;
  const auto seed = static_cast<std::uint64_t>(start.time_since_epoch().count());
  SCOPED_TRACE("seed " + std::to_string(seed));
  RandomSequence random(seed, 1);
  int killed = 0, finished = 0;
  Ran last;
  const std::string state = "/checkpoint/state-00000300/weights.safetensors";
  const auto expect_equal = [&] {
    for (const std::string& file : {state, std::string("/model.safetensors"), std::string("/vocab.json")}) {
      const std::string expected = file_text(data.folder.at("whole" + file));
      EXPECT_FALSE(expected.empty()) << file;
      EXPECT_TRUE(file_text(data.folder.at("killed" + file)) == expected) << file << " after " << killed << " kills";
    }
    // No record is lost, doubled or cut.
    for (const std::string& file : {std::string("/train.jsonl"), std::string("/samples.jsonl")}) {
      const std::vector<std::string> expected = records(data.folder.at("whole" + file));
      EXPECT_GE(expected.size(), 15u);
      EXPECT_EQ(records(data.folder.at("killed" + file)), expected) << file << " after " << killed << " kills";
    }
  };
  // A finished run is compared, and another begins.
  while (killed < kills && finished < kills + 10) {
    const double delay = random.uniform() * seconds * 0.4;
    last = run_with_signal(data.train("killed"), SIGKILL,
                           [&] { std::this_thread::sleep_for(std::chrono::duration<double>(delay)); });
    if (last.signal == SIGKILL) {
      ++killed;
      continue;
    }
    ASSERT_EQ(last.code, 0) << last.err;
    ++finished;
    expect_equal();
    std::filesystem::remove_all(data.folder.at("killed"));
  }
  EXPECT_EQ(killed, kills) << finished << " runs came to their end";
  last = run_tril(data.train("killed"));
  ASSERT_EQ(last.code, 0) << last.err;
  expect_equal();
}

TEST(Train, KilledBeforeItsFirstFiguresIsStillToldFromItsBeginning) {
  const Data data;
  const auto args = [&](const std::string& model) {
    return data.train(model, {"--disp-freq", "200u", "--valid-freq", "200u"});
  };
  ASSERT_EQ(run_tril(args("whole")).code, 0);
  run_with_signal(args("killed"), SIGKILL,
                  [&] { wait_for(data.folder.at("killed/checkpoint/last"), "state-", "state-00000000"); });
  ASSERT_EQ(run_tril(args("killed")).code, 0);
  EXPECT_EQ(records(data.folder.at("killed/train.jsonl")), records(data.folder.at("whole/train.jsonl")));
}

TEST(Train, TermIntAndHangUpSaveAndExitWithZero) {
  const Data data;
  for (int signal : {SIGTERM, SIGINT, SIGHUP}) {
    const std::string model = "signal" + std::to_string(signal);
    // A first run makes the checkpoint, so that the signal arrives during training and not while the vocabulary is learned.
    ASSERT_EQ(run_tril(data.train(model, {"--after", "1u"})).code, 0);
    const Ran ran = run_with_signal(data.train(model, {"--after", "100000u", "--save-freq", "0"}), signal,
                                    [&] { wait_for(data.folder.at(model + "/train.jsonl"), "\"update\":20,"); });
    EXPECT_EQ(ran.code, 0) << ran.err;
    EXPECT_TRUE(contains(ran.err, "stopped and saved")) << ran.err;
    const std::string last = file_text(data.folder.at(model + "/checkpoint/last"));
    EXPECT_GT(last, "state-00000001\n");
    EXPECT_TRUE(std::filesystem::exists(data.folder.at(model + "/config.json")));
  }
}

// An update of very many batches does not delay a stop; it is repeated on resume.
TEST(Train, ASignalBreaksOffALongUpdate) {
  const Data data;
  for (const bool in_order : {false, true}) {
    SCOPED_TRACE(in_order);
    std::vector<std::string> args =
        data.train(in_order ? "ordered" : "any", {"--after", "4u", "--accumulate", "20000"});
    if (in_order) args.emplace_back("--deterministic");
    const std::string last = data.folder.at(std::string(in_order ? "ordered" : "any") + "/checkpoint/last");
    const Ran ran = run_with_signal(args, SIGTERM, [&] {
      wait_for(last, "state-00000000");  // it is written right before the first update
      std::this_thread::sleep_for(std::chrono::milliseconds(200));
    });
    EXPECT_EQ(ran.code, 0) << ran.err;
    EXPECT_TRUE(contains(ran.err, "stopped and saved")) << ran.err;
    EXPECT_EQ(file_text(last), "state-00000000\n");
  }
}

// A run that was stopped and resumed reports the figures of an uninterrupted one.
TEST(Train, FiguresAreThoseOfAnUndisturbedRunHoweverOftenItWasStopped) {
  const Data data;
  const auto args = [&](const std::string& model) {
    return data.train(model, {"--disp-freq", "50u", "--after", "420u", "--save-freq", "7u", "--valid-freq", "100u"});
  };
  const Ran whole = run_tril(args("whole"));
  ASSERT_EQ(whole.code, 0) << whole.err;
  int stopped = 0;
  for (const char* until : {"state-000000", "state-000001", "state-000002", "state-000003"}) {
    const std::string last = data.folder.at("stopped/checkpoint/last");
    const Ran ran = run_with_signal(args("stopped"), SIGTERM, [&] { wait_for(last, until, "state-00000000"); });
    ASSERT_EQ(ran.code, 0) << ran.err;
    if (!contains(ran.err, "stopped and saved")) continue;  // it had just finished
    ++stopped;
    EXPECT_TRUE(contains(ran.err, "signal received")) << ran.err;
    EXPECT_TRUE(contains(file_text(data.folder.at("stopped/train.jsonl")), "\"interval\":\"unfinished\""))
        << "or was due";
  }
  EXPECT_GE(stopped, 2);
  ASSERT_EQ(run_tril(args("stopped")).code, 0);
  EXPECT_EQ(records(data.folder.at("stopped/train.jsonl")), records(data.folder.at("whole/train.jsonl")));
  EXPECT_TRUE(file_text(data.folder.at("stopped/model.safetensors")) ==
              file_text(data.folder.at("whole/model.safetensors")));
}

}  // namespace
}  // namespace tril::train_stops_test
