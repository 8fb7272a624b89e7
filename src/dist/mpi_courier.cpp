// Courier on MPI.
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <exception>
#include <mutex>
#include <thread>
#include <utility>

#include "base/as_size.h"
#include "base/error.h"
#include "base/log.h"
#include "dist/courier.h"
#include "dist/survivors.h"

namespace tril::dist {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int life_tag = small_tag + 1;                   // tag of heartbeats
constexpr std::size_t most_bytes = std::size_t{1} << 30;  // the largest single MPI message, whose count is an int

// The interval at which messages make progress while nobody waits. It leaves the core to the threads that compute on it (an
// interval of 200 microseconds took 4% of the core), and is shorter than the 3.4 ms that 4 MiB take at 10 Gbit/s.
constexpr std::chrono::milliseconds pause_beside_work{2};
constexpr int rounds_before_yielding = 64;

// A failed MPI call, possibly because a rank has died.
struct CallFailed : Error {
  using Error::Error;
};

void check_mpi(int status, const char* call) {
  if (status == MPI_SUCCESS) return;
  char text[MPI_MAX_ERROR_STRING];
  int length = 0;
  MPI_Error_string(status, text, &length);
  throw CallFailed(ErrorKind::failure, "MPI", std::string(call) + ": " + std::string(text, as_size(length)));
}

// MPI_Finalize waits for all ranks, without a limit, and nothing can interrupt it. If it takes longer than `silence`, this
// process ends with an error. Then the launcher ends the others; with ULFM, it waits for the stopped one. The time is counted in
// short waits, so that a process that was itself stopped does not blame others.
void finalize(std::chrono::milliseconds silence) {
  constexpr int waits = 8;
  std::mutex mutex;
  std::condition_variable returned;
  bool finalized = false;
  std::thread watch([&] {
    std::unique_lock lock(mutex);
    for (int i = 0; i < waits; ++i)
      if (returned.wait_for(lock, silence / waits, [&] { return finalized; })) return;
    logger()->error(
        "MPI: all work is done, but a rank has not left the job for {:g} s: it was stopped, or its machine is down",
        std::chrono::duration<double>(silence).count());
    std::fflush(nullptr);
    _exit(EXIT_FAILURE);
  });
  MPI_Finalize();
  {
    const std::lock_guard lock(mutex);
    finalized = true;
  }
  returned.notify_one();
  watch.join();
}

// Kept by the courier's thread until it is done.
struct MpiTransfer : Transfer {
  std::vector<Outgoing> outgoing;
  std::vector<Incoming> incoming;
  std::vector<MPI_Request> requests;  // used only by the courier's thread
  bool done = false;                  // guarded by the courier's lock
};

// The thread that talks to MPI. If a rank is lost, it goes on with the others at once, so that each still hears from
// its neighbour; submitted messages are refused until resume().
class MpiCourier : public Courier {
 public:
  MpiCourier(MPI_Comm comm, int rank, int size, const RanksOptions& options)
      : options_(options), left_(numbers_to(size)), comm_(comm), rank_(rank), size_(size) {
    thread_ = std::thread([this] { serve(); });
  }
  ~MpiCourier() override { stop(false); }

  // @param at_once  does not wait for messages under way
  void stop(bool at_once) {
    {
      const std::lock_guard lock(mutex_);
      ending_ = true;
      leaving_ = at_once;
    }
    work_came_.notify_one();
    if (thread_.joinable()) thread_.join();
    const std::lock_guard lock(mutex_);
    if (!problem_)
      problem_ = std::make_exception_ptr(Error(ErrorKind::failure, "MPI", "pending messages were abandoned"));
    transfer_done_.notify_all();
  }
  void abandon() override {
    {
      const std::lock_guard lock(mutex_);
      if (lost_) return;
    }
    stop(true);
  }
  void finish(bool clean, bool lost_some) override {
    stop(!clean);
    // After an error, the launcher ends the ranks. After a loss, Open MPI 5.0 may wait for the lost one.
    if (clean && !lost_some) finalize(options_.silence);
  }
  void expect_the_end() override {
    const std::lock_guard lock(mutex_);
    all_done_ = true;
  }
  bool ended() override {
    const std::lock_guard lock(mutex_);
    return problem_ || lost_;
  }
  Survivors resume() override {
    const std::lock_guard lock(mutex_);
    if (problem_) std::rethrow_exception(problem_);
    std::vector<int> left = std::exchange(left_, numbers_to(static_cast<int>(left_.size())));
    lost_ = false;
    return {.rank = new_rank_, .left = std::move(left)};
  }

  Ranks::Ticket submit(std::span<const Outgoing> outgoing, std::span<const Incoming> incoming) override {
    auto t = std::make_shared<MpiTransfer>();
    t->outgoing.assign(outgoing.begin(), outgoing.end());
    t->incoming.assign(incoming.begin(), incoming.end());
    {
      const std::lock_guard lock(mutex_);
      if (!lost_) submitted_.push_back(t);
    }
    work_came_.notify_one();
    return t;
  }

