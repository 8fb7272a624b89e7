#include "decode/batches/parallel.h"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <mutex>
#include <numeric>
#include <system_error>

#include "base/cores.h"
#include "decode/batches/speculator.h"
#include "kern/batch_invariant.h"

namespace tril::search {
namespace {

// Models with at least this many weights are faster if threads share the ops of a single job.
constexpr std::int64_t shared_model = 20'000'000;

bool is_shared(const model::Model& model, int threads) {
  return threads > 1 && model.parameters().count() >= shared_model;
}

}  // namespace

std::unique_ptr<Team> team_of_one(const model::Model& model, int threads, const Placement& placement) {
  return is_shared(model, threads) ? std::make_unique<Team>(threads, placement) : nullptr;
}

std::vector<std::vector<std::size_t>> jobs_by_length(std::span<const std::size_t> lengths, std::size_t job_size) {
  std::vector<std::size_t> order(lengths.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return lengths[a] > lengths[b]; });
  std::vector<std::vector<std::size_t>> jobs;
  for (std::size_t begin = 0; begin < order.size(); begin += job_size) {
    const std::size_t end = std::min(order.size(), begin + job_size);
    jobs.emplace_back(order.begin() + static_cast<std::ptrdiff_t>(begin),
                      order.begin() + static_cast<std::ptrdiff_t>(end));
  }
  return jobs;
}

std::size_t addresses_each(int arenas) {
  constexpr std::size_t all = std::size_t{1} << 46;
  const std::size_t usual =
      2 * static_cast<std::size_t>(sysconf(_SC_PAGESIZE)) * static_cast<std::size_t>(sysconf(_SC_PHYS_PAGES));
  const std::size_t share = all / arenas;
  return share < usual ? share : 0;
}

struct WorkerPool::Worker {
  Worker(const kern::Kernels& kernels, std::size_t addresses) : arena(addresses), context(arena, kernels) {}
  Arena arena;
  Context context;
};

WorkerPool::WorkerPool(int threads, const kern::Kernels& kernels, Placement placement)
    : placement_(std::move(placement)) {
  check(threads >= 1, "threads", "expected at least 1, got {}", threads);
  const std::size_t addresses = addresses_each(threads);
  for (int i = 0; i < threads; ++i) list_.push_back(std::make_unique<Worker>(kernels, addresses));
}

WorkerPool::~WorkerPool() = default;

Context& WorkerPool::context(int worker) {
  return list_[worker]->context;
}

void WorkerPool::run(std::size_t jobs, const std::function<void(Context&, int, std::size_t)>& work) {
  std::atomic<std::size_t> next{0};
  std::mutex mutex;
  std::exception_ptr error;
  const auto run_jobs = [&](int worker) {
    try {
      const PinnedThread pinned(placement_, worker);
      const MemoryPlaced memory(placement_.numa, MemoryOf::one_thread);
      for (std::size_t job = next++; job < jobs; job = next++) work(context(worker), worker, job);
    } catch (...) {
      next = jobs;
      const std::lock_guard lock(mutex);
      if (!error) error = std::current_exception();
    }
  };
  std::vector<std::thread> others;
  const int busy = static_cast<int>(std::min<std::size_t>(jobs, list_.size()));
  const auto end_others = [&] {  // after their current job
    next = jobs;
    for (std::thread& t : others) t.join();
  };
  try {
    for (int worker = 1; worker < busy; ++worker) others.emplace_back(run_jobs, worker);
  } catch (const std::system_error& problem) {
    end_others();
    fail("threads", fmt::format("only {} of {} can be started ({})", others.size() + 1, busy, problem.what()),
         fmt::format("pass `threads` {} or fewer, or raise the limits (ulimit)", others.size() + 1));
  } catch (...) {
    end_others();
    throw;
  }
  run_jobs(0);
  for (std::thread& t : others) t.join();
  if (error) std::rethrow_exception(error);
}

