#include "serve/engine/engine.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <system_error>
#include <utility>

#include "base/error.h"
#include "base/team.h"
#include "decode/batches/parallel.h"
#include "kern/batch_invariant.h"
#include "serve/http/http_error.h"

namespace tril::serve {
namespace {

// With more weights than this, one worker uses all threads inside each product, as in decode/batches/parallel.cpp: a
// step then reads the weights once for the whole batch, while two workers would read them twice.
constexpr std::int64_t large_model = 200'000'000;
// How often the queue is searched for works whose deadline has passed.
constexpr std::chrono::milliseconds look_every{5};
// In a batch that is nearly full, works join once an eighth of its places is free: encoding several sources together
// costs less than encoding each alone.
constexpr std::size_t join_share = 8;
// Up to this number of rows, another row does not make a small model's steps longer.
constexpr std::int64_t few_rows = 16;
// How long a work may wait so that the running ones finish sooner.
constexpr std::chrono::milliseconds longest_kept_out{5};

// Reports the outcome, and destroys the work's callbacks with what they hold.
void tell(Work& work, Outcome&& outcome) {
  work.on_token = {}, work.on_partial = {};
  if (const auto on_end = std::exchange(work.on_end, {})) try {
      on_end(std::move(outcome));
    } catch (const std::exception& error) {  // must not end the decoding of other works
      spdlog::error("an answer could not be sent: {}", error.what());
    }
}

}  // namespace

const kern::Kernels& kernels_of(const EngineOptions& o) {
  return o.deterministic ? kern::batch_invariant(kern::best()) : kern::best();
}

struct Engine::Worker {
  struct Live {
    WorkPtr work;             ///< null: the number is free
    std::int64_t tokens = 0;  ///< that are reserved for it in the cache
  };
  /// @param workers  the number of workers
  Worker(const model::Model& model, const EngineOptions& o, int workers)
      : team(workers < o.threads ? std::make_unique<Team>(o.threads / workers, o.placement) : nullptr),
        arena(search::addresses_each(workers)),
        context(arena, kernels_of(o)),
        session(
            context, model, o.session,
            [this](const search::NewToken& t) {
              const WorkPtr& work = live[t.request].work;
              if (work->first_token == Clock::time_point{}) work->first_token = Clock::now();
              if (work->on_token) work->on_token(t);
            },
            [this](const search::Partial& p) {
              const WorkPtr& work = live[p.request].work;
              if (work->first_token == Clock::time_point{}) work->first_token = Clock::now();
              if (work->on_partial) work->on_partial(p.tokens);
            }) {
    context.set_team(team.get());
  }