  Outcome wait(const Ranks::Ticket& ticket) override {
    const auto& t = static_cast<const MpiTransfer&>(*ticket);
    std::unique_lock lock(mutex_);
    ++waiting_;
    work_came_.notify_one();
    transfer_done_.wait(lock, [&] { return t.done || problem_ || lost_; });
    --waiting_;
    if (t.done) return {};
    if (lost_ && !problem_) return {.left = left_};
    if (silent_) return {.silent = silent_};
    std::rethrow_exception(problem_);
  }

 private:
  using Ours = std::shared_ptr<MpiTransfer>;

  void serve() {
    try {
      begin_to_listen();
      while (go_on()) {
      }
    } catch (...) {
      const std::lock_guard lock(mutex_);
      problem_ = std::current_exception();
      transfer_done_.notify_all();
    }
    if (listening_ != MPI_REQUEST_NULL) {
      MPI_Cancel(&listening_);
      MPI_Request_free(&listening_);
    }
  }

  // step(); if it fails because a rank has died, recovers without that rank.
  bool go_on() {
    try {
      return step();
    } catch (const CallFailed&) {
      if (!outlives_ || leaves()) throw;
      const int before = size_;
      shrink();
      if (size_ == before) throw;  // no rank is missing: it is another error
    }
    return true;
  }

  bool leaves() {
    const std::lock_guard lock(mutex_);
    return leaving_ || all_done_;
  }

  // Replaces the communicator by one of the surviving ranks. Threads that wait for a message are woken only after
  // MPI has stopped using the message's memory.
  void shrink() {
    const Clock::time_point latest = Clock::now() + options_.silence;
    revoke(comm_);
    for (const Ours& t : running_)
      for (MPI_Request& r : t->requests) take_back(r, latest);
    running_.clear(), fresh_.clear();
    for (MPI_Request* r : {&listening_, &sending_}) take_back(*r, latest);

    const MPI_Comm left = survivors_of(comm_, latest);
    int rank = 0, size = 0;
    MPI_Comm_rank(left, &rank);
    MPI_Comm_size(left, &size);
    std::vector<int> numbers = numbers_to(size), before(numbers.size());
    MPI_Group group_before = MPI_GROUP_NULL, group = MPI_GROUP_NULL;
    MPI_Comm_group(comm_, &group_before);
    MPI_Comm_group(left, &group);
    MPI_Group_translate_ranks(group, size, numbers.data(), group_before, before.data());
    MPI_Group_free(&group_before);
    MPI_Group_free(&group);
    comm_ = left, rank_ = rank, size_ = size;
    begin_to_listen();
    const std::lock_guard lock(mutex_);
    for (int& number : before) number = left_[as_size(number)];
    left_ = std::move(before);
    new_rank_ = rank;
    submitted_.clear();
    lost_ = true;
    transfer_done_.notify_all();
  }

  // Takes submitted transfers, moves messages on, and sleeps if nothing is urgent. Returns false at the end.
  bool step() {
    bool hurry = false;
    {
      std::unique_lock lock(mutex_);
      if (leaving_) return false;
      if (running_.empty() && submitted_.empty()) {
        if (ending_) return false;
        work_came_.wait_for(lock, beat_every(), [&] { return ending_ || !submitted_.empty(); });
      }
      for (; !submitted_.empty(); submitted_.pop_front())
        running_.push_back(submitted_.front()), fresh_.push_back(running_.back());
      hurry = waiting_ > 0;
    }
    for (const Ours& t : fresh_) post(*t);
    fresh_.clear();
    bool moved = false;
    for (std::size_t i = 0; i < running_.size();) {
      int all = 0;
      check_mpi(MPI_Testall(static_cast<int>(running_[i]->requests.size()), running_[i]->requests.data(), &all,
                            MPI_STATUSES_IGNORE),
                "MPI_Testall");
      if (!all) {
        ++i;
        continue;
      }
      moved = true;
      {
        const std::lock_guard lock(mutex_);
        running_[i]->done = true;
      }
      transfer_done_.notify_all();
      running_.erase(running_.begin() + static_cast<std::ptrdiff_t>(i));
    }
    live();
    if (moved || running_.empty()) {
      idle_rounds_ = 0;
    } else if (!hurry) {
      std::unique_lock lock(mutex_);
      work_came_.wait_for(lock, pause_beside_work, [&] { return waiting_ > 0 || leaving_ || !submitted_.empty(); });
    } else if (++idle_rounds_ > rounds_before_yielding) {
      sched_yield();  // there may be more ranks than cores
    }
    return true;
  }

