#include "dist/ranks.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <exception>
#include <utility>

#include "base/as_size.h"
#include "base/core_list.h"
#include "base/cores.h"
#include "base/error.h"
#include "base/processors.h"
#include "dist/courier.h"
#include "dist/launch.h"

namespace tril::dist {
namespace {

// The ranks below `size` that are not in `left`.
std::vector<int> others_than(std::span<const int> ranks, int size) {
  std::vector<int> others;
  for (int r = 0; r < size; ++r)
    if (std::find(ranks.begin(), ranks.end(), r) == ranks.end()) others.push_back(r);
  return others;
}

}  // namespace

std::shared_ptr<Ranks> Ranks::alone() {
  return std::shared_ptr<Ranks>(new Ranks);
}

std::shared_ptr<Ranks> Ranks::join(const RanksOptions& options) {
  std::shared_ptr<Ranks> ranks = alone();
  if (launch_of_environment().size == 1) return ranks;
  World world = join_world(options);
  ranks->rank_ = world.rank;
  ranks->size_ = ranks->started_ = world.size;
  ranks->outlives_ = world.outlives_ranks;
  ranks->silence_ = options.silence;
  ranks->numbers_ = numbers_to(ranks->size_);
  ranks->hosts_.assign(as_size(ranks->size_), "");
  ranks->courier_ = std::move(world.courier);
  ranks->hosts_ = ranks->all_gather(host_name());
  ranks->places_ = ranks->all_gather(host_name() + " " + core_list_text(processors_of_thread()));
  return ranks;
}

Ranks::~Ranks() {
  try {
    if (courier_ && std::uncaught_exceptions() == 0 && !courier_->ended()) leave();
  } catch (const Error&) {  // who wants to know calls leave()
  }
  if (courier_) courier_->finish(false, lost_some_);
}

void Ranks::leave() {
  if (!courier_) return;
  courier_->expect_the_end();
  bool clean = true;
  try {
    barrier();  // no rank leaves while another still expects heartbeats
  } catch (const Error&) {
    // After a loss, ranks leave without MPI_Finalize. A slower rank takes that for another loss.
    if (!lost_some_) throw;
    clean = false;
  }
  courier_->finish(clean, lost_some_);
  courier_.reset();
}

std::string Ranks::names_of(std::span<const int> ranks) const {
  std::string names;
  for (int r : ranks) names += (names.empty() ? "" : ", ") + name_of(r);
  return names;
}

std::string Ranks::shrink() {
  check(courier_ != nullptr, "Ranks::shrink", "a single rank cannot lose others");
  const auto [rank, left] = courier_->resume();
  std::string lost = names_of(others_than(left, size_));
  for (std::size_t r = 0; r < left.size(); ++r) {  // the remaining ranks are renumbered in order
    numbers_[r] = numbers_[as_size(left[r])];
    hosts_[r] = hosts_[as_size(left[r])];
    places_[r] = places_[as_size(left[r])];
  }
  numbers_.resize(left.size());
  hosts_.resize(left.size());
  places_.resize(left.size());
  rank_ = rank;
  size_ = static_cast<int>(left.size());
  lost_some_ = true;
  return lost;
}

std::string Ranks::name_of(int rank) const {
  const int number = numbers_[as_size(rank)];
  const std::string& host = hosts_[as_size(rank)];
  return host.empty() ? fmt::format("rank {}", number) : fmt::format("rank {} ({})", number, host);
}

Ranks::Ticket Ranks::start(std::span<const Outgoing> outgoing, std::span<const Incoming> incoming) {
  check(courier_ != nullptr, "Ranks::start", "a single rank has no other rank to send to");
  return courier_->submit(outgoing, incoming);
}

void Ranks::wait(const Ticket& ticket) {
  const Courier::Outcome outcome = courier_->wait(ticket);
  if (outcome.left) throw RankLost(names_of(others_than(*outcome.left, size_)));
  if (outcome.silent)
    fail(name_of(*outcome.silent),
         fmt::format("has not responded for {:g} s: it was stopped, or its machine is down",
                     std::chrono::duration<double>(silence_).count()),
         "run the same command again: it resumes from the last checkpoint, with any number of ranks");
}

// The first message has its size in front and room for short data; only longer data need a second message.
std::vector<std::vector<std::byte>> Ranks::all_gather(std::span<const std::byte> mine) {
  constexpr std::size_t room = 4096;
  struct First {
    std::uint64_t size = 0;
    std::array<std::byte, room> bytes;
  };
  const auto n = as_size(size_), own = as_size(rank_);
  std::vector<std::vector<std::byte>> all(n);
  all[own].assign(mine.begin(), mine.end());
  if (size_ == 1) return all;

  std::vector<First> first(n);
  first[own].size = mine.size();
  std::copy_n(mine.begin(), std::min(room, mine.size()), first[own].bytes.begin());
  std::vector<Outgoing> out;
  std::vector<Incoming> in;
  for (std::size_t r = 0; r < n; ++r) {
    if (r == own) continue;
    out.push_back({static_cast<int>(r), std::as_bytes(std::span(&first[own], 1)), small_tag});
    in.push_back({static_cast<int>(r), std::as_writable_bytes(std::span(&first[r], 1)), small_tag});
  }
  wait(start(out, in));

  out.clear(), in.clear();
  for (std::size_t r = 0; r < n; ++r) {
    if (r == own) continue;
    all[r].resize(first[r].size);
    std::copy_n(first[r].bytes.begin(), std::min(room, all[r].size()), all[r].begin());
    if (mine.size() > room) out.push_back({static_cast<int>(r), mine.subspan(room), small_tag});
    if (all[r].size() > room) in.push_back({static_cast<int>(r), std::span(all[r]).subspan(room), small_tag});
  }
  if (!out.empty() || !in.empty()) wait(start(out, in));
  return all;
}

std::vector<std::string> Ranks::all_gather(const std::string& mine) {
  std::vector<std::string> texts;
  for (const std::vector<std::byte>& bytes : all_gather(std::as_bytes(std::span(mine)))) {
    texts.emplace_back(bytes.size(), '\0');
    std::memcpy(texts.back().data(), bytes.data(), bytes.size());
  }
  return texts;
}

void Ranks::all_reduce(std::span<double> values) {
  if (size_ == 1) return;
  const auto all = all_gather(std::as_bytes(values));
  std::fill(values.begin(), values.end(), 0.0);
  for (int r = 0; r < size_; ++r) {
    const std::vector<std::byte>& theirs = all[as_size(r)];
    if (theirs.size() != values.size_bytes())
      fail(name_of(r),
           fmt::format("contributes {} bytes to the sum, {} {}", theirs.size(), name_of(rank_), values.size_bytes()));
    for (std::size_t i = 0; i < values.size(); ++i) {
      double value;
      std::memcpy(&value, theirs.data() + i * sizeof value, sizeof value);
      values[i] += value;
    }
  }
}

std::string Ranks::broadcast(const std::string& text) {
  return size_ == 1 ? text : all_gather(first() ? text : "")[0];
}

void Ranks::barrier() {
  if (size_ > 1) static_cast<void>(all_gather(std::string()));
}

void Ranks::together(const std::function<void()>& work) {
  if (size_ == 1) return work();
  std::exception_ptr mine;
  std::string problem;
  try {
    work();
  } catch (const std::exception& e) {
    mine = std::current_exception();
    problem = *e.what() ? e.what() : "an unknown error";
  }
  const std::vector<std::string> problems = all_gather(problem);
  if (mine) std::rethrow_exception(mine);
  for (int r = 0; r < size_; ++r)
    if (const std::string& theirs = problems[as_size(r)]; !theirs.empty()) fail(name_of(r), theirs);
}

void Ranks::by_first(const std::function<void()>& work) {
  together([&] {
    if (first()) work();
  });
}

void Ranks::abandon() {
  if (courier_) courier_->abandon();
}

int Ranks::sharers() const {
  if (size_ == 1) return 1;
  return static_cast<int>(std::count(places_.begin(), places_.end(), places_[as_size(rank_)]));
}

int Ranks::sharers_before() const {
  if (size_ == 1) return 0;
  return static_cast<int>(std::count(places_.begin(), places_.begin() + rank_, places_[as_size(rank_)]));
}

int Ranks::share_of_cores() const {
  return std::max(1, thread_count(0) / sharers());
}

}  // namespace tril::dist