  std::unique_ptr<Team> team;  ///< threads that divide each op among themselves
  Arena arena;
  Context context;
  search::ContinuousSession session;
  search::Speculation speculation;           ///< of the session, as counted so far
  std::vector<Live> live;                    ///< by the session's numbers
  std::size_t count = 0;                     ///< works that it decodes
  std::int64_t tokens = 0;                   ///< cache tokens reserved for them
  std::int64_t rows = 0;                     ///< rows of their searches
  std::map<std::string, std::int64_t> held;  ///< reserved tokens by client
  std::thread thread;
};

int Engine::workers_of(const model::Model& model, const EngineOptions& options) {
  // A product that several threads share is summed in another order.
  const bool together = !options.deterministic && model.parameters().count() >= large_model;
  return together ? 1 : options.threads;
}

Engine::Engine(std::shared_ptr<const model::Model> model, const EngineOptions& options, Statistics& statistics)
    : model_(std::move(model)),
      options_(options),
      statistics_(statistics),
      queue_(options.queue_size, options.quantum) {
  check(options_.threads >= 1 && options_.batch_size >= 1, "engine", "expected threads and a batch size of at least 1");
  if (options_.cache_tokens == 0) options_.cache_tokens = default_cache_tokens;
  const int workers = workers_of(*model_, options_);
  // A prompt that is read after a cached prefix is rounded differently from one that is read at once.
  options_.session.prefix_tokens = options_.deterministic ? 0 : options_.session.prefix_tokens / workers;
  for (int i = 0; i < workers; ++i) workers_.push_back(std::make_unique<Worker>(*model_, options_, workers));
  try {
    for (std::size_t i = 0; i < workers_.size(); ++i) {
      Worker* const worker = workers_[i].get();
      worker->thread = std::thread([this, worker] {
        const MemoryPlaced memory(options_.placement.numa, worker->team ? MemoryOf::all_threads : MemoryOf::one_thread);
        run(*worker);
      });
      pin_thread(worker->thread, options_.placement, static_cast<int>(i));
    }
  } catch (const std::system_error& problem) {
    const auto started =
        std::count_if(workers_.begin(), workers_.end(), [](const auto& w) { return w->thread.joinable(); });
    stop();
    fail("threads", fmt::format("only {} of {} can be started ({})", started, workers, problem.what()),
         fmt::format("pass `threads` {} or fewer, or raise the limits (ulimit)", std::max<std::ptrdiff_t>(1, started)));
  } catch (...) {
    stop();
    throw;
  }
}

void Engine::stop() {
  {
    const std::lock_guard lock(mutex_);
    closed_ = stopping_ = true;
  }
  arrived_.notify_all();
  for (const auto& worker : workers_)
    if (worker->thread.joinable()) worker->thread.join();
}

Engine::~Engine() {
  stop();
  for (const WorkPtr& work : queue_.take_all()) end(work, {.stop_reason = search::StopReason::cancelled});
}

void Engine::check_works(std::span<const WorkPtr> works) const {
  const std::int64_t share = options_.cache_tokens / std::ssize(workers_);
  const search::SearchPlan* last = nullptr;
  for (const WorkPtr& work : works) {
    check(work->cache_tokens() <= share, "request",
          "may need {} tokens of the cache, for the prompt and all rows of the search, but at most {} are allowed",
          work->cache_tokens(), share);
    if (work->options.get() != last) search::check_options(*work->options, model_->vocab_size());
    last = work->options.get();
    search::check_request(work->request, *work->options, model_->vocab_size());
  }
}

Engine::Answer Engine::submit(std::span<const WorkPtr> works, Admission admission) {
  check_works(works);
  const bool is_long = works.size() > FairQueue::share_of_one(options_.queue_size);
  const auto first = works.first(is_long ? std::max<std::size_t>(1, options_.queue_size / 4) : works.size());
  if (is_long) {
    const auto others = works.subspan(first.size());
    const auto rest = std::make_shared<Rest>(Rest{{others.begin(), others.end()}, first.size()});
    for (const WorkPtr& work : works) work->rest = rest;
  }
  const Answer answer = push(first, admission);
  if (answer != Answer::taken)  // the callbacks hold the request
    for (const WorkPtr& work : works) work->on_token = {}, work->on_partial = {}, work->on_end = {}, work->rest = {};
  return answer;
}

Engine::Answer Engine::push(std::span<const WorkPtr> works, Admission admission) {
  {
    const std::lock_guard lock(mutex_);
    if (closed_) return Answer::closed;
    if (!queue_.push(works, admission)) {
      statistics_.refused.add(works.size());
      return Answer::full;
    }
  }
  works.size() == 1 ? arrived_.notify_one() : arrived_.notify_all();
  return Answer::taken;
}

// Puts the next work of a long request into the queue, after one of its works has ended.
void Engine::follow(const WorkPtr& ended) {
  const std::shared_ptr<Rest> rest = std::exchange(ended->rest, nullptr);
  if (!rest) return;
  std::vector<std::pair<WorkPtr, Outcome>> never_begun;
  {
    const std::lock_guard lock(mutex_);
    --rest->in_queue;
    while (!rest->works.empty()) {
      const WorkPtr work = rest->works.front();
      const bool wanted = !work->cancelled;
      if (wanted && !cancelling_ && !stopping_) {
        if (queue_.push({&work, 1})) {
          rest->works.pop_front();
          ++rest->in_queue;
          arrived_.notify_one();
          break;
        }
        if (rest->in_queue > 0) break;  // tried again when the next one ends
      }
      rest->works.pop_front();
      work->rest = nullptr;
      if (!wanted) {
        never_begun.push_back({work, {.stop_reason = search::StopReason::cancelled}});
      } else {
        const HttpError busy(503, "the queue has no room for the rest of the request", "server_error");
        never_begun.push_back({work, {.error = std::make_exception_ptr(busy)}});
      }
    }
  }
  for (auto& [work, outcome] : never_begun) tell(*work, std::move(outcome));
}

bool Engine::has_room(const std::string& client, bool counts) const {
  {
    const std::lock_guard lock(mutex_);
    if (closed_ || queue_.has_room(client, 1)) return true;
  }
  if (counts) statistics_.refused.add(1);
  return false;
}

void Engine::cancel(std::span<const WorkPtr> works) {
  for (const WorkPtr& work : works) work->cancelled = true;
  gone_ = true;
  arrived_.notify_all();
}

void Engine::drain() {
  std::unique_lock lock(mutex_);
  closed_ = true;
  ended_.wait(lock, [&] { return queue_.size() == 0 && live_ == 0 && leaving_ == 0; });
}

void Engine::cancel_all() {
  {
    const std::lock_guard lock(mutex_);
    closed_ = true;
    cancelling_ = true;
  }
  arrived_.notify_all();
}

std::size_t Engine::waiting() const {
  const std::lock_guard lock(mutex_);
  return queue_.size();
}

bool Engine::crowded() const {
  const std::size_t places = workers_.size() * static_cast<std::size_t>(options_.batch_size),
                    some = places / join_share;
  const std::lock_guard lock(mutex_);
  return live_ + some >= places && queue_.size() > some;
}

std::size_t Engine::running() const {
  const std::lock_guard lock(mutex_);
  return live_;
}

std::int64_t Engine::reserved_tokens() const {
  const std::lock_guard lock(mutex_);
  return reserved_;
}

double Engine::expected_wait() const {
  const std::lock_guard lock(mutex_);
  return seconds_a_sentence_ * static_cast<double>(queue_.size());
}

void Engine::run(Worker& worker) {
  for (;;) {
    std::vector<WorkPtr> arrivals, gone;
    {
      std::unique_lock lock(mutex_);
      take(worker, lock, arrivals, gone);
      if (stopping_) break;
    }
    for (const WorkPtr& work : gone)
      end(work, {.stop_reason =
                     work->cancelled || cancelling_ ? search::StopReason::cancelled : search::StopReason::time_limit});
    if (!gone.empty()) {
      const std::lock_guard lock(mutex_);
      leaving_ -= gone.size();
      ended_.notify_all();
    }
    join(worker, std::move(arrivals));
    watch(worker);
    if (!worker.session.empty()) {
      worker.session.step();
      statistics_.step(worker.session.last().rows, worker.session.last().prompt_tokens,
                       worker.session.last().remembered);
      const search::Speculation now = worker.session.speculation(), before = std::exchange(worker.speculation, now);
      statistics_.proposed_tokens.add(static_cast<std::uint64_t>(now.proposed - before.proposed));
      statistics_.accepted_tokens.add(static_cast<std::uint64_t>(now.accepted - before.accepted));
    }
    deliver(worker);
  }
  for (const Worker::Live& l : worker.live)
    if (l.work) l.work->cancelled = true;
  watch(worker);
  deliver(worker);
  statistics_.forget(std::this_thread::get_id());
}

// Waits for work and takes the worker's share of it: works are divided evenly among the workers.
void Engine::take(Worker& worker, std::unique_lock<std::mutex>& lock, std::vector<WorkPtr>& arrivals,
                  std::vector<WorkPtr>& gone) {
  const auto workers = workers_.size();
  const std::int64_t most_tokens = options_.cache_tokens / std::ssize(workers_);
  const auto batch = static_cast<std::size_t>(options_.batch_size);
  const auto share = [&] { return std::min(batch, (queue_.size() + live_ + workers - 1) / workers); };
  // No client may use more than three quarters of the cache.
  const auto has_share = [&](const Work& work) {
    const auto held = worker.held.find(work.client);
    return held == worker.held.end() || held->second + work.cache_tokens() <= most_tokens - most_tokens / 4;
  };
  // True if another work may join the batch. A translation is returned as a whole. If each row makes the steps longer, a
  // new translation finishes no later when it starts after the running ones, and does not delay them. So it waits for a
  // moment, unless so many are waiting that throughput matters more. A continuation starts at once, because its text can
  // be streamed.
  const auto grows = [&] {
    return !model_->has_encoder() || worker.rows < few_rows ||
           worker.count + arrivals.size() < 2 * queue_.size() / workers ||
           queue_.first_arrival() < Clock::now() - longest_kept_out;
  };
  for (;;) {
    if (stopping_) return;
    if (cancelling_) {
      gone = queue_.take_all();
    } else if (const auto now = Clock::now(); gone_.exchange(false) || now >= next_look_) {
      gone = queue_.take_gone(now);
      next_look_ = now + look_every;
    }
    leaving_ += gone.size();
    std::int64_t read = 0;  // source tokens, limited so that running works do not wait long for the encoder
    const bool room = worker.count == 0 || worker.count <= batch - batch / join_share;
    while (room && worker.count + arrivals.size() < share() && grows() && read < options_.session.prompt_tokens) {
      WorkPtr work = queue_.pop(most_tokens - worker.tokens, has_share);
      if (!work) break;
      worker.tokens += work->cache_tokens();
      reserved_ += work->cache_tokens();
      worker.held[work->client] += work->cache_tokens();
      worker.rows += work->rows();
      read += std::ssize(work->source);
      ++live_;
      arrivals.push_back(std::move(work));
    }
    if (worker.count > 0 || !arrivals.empty() || !gone.empty()) return;
    arrived_.wait(lock);
  }
}

void Engine::join(Worker& worker, std::vector<WorkPtr> arrivals) {
  if (arrivals.empty()) return;
  std::vector<search::ContinuousSession::Arrival> list;
  std::size_t number = 0;
  for (WorkPtr& work : arrivals) {
    while (number < worker.live.size() && worker.live[number].work) ++number;
    if (number == worker.live.size()) worker.live.emplace_back();
    work->begun = Clock::now();
    statistics_.queue_seconds.add(std::chrono::duration<double>(work->begun - work->arrived).count());
    list.push_back({static_cast<std::int32_t>(number), work->source, work->request, work->options});
    worker.live[number] = {std::move(work), 0};
    worker.live[number].tokens = worker.live[number].work->cache_tokens();
    ++worker.count;
  }
  worker.session.join(list);
}

// Ends works that are cancelled or past their deadline before the next step.
void Engine::watch(Worker& worker) {
  const Clock::time_point now = Clock::now();
  for (std::size_t i = 0; i < worker.live.size(); ++i) {
    const WorkPtr& work = worker.live[i].work;
    if (!work) continue;
    if (work->cancelled || cancelling_)
      worker.session.cut(static_cast<std::int32_t>(i), search::StopReason::cancelled);
    else if (work->deadline <= now)
      worker.session.cut(static_cast<std::int32_t>(i), search::StopReason::time_limit);
  }
}

void Engine::deliver(Worker& worker) {
  std::vector<search::ContinuousBatch::Ended> ended = worker.session.take_ended();
  statistics_.cache(std::this_thread::get_id(),
                    {worker.session.used_slots(), worker.session.prefix_tokens(), worker.session.cache_bytes()});
  if (ended.empty()) return;
  std::vector<std::pair<WorkPtr, Outcome>> done;
  std::int64_t freed = 0;
  for (search::ContinuousBatch::Ended& e : ended) {
    Worker::Live& l = worker.live[static_cast<std::size_t>(e.sentence)];
    Outcome outcome{.hypotheses = std::move(e.hypotheses), .error = e.error, .proposals = e.proposals};
    for (const search::Hypothesis& h : outcome.hypotheses) {
      outcome.new_tokens += std::ssize(h.tokens);
      outcome.stop_reason = h.stop_reason;
    }
    worker.tokens -= l.tokens;
    freed += l.tokens;
    worker.rows -= l.work->rows();
    if (const auto held = worker.held.find(l.work->client); (held->second -= l.tokens) == 0) worker.held.erase(held);
    --worker.count;
    done.emplace_back(std::move(l.work), std::move(outcome));
    l = {};
  }
  for (auto& [work, outcome] : done) end(work, std::move(outcome));
  const std::lock_guard lock(mutex_);
  live_ -= done.size();
  reserved_ -= freed;
  const Clock::time_point now = Clock::now();
  if (last_end_ != Clock::time_point{}) {
    const double each = std::chrono::duration<double>(now - last_end_).count() / static_cast<double>(done.size());
    seconds_a_sentence_ += (each - seconds_a_sentence_) / 16;
  }
  // An idle time says nothing about how long works take.
  last_end_ = live_ > 0 ? now : Clock::time_point{};
  if (live_ == 0 && queue_.size() == 0) ended_.notify_all();
}

void Engine::end(const WorkPtr& work, Outcome outcome) {
  const auto seconds = [&](Clock::time_point to) { return std::chrono::duration<double>(to - work->arrived).count(); };
  statistics_.seconds.add(seconds(Clock::now()));
  if (work->first_token != Clock::time_point{}) statistics_.first_token_seconds.add(seconds(work->first_token));
  statistics_.new_tokens.add(static_cast<std::uint64_t>(outcome.new_tokens));
  statistics_.source_tokens.add(work->source.size() + work->request.prefix.size());
  (outcome.error                                           ? statistics_.failed
   : outcome.stop_reason == search::StopReason::cancelled  ? statistics_.cancelled
   : outcome.stop_reason == search::StopReason::time_limit ? statistics_.late
                                                           : statistics_.ended)
      .add(1);
  tell(*work, std::move(outcome));
  follow(work);
}

}  // namespace tril::serve