  void post(MpiTransfer& t) {
    const auto each_part = [](std::size_t size, const auto& f) {
      for (std::size_t at = 0; at < size; at += most_bytes) f(at, static_cast<int>(std::min(most_bytes, size - at)));
    };
    for (const Incoming& m : t.incoming)
      each_part(m.bytes.size(), [&](std::size_t at, int count) {
        t.requests.push_back(MPI_REQUEST_NULL);
        check_mpi(MPI_Irecv(m.bytes.data() + at, count, MPI_BYTE, m.from, m.tag, comm_, &t.requests.back()),
                  "MPI_Irecv");
      });
    for (const Outgoing& m : t.outgoing)
      each_part(m.bytes.size(), [&](std::size_t at, int count) {
        t.requests.push_back(MPI_REQUEST_NULL);
        check_mpi(MPI_Isend(m.bytes.data() + at, count, MPI_BYTE, m.to, m.tag, comm_, &t.requests.back()), "MPI_Isend");
      });
  }

  std::chrono::milliseconds beat_every() const {
    return std::clamp(options_.silence / 8, std::chrono::milliseconds(1), std::chrono::milliseconds(1000));
  }

  Clock::time_point time_now() const { return options_.now ? options_.now() : Clock::now(); }
  void begin_to_listen() { beat_ = heard_ = looked_ = time_now(); }
  void listen() { check_mpi(MPI_Irecv(&sign_, 1, MPI_BYTE, before(), life_tag, comm_, &listening_), "MPI_Irecv"); }

  // Sends a heartbeat to the next rank and checks that of the previous one.
  void live() {
    if (size_ == 1) return;
    const Clock::time_point now = time_now();
    if (listening_ == MPI_REQUEST_NULL) listen();
    int came = 0;
    check_mpi(MPI_Test(&listening_, &came, MPI_STATUS_IGNORE), "MPI_Test");
    // A process that was itself stopped first receives what arrived meanwhile.
    const bool was_away = now - looked_ > options_.silence / 2;
    looked_ = now;
    if (came || was_away) heard_ = now;
    if (now - heard_ > options_.silence) {
      {
        const std::lock_guard lock(mutex_);
        silent_ = before();
      }
      fail("MPI", "a rank does not respond");
    }
    if (now - beat_ < beat_every()) return;
    beat_ = now;
    if (outlives_ && some_have_died(comm_)) throw CallFailed(ErrorKind::failure, "MPI", "a rank has died");
    if (sending_ != MPI_REQUEST_NULL) {
      int gone = 0;
      check_mpi(MPI_Test(&sending_, &gone, MPI_STATUS_IGNORE), "MPI_Test");
      if (!gone) return;  // it is not received: do not queue more heartbeats
    }
    check_mpi(MPI_Isend(&sign_sent_, 1, MPI_BYTE, (rank_ + 1) % size_, life_tag, comm_, &sending_), "MPI_Isend");
  }

  int before() const { return (rank_ + size_ - 1) % size_; }

  const RanksOptions options_;
  const bool outlives_ = dist::outlives_ranks();  // a rank's death does not end the job
  std::mutex mutex_;
  std::condition_variable work_came_, transfer_done_;
  std::deque<Ours> submitted_;
  int waiting_ = 0;
  bool ending_ = false, leaving_ = false, all_done_ = false;
  std::exception_ptr problem_;
  std::optional<int> silent_;
  bool lost_ = false;      // and not yet resumed
  std::vector<int> left_;  // by rank: its number before the losses that resume() has not yet reported
  int new_rank_ = 0;

  // Used only by the thread.
  MPI_Comm comm_;
  int rank_, size_;
  std::vector<Ours> running_, fresh_;
  int idle_rounds_ = 0;
  Clock::time_point beat_, heard_, looked_;
  MPI_Request listening_ = MPI_REQUEST_NULL, sending_ = MPI_REQUEST_NULL;
  char sign_ = 0, sign_sent_ = 0;
  std::thread thread_;
};

}  // namespace

World join_world(const RanksOptions& options) {
  int given = MPI_THREAD_SINGLE;
  check_mpi(MPI_Init_thread(nullptr, nullptr, MPI_THREAD_SERIALIZED, &given), "MPI_Init_thread");
  if (given < MPI_THREAD_SERIALIZED)
    fail("MPI", "this MPI library can be called only by the main thread",
         "use an MPI library built with thread support");
  MPI_Comm comm = MPI_COMM_WORLD;
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  World world;
  world.outlives_ranks = outlives_ranks();
  if (world.outlives_ranks) {
    end_job_with_this_process();
    check_mpi(MPI_Comm_dup(MPI_COMM_WORLD, &comm), "MPI_Comm_dup");  // so that revoking leaves MPI_COMM_WORLD alone
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  }
  MPI_Comm_rank(comm, &world.rank);
  MPI_Comm_size(comm, &world.size);
  world.courier = std::make_unique<MpiCourier>(comm, world.rank, world.size, options);
  return world;
}

}  // namespace tril::dist
