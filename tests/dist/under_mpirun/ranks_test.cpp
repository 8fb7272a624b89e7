// Operations of several processes: every rank runs the same tests in the same order (see tests/CMakeLists.txt). If one
// fails before a message, the others wait until the program's time limit.
#include "dist/ranks.h"
#include "dist/launch.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <iostream>
#include <stdexcept>
#include <thread>

#include "base/cores.h"
#include "base/error.h"
#include "base/rng.h"
#include "dist/survivors.h"  // mpi.h

namespace tril::dist {
namespace {

std::shared_ptr<Ranks> ranks;  // of this process

// Milliseconds by which all ranks' clocks are ahead, in memory that the ranks share; null: by none.
std::atomic<std::atomic<std::int64_t>*> ahead;

std::chrono::steady_clock::time_point shared_clock() {
  const auto* const by = ahead.load();
  return std::chrono::steady_clock::now() + std::chrono::milliseconds(by ? by->load() : 0);
}

int next() {
  return (ranks->rank() + 1) % ranks->size();
}
int before() {
  return (ranks->rank() + ranks->size() - 1) % ranks->size();
}

// What rank `from` sends as its message `number`.
std::vector<std::byte> message(int from, std::size_t number, std::size_t size) {
  std::vector<std::byte> bytes(size);
  std::uint64_t state = static_cast<std::uint64_t>(from) * 1'000'003 + number * 7919 + 1;
  for (std::byte& b : bytes) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    b = static_cast<std::byte>(state >> 56);
  }
  return bytes;
}

TEST(Ranks, EachIsItselfAndKnowsTheOthers) {
  const Launch launch = launch_of_environment();
  EXPECT_EQ(launch.rank, ranks->rank());
  EXPECT_EQ(launch.size, ranks->size());
  EXPECT_EQ(ranks->first(), ranks->rank() == 0);
  EXPECT_EQ(ranks->sharers(), ranks->size()) << "all are on this machine, and none is tied to cores of its own";
  EXPECT_EQ(ranks->sharers_before(), ranks->rank());
  EXPECT_EQ(ranks->share_of_cores(), std::max(1, thread_count(0) / ranks->size()));
  char host[256] = {};
  gethostname(host, sizeof host - 1);
  EXPECT_EQ(name_of(launch), fmt::format("rank {} ({})", ranks->rank(), host));
  for (int r = 0; r < ranks->size() && ranks->size() > 1; ++r)
    EXPECT_EQ(ranks->name_of(r), fmt::format("rank {} ({})", r, host));
}

TEST(Ranks, GatherPartsOfAnySize) {
  for (const std::size_t unit : {0, 1, 1000, 300'000}) {
    const auto size_of = [&](int rank) { return unit * static_cast<std::size_t>(rank); };  // the first sends nothing
    const auto all = ranks->all_gather(message(ranks->rank(), unit, size_of(ranks->rank())));
    ASSERT_EQ(all.size(), static_cast<std::size_t>(ranks->size()));
    for (int r = 0; r < ranks->size(); ++r)
      EXPECT_TRUE(all[static_cast<std::size_t>(r)] == message(r, unit, size_of(r))) << unit << " of rank " << r;
  }
  std::vector<std::string> expected;
  for (int r = 0; r < ranks->size(); ++r) expected.push_back(fmt::format("of {}", r));
  EXPECT_EQ(ranks->all_gather(fmt::format("of {}", ranks->rank())), expected);
  EXPECT_EQ(ranks->broadcast(fmt::format("of {}", ranks->rank())), "of 0");
}

TEST(Ranks, SumInTheirOrder) {
  const auto given = [](int rank) {
    RandomSequence random(static_cast<std::uint64_t>(rank), 1);
    std::vector<double> values(1000);
    for (double& v : values) v = random.normal() * std::pow(10.0, static_cast<double>(random.below(30)));
    return values;
  };
  std::vector<double> sums = given(ranks->rank()), expected(sums.size());
  ranks->all_reduce(sums);
  for (int r = 0; r < ranks->size(); ++r) {
    const std::vector<double> theirs = given(r);
    for (std::size_t i = 0; i < theirs.size(); ++i) expected[i] = r == 0 ? theirs[i] : expected[i] + theirs[i];
  }
  EXPECT_EQ(sums, expected);
}

TEST(Ranks, SumsOfOtherLengthsNameWhoGaveThem) {
  if (ranks->size() == 1) return;
  std::vector<double> values(ranks->rank() == 1 ? 3 : 2);
  try {
    ranks->all_reduce(values);
    FAIL();
  } catch (const Error& e) {
    EXPECT_EQ(e.where(), ranks->name_of(ranks->rank() == 1 ? 0 : 1)) << e.what();
  }
}

TEST(Ranks, MessagesOfAnySizeArriveWhole) {
  constexpr std::size_t mega = std::size_t{1} << 20;
  std::size_t number = 0;
  for (const std::size_t size : {std::size_t{0}, std::size_t{1}, std::size_t{4095}, std::size_t{4097}, 65 * mega / 64,
                                 mega, 7 * mega + 3, 64 * mega}) {
    const std::vector<std::byte> given = message(ranks->rank(), ++number, size);
    std::vector<std::byte> came(size);
    const Outgoing out{next(), given, 3};
    const Incoming in{before(), came, 3};
    ranks->wait(ranks->start({&out, 1}, {&in, 1}));
    EXPECT_TRUE(came == message(before(), number, size)) << size;
  }
}

TEST(Ranks, WhatSeveralThreadsHaveUnderWayIsNotMixedUp) {
  constexpr std::size_t threads = 4, messages = 60;
  const auto size_of = [](std::size_t thread, std::size_t i) { return (i * 7919 + thread * 131) % 50'000; };
  const auto converse = [&](std::size_t thread) {
    std::vector<std::vector<std::byte>> given, came;
    std::vector<Ranks::Ticket> tickets;
    for (std::size_t i = 0; i < messages; ++i) {
      given.push_back(message(ranks->rank(), thread * messages + i, size_of(thread, i)));
      for (int r = 0; r < ranks->size(); ++r) came.emplace_back(size_of(thread, i));
    }
    const auto n = static_cast<std::size_t>(ranks->size());
    for (std::size_t i = 0; i < messages; ++i) {
      std::vector<Outgoing> out;
      std::vector<Incoming> in;
      for (int r = 0; r < ranks->size(); ++r) {
        out.push_back({r, given[i], static_cast<int>(thread)});
        in.push_back({r, came[i * n + static_cast<std::size_t>(r)], static_cast<int>(thread)});
      }
      // Receives and sends in one call, or in separate calls.
      if (i % 2) {
        tickets.push_back(ranks->start(out, in));
      } else {
        tickets.push_back(ranks->start({}, in));
        tickets.push_back(ranks->start(out, {}));
      }
    }
    for (std::size_t i = tickets.size(); i-- > 0;) ranks->wait(tickets[i]);
    for (std::size_t i = 0; i < messages; ++i)
      for (int r = 0; r < ranks->size(); ++r)
        EXPECT_TRUE(came[i * n + static_cast<std::size_t>(r)] == message(r, thread * messages + i, size_of(thread, i)))
            << "message " << i << " of thread " << thread << " of rank " << r;
  };
  std::vector<std::thread> team;
  for (std::size_t t = 0; t < threads; ++t) team.emplace_back(converse, t);
  for (std::thread& t : team) t.join();
}

// A small message does not overtake an earlier large one.
TEST(Ranks, MessagesOfOneTagKeepTheirOrder) {
  constexpr std::size_t count = 40;
  const auto size_of = [](std::size_t i) { return i % 3 == 0 ? std::size_t{600'000} : std::size_t{9}; };
  std::vector<std::vector<std::byte>> given, came;
  for (std::size_t i = 0; i < count; ++i)
    given.push_back(message(ranks->rank(), i, size_of(i))), came.emplace_back(size_of(i));
  std::vector<Ranks::Ticket> tickets;
  std::vector<Incoming> in;
  for (std::size_t i = 0; i < count; ++i) in.push_back({before(), came[i], 5});
  const auto give = [&] {
    for (std::size_t i = 0; i < count; ++i) {
      const Outgoing out{next(), given[i], 5};
      tickets.push_back(ranks->start({&out, 1}, {}));
    }
  };
  if (ranks->rank() % 2) give();  // some send before they receive
  tickets.push_back(ranks->start({}, in));
  if (ranks->rank() % 2 == 0) give();
  for (const Ranks::Ticket& t : tickets) ranks->wait(t);
  for (std::size_t i = 0; i < count; ++i) EXPECT_TRUE(came[i] == message(before(), i, size_of(i))) << i;
}

TEST(Ranks, WorkTogetherAndLearnOfAFailure) {
  int done = 0;
  ranks->together([&] { ++done; });
  EXPECT_EQ(done, 1);
  for (int failing = 0; failing < ranks->size(); ++failing) {
    try {
      ranks->together([&] {
        if (ranks->rank() == failing) fail_usage("the disk", "is full", "buy another");
      });
      FAIL() << "rank " << failing << " has failed";
    } catch (const Error& e) {
      const bool own = ranks->rank() == failing;
      EXPECT_EQ(e.where(), own ? "the disk" : ranks->name_of(failing));
      EXPECT_NE(std::string(e.what()).find("is full"), std::string::npos) << e.what();
      EXPECT_EQ(e.kind(), own ? ErrorKind::usage : ErrorKind::failure) << "only who asked for it can mend it";
    }
  }
  // An exception without a message counts too.
  EXPECT_ANY_THROW(ranks->together([&] {
    if (ranks->rank() == ranks->size() - 1) throw std::runtime_error("");
  }));
  // If all fail, each keeps its own error.
  try {
    ranks->together([&] { fail("rank", std::to_string(ranks->rank())); });
    FAIL();
  } catch (const Error& e) {
    EXPECT_EQ(std::string(e.what()).find("rank: " + std::to_string(ranks->rank())), 0u) << e.what();
  }
}

TEST(Ranks, MeetWhoeverIsLate) {
  const auto now = [] {
    return std::chrono::steady_clock::now().time_since_epoch().count();
  };  // one clock for the whole machine
  if (ranks->rank() == ranks->size() - 1) std::this_thread::sleep_for(std::chrono::milliseconds(150));
  const auto came = now();
  ranks->barrier();
  const auto left = now();
  for (const std::string& other : ranks->all_gather(std::to_string(came))) EXPECT_GE(left, std::stoll(other));
}

std::vector<pid_t> processes() {
  std::vector<pid_t> list;
  for (const std::string& pid : ranks->all_gather(std::to_string(getpid()))) list.push_back(std::stoi(pid));
  return list;
}

// A rank that stops for good is named by the next.
int meet_a_silent_rank() {
  const std::vector<pid_t> pids = processes();
  ranks->barrier();
  if (ranks->rank() == ranks->size() - 1) raise(SIGSTOP);
  std::byte never{};
  const Incoming in{ranks->size() - 1, {&never, 1}, 0};
  try {
    ranks->wait(ranks->start({}, {&in, 1}));
  } catch (const Error& e) {
    std::cerr << e.what() << "\n";
    for (pid_t pid : pids)
      if (pid != getpid()) kill(pid, SIGKILL);
    return 1;
  }
  return 0;
}

// Puts `ahead` into a file that all ranks map.
void share_clock() {
  std::string path;
  if (ranks->first()) {
    path = testing::TempDir() + "tril_ranks_clock_XXXXXX";
    const int made = mkstemp(path.data());
    if (made < 0 || ftruncate(made, sizeof *ahead.load()) != 0) throw std::runtime_error("cannot make " + path);
    close(made);
  }
  path = ranks->broadcast(path);
  const int file = open(path.c_str(), O_RDWR);
  void* const memory = mmap(nullptr, sizeof *ahead.load(), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (memory == MAP_FAILED) throw std::runtime_error("cannot map " + path);
  close(file);
  ahead = static_cast<std::atomic<std::int64_t>*>(memory);
  ranks->barrier();
  if (ranks->first()) unlink(path.c_str());
}

// By system calls alone, for a child of a process with several threads.
bool is_stopped(pid_t pid) {
  char path[64], text[512];
  std::snprintf(path, sizeof path, "/proc/%d/stat", pid);
  const int file = open(path, O_RDONLY);
  const ssize_t n = read(file, text, sizeof text);
  close(file);
  return n > 0 && std::string_view(text, static_cast<std::size_t>(n)).find(") T ") != std::string_view::npos;
}

// The machine sleeps and wakes: no rank was reachable, and all continue. While every rank is stopped, their clocks are
// moved ahead by more than the silence that is allowed, so the test needs no time and does not depend on any.
int sleep_together() {
  constexpr std::int64_t night = 180'000;
  const std::vector<pid_t> pids = processes();
  share_clock();
  for (std::int64_t nights = 1; nights <= 5; ++nights) {
    ranks->barrier();
    pid_t child = -1;
    if (ranks->first() && (child = fork()) == 0) {
      for (pid_t pid : pids) kill(pid, SIGSTOP);
      while (!std::all_of(pids.begin(), pids.end(), is_stopped)) usleep(1000);
      ahead.load()->fetch_add(night);
      for (pid_t pid : pids) kill(pid, SIGCONT);
      _exit(0);
    }
    for (double awake = 0; awake < ranks->size();) {  // all leave the loop together
      awake = ahead.load()->load() == nights * night ? 1 : 0;
      ranks->all_reduce({&awake, 1});
    }
    for (int i = 0; i < 3; ++i) ranks->barrier();  // each looks for heartbeats
    if (child > 0) waitpid(child, nullptr, 0);
  }
  if (ranks->first()) std::cerr << "all have gone on\n";
  return 0;
}

// One rank fails and frees memory into which a message is being received.
int leave_in_the_middle() {
  if (ranks->first()) {
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
    const std::vector<std::byte> given(3000);
    const Outgoing out{1, given, 0};
    ranks->wait(ranks->start({&out, 1}, {}));
    std::this_thread::sleep_for(std::chrono::seconds(20));  // until the launcher ends it
    return 0;
  }
  constexpr std::size_t page = 4096;
  void* const memory = mmap(nullptr, page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  const Incoming in{0, {static_cast<std::byte*>(memory), 3000}, 0};
  const Ranks::Ticket ticket = ranks->start({}, {&in, 1});
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  ranks->abandon();
  munmap(memory, page);
  std::this_thread::sleep_for(std::chrono::milliseconds(700));
  try {
    ranks->wait(ticket);
    ranks->abandon();  // does not come here
  } catch (const Error&) {
    std::cerr << "left unharmed\n";
  }
  ranks.reset();
  return 1;
}

// Large and small messages to all are in flight when some ranks die.
void converse() {
  const std::vector<std::byte> given = message(ranks->rank(), 1, std::size_t{1} << 20);
  std::vector<std::vector<std::byte>> came(static_cast<std::size_t>(ranks->size()), given);
  std::vector<Outgoing> out;
  std::vector<Incoming> in;
  for (int r = 0; r < ranks->size(); ++r) {
    out.push_back({r, given, 7});
    in.push_back({r, came[static_cast<std::size_t>(r)], 7});
  }
  const Ranks::Ticket ticket = ranks->size() > 1 ? ranks->start(out, in) : nullptr;
  ranks->barrier();
  if (ticket) ranks->wait(ticket);
  for (int r = 0; r < ranks->size() && ticket; ++r)
    check(came[static_cast<std::size_t>(r)] == message(r, 1, given.size()), "converse", "other bytes of rank {}", r);
}

std::atomic<bool> stops_in_finalize = false;

// One rank stops when all work is done: before it has told the others, or after that, when MPI_Finalize waits for it.
int stop_at_the_end(bool in_finalize) {
  ranks->barrier();
  if (ranks->rank() == 1) {
    stops_in_finalize = in_finalize;
    if (!in_finalize) raise(SIGSTOP);
  }
  try {
    ranks->leave();
  } catch (const Error& e) {
    std::cerr << e.what() << "\n";
    return 1;
  }
  return 0;
}

// Communicates until the given ranks have died, and continues without them.
std::string outlive(const std::vector<int>& dying) {
  const auto start = std::chrono::steady_clock::now();
  try {
    for (int round = 0;; ++round) {
      if (round == 3 && std::find(dying.begin(), dying.end(), ranks->rank()) != dying.end()) raise(SIGKILL);
      converse();
    }
  } catch (const RankLost& lost) {
    ranks->abandon();  // as code with messages in flight does; nothing is lost
    try {
      ranks->barrier();
      fail("outlive", "messages come through before all know who is lost");
    } catch (const RankLost&) {
    }
    std::string names = ranks->shrink();
    // If several die, some may be noticed later.
    while (std::count(names.begin(), names.end(), '(') < static_cast<std::ptrdiff_t>(dying.size())) {
      try {
        ranks->barrier();
      } catch (const RankLost&) {
        names += ", " + ranks->shrink();
      }
      check(std::chrono::steady_clock::now() - start < std::chrono::seconds(60), "outlive", "lost {} alone", names);
    }
    return names;
  }
}

int go_on_without_the_dead() {
  if (!ranks->outlives_ranks()) fail("test_ranks", "a rank that dies ends this job");
  const std::string second = ranks->name_of(1), last = ranks->name_of(3);
  std::string lost = outlive({1});
  check(lost == second, "lost", "{} instead of {}", lost, second);
  check(ranks->size() == 3 && ranks->sharers() == 3, "left", "{} ranks", ranks->size());
  std::vector<double> sum{1.0 + ranks->rank()};
  ranks->all_reduce(sum);
  check(sum[0] == 6, "sum", "{} of 3 ranks", sum[0]);
  converse();

  // Two at once, including the first; the remaining last one is now the third, and keeps its name.
  check(ranks->name_of(2) == last, "third", "{} instead of {}", ranks->name_of(2), last);
  lost = outlive({0, 2});
  check(ranks->size() == 1 && ranks->first(), "left", "{} ranks", ranks->size());
  converse();
  ranks->all_reduce(sum);
  check(sum[0] == 6, "sum", "{} of one rank", sum[0]);
  std::cerr << "the last one has gone on without " << lost << "\n";
  return 0;
}

// If one died and another is silent, nobody can tell who is left.
int lose_one_and_wait_for_another() {
  ranks->barrier();
  if (ranks->rank() == 1) {
    std::this_thread::sleep_for(std::chrono::milliseconds(200));  // the other one has stopped
    raise(SIGKILL);
  }
  if (ranks->rank() == 2) raise(SIGSTOP);
  try {
    ranks->barrier();
  } catch (const Error& e) {
    std::cerr << e.what() << "\n";
  }
  return 1;
}

}  // namespace
}  // namespace tril::dist

// Takes the place of the library's function, which is PMPI_Finalize too (MPI 4.0, section 15.2).
extern "C" int MPI_Finalize() {
  if (tril::dist::stops_in_finalize) raise(SIGSTOP);
  return PMPI_Finalize();
}

// usage: test_ranks [silent | asleep | leaves | stops-before-the-end | stops-at-the-end | outlives | outlives-silent] [gtest's options]
int main(int argc, char** argv) {
  using namespace tril::dist;
  testing::InitGoogleTest(&argc, argv);
  const std::string mode = argc > 1 ? argv[1] : "";
  const bool silent = mode == "silent" || mode.starts_with("stops-") || mode == "outlives-silent";
  ranks = Ranks::join({.silence = std::chrono::seconds(silent ? 1 : 60), .now = shared_clock});
  if (mode.empty() && !ranks->first()) {  // one rank reports everything, the others only failures
    auto& listeners = testing::UnitTest::GetInstance()->listeners();
    delete listeners.Release(listeners.default_result_printer());
    class Failures : public testing::EmptyTestEventListener {
      void OnTestPartResult(const testing::TestPartResult& r) override {
        if (r.failed())
          std::cerr << ranks->name_of(ranks->rank()) << ": " << r.file_name() << ":" << r.line_number() << ": "
                    << r.message() << "\n";
      }
    };
    listeners.Append(new Failures);
  }
  const int code = mode == "silent"                 ? meet_a_silent_rank()
                   : mode == "asleep"               ? sleep_together()
                   : mode == "leaves"               ? leave_in_the_middle()
                   : mode == "stops-before-the-end" ? stop_at_the_end(false)
                   : mode == "stops-at-the-end"     ? stop_at_the_end(true)
                   : mode == "outlives"             ? go_on_without_the_dead()
                   : mode == "outlives-silent"      ? lose_one_and_wait_for_another()
                                                    : RUN_ALL_TESTS();
  if (code == 0 || mode.empty()) ranks.reset();
  return code;
}