ParallelDecoder::ParallelDecoder(const model::Model& model, ParallelOptions options)
    : options_(std::move(options)),
      shares_(!options_.deterministic && is_shared(model, options_.threads)),
      workers_(options_.threads, options_.deterministic ? kern::batch_invariant(kern::best()) : kern::best(),
               options_.placement) {
  check(options_.batch_size >= 1 && options_.refill >= 1, "batch size", "expected at least 1, got {}",
        options_.batch_size);
  check_options(options_.search, model.vocab_size());
  const SearchPlan& s = options_.search;
  if (options_.session.speculative.on()) check_takes_proposals(s);
  // Lengths that follow times differ from run to run, and with them the rounding of steps.
  if (options_.deterministic) options_.session.speculative.measured = false;
  if (options_.deterministic && s.shortlist)
    fail_usage("shortlist", "its logits have other columns in other batches, so the last bits of results may differ",
               "leave it or `deterministic` out");
  if (s.attention) model::tap_of(model, s.attention);
  for (int i = 0; i < workers_.count(); ++i)
    sessions_.push_back(std::make_unique<Session>(workers_.context(i), model, options_.session));
}

Speculation ParallelDecoder::speculation() const {
  Speculation sum;
  for (const auto& session : sessions_) {
    const Speculation& s = session->speculation();
    sum.rows += s.rows, sum.tokens += s.tokens, sum.proposed += s.proposed, sum.accepted += s.accepted;
  }
  return sum;
}

std::vector<std::vector<Hypothesis>> ParallelDecoder::decode(std::span<const std::vector<std::int32_t>> sources,
                                                             std::span<const Request> requests, const Watch& watch) {
  check(sources.empty() || sources.size() == requests.size(), "ParallelDecoder", "{} sources for {} requests",
        sources.size(), requests.size());
  std::vector<std::size_t> lengths;
  for (std::size_t i = 0; i < requests.size(); ++i)
    lengths.push_back(sources.empty() ? requests[i].prefix.size() : sources[i].size());

  // A few sentences are divided evenly. With many, a job holds several batches, as long as there are enough jobs for balance.
  const std::int64_t all = std::ssize(requests), threads = options_.threads, batch = options_.batch_size;
  std::int64_t job_size = std::min(batch, std::max<std::int64_t>(1, (all + threads - 1) / threads));
  const std::int64_t balanced = threads == 1 ? all : all / (8 * threads * batch) * batch;
  job_size = std::max(job_size, std::min(balanced, batch * options_.refill));
  const auto jobs = jobs_by_length(lengths, job_size);

  std::vector<std::vector<Hypothesis>> results(requests.size());
  job_seconds_.assign(jobs.size(), 0.0);
  if (jobs.size() == 1 && shares_ && !team_) team_ = std::make_unique<Team>(options_.threads, options_.placement);
  Team* const team = jobs.size() == 1 ? team_.get() : nullptr;
  workers_.run(jobs.size(), [&](Context& c, int worker, std::size_t job) {
    c.set_team(team);
    const MemoryPlaced memory(team ? options_.placement.numa : Numa::none, MemoryOf::all_threads);
    const auto begin = std::chrono::steady_clock::now();
    std::vector<std::vector<std::int32_t>> job_sources;
    std::vector<Request> job_requests;
    for (std::size_t i : jobs[job]) {
      if (!sources.empty()) job_sources.push_back(sources[i]);
      job_requests.push_back(requests[i]);
    }
    Watch numbered{.stop = watch.stop};  // passes on the caller's request numbers
    if (watch.on_token)
      numbered.on_token = [&](const NewToken& t) {
        watch.on_token({jobs[job][t.request], t.sample, t.token, t.ended, t.score});
      };
    if (watch.on_partial)
      numbered.on_partial = [&](const Partial& p) { watch.on_partial({jobs[job][p.request], p.tokens}); };
    auto found = sessions_[worker]->decode(job_sources, job_requests, options_.search, options_.batch_size, numbered);
    for (std::size_t i = 0; i < found.size(); ++i) results[jobs[job][i]] = std::move(found[i]);
    job_seconds_[job] = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  });
  return results;
}

}  // namespace tril::search
