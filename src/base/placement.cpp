#include "base/placement.h"

#include <spdlog/spdlog.h>

#include <algorithm>

#include "base/as_size.h"
#include "base/core_list.h"
#include "base/cores.h"
#include "base/error.h"
#include "base/log.h"
#include "base/printable.h"

namespace tril {
namespace {

std::vector<int> listed_cores(const std::string& pin) {
  const auto cores = read_core_list(pin);
  if (!cores)
    fail_usage("pin",
               fmt::format("expected none, compact, spread, or a list of cores, each once, got \"{}\"", printable(pin)),
               "for example 0-3,8");
  return *cores;
}

[[noreturn]] void refuse(const std::vector<int>& cores, const std::vector<int>& allowed) {
  fail_usage(
      "pin",
      fmt::format("this process may not run on {} {} (missing on this machine, or not allowed to it); allowed: {}",
                  cores.size() == 1 ? "core" : "cores", core_list_text(cores), core_list_text(allowed)),
      "choose among the allowed ones, or widen the process's own limits (taskset, cpuset)");
}

std::vector<int> cores_of(const PlacementOptions& o, int threads) {
  const std::vector<int> allowed = processors_of_thread();
  if (allowed.empty()) fail_usage("pin", "this system has no call that binds a thread to a core", "leave it out");
  std::vector<int> cores;
  if (lists_cores(o)) {
    cores = listed_cores(o.pin);
    std::vector<int> missing;
    for (const int core : cores)
      if (!std::binary_search(allowed.begin(), allowed.end(), core)) missing.push_back(core);
    std::sort(missing.begin(), missing.end());
    if (!missing.empty()) refuse(missing, allowed);
  } else {
    cores = o.pin == "compact" ? compact_order(read_processors(allowed)) : spread_order(read_processors(allowed));
  }
  if (as_size(o.before) + as_size(threads) > cores.size())
    fail_usage("pin",
               fmt::format(
                   "{} threads need a core each, but there are {} ({}){}", threads, cores.size(), core_list_text(cores),
                   o.before > 0 ? fmt::format(", the first {} of which belong to other processes", o.before) : ""),
               "pass fewer `threads`, or leave it out: threads that share a core wait for each other");
  cores.erase(cores.begin(), cores.begin() + o.before);
  cores.resize(as_size(threads));
  return cores;
}

MemoryPolicy policy_of(Numa numa, MemoryOf users) {
  return numa == Numa::interleave && users == MemoryOf::all_threads ? interleaved_memory() : local_memory();
}

}  // namespace

void add_numa_field(Fields& f, Numa& numa) {
  f.add("numa", &numa,
        "where memory lies on a machine of several nodes; interleave: the weights, and caches that threads share, on "
        "all nodes in turn; local: on the node of the thread that writes it first; none: as the process was started",
        {{"none", Numa::none}, {"interleave", Numa::interleave}, {"local", Numa::local}})
      .free_to_change();
}

void add_placement_fields(Fields& f, PlacementOptions& o) {
  f.add("pin", &o.pin,
        "bind each thread to a core of its own; compact: neighbours first; spread: the nodes of memory in turn; or a "
        "list such as 0-3,8; none: the system moves threads")
      .value_name("CORES")
      .free_to_change();
  add_numa_field(f, o.numa);
}

int thread_count(std::int64_t wanted, const PlacementOptions& o) {
  if (wanted == 0 && lists_cores(o)) return std::max(1, static_cast<int>(std::ssize(listed_cores(o.pin))) - o.before);
  return thread_count(wanted);
}

bool lists_cores(const PlacementOptions& o) {
  return o.pin != "none" && o.pin != "compact" && o.pin != "spread";
}

Numa settled_numa(Numa numa) {
  if (numa == Numa::none) return numa;
  const auto before = memory_policy();
  if (!before)
    fail_usage("numa", "this system has no policies for the memory of several nodes, or a container forbids them",
               "leave it out, or let the container use set_mempolicy (CAP_SYS_NICE)");
  std::string problem;
  for (const MemoryOf users : {MemoryOf::all_threads, MemoryOf::one_thread})
    if (problem.empty()) problem = set_memory_policy(policy_of(numa, users));
  set_memory_policy(*before);  // whether or not one of them is refused
  if (!problem.empty())
    fail_usage("numa", fmt::format("the system refuses the policy for memory ({})", problem),
               "leave it out, or let the container use set_mempolicy (CAP_SYS_NICE)");
  if (memory_nodes() == 1)
    logger()->warn("{}: this process has memory on one node only, so where its pages lie does not change", "numa");
  return numa;
}

Placement placement_of(const PlacementOptions& o, int threads) {
  Placement placement{.cores = {}, .numa = settled_numa(o.numa)};
  if (o.pin != "none") placement.cores = cores_of(o, threads);
  return placement;
}

PinnedThread::PinnedThread(const Placement& placement, int thread) {
  if (placement.cores.empty()) return;
  before_ = processors_of_thread();
  const int core = placement.cores[as_size(thread) % placement.cores.size()];
  if (const std::string problem = bind_this_thread({core}); !problem.empty())
    fail("pin", fmt::format("a thread cannot be bound to core {} ({})", core, problem));
}

PinnedThread::~PinnedThread() {
  if (!before_.empty()) bind_this_thread(before_);
}

void pin_thread(std::thread& thread, const Placement& placement, int number) {
  if (placement.cores.empty()) return;
  const int core = placement.cores[as_size(number) % placement.cores.size()];
  if (const std::string problem = bind_thread(thread, {core}); !problem.empty())
    fail("pin", fmt::format("a thread cannot be bound to core {} ({})", core, problem));
}

MemoryPlaced::MemoryPlaced(Numa numa, MemoryOf users) {
  if (numa == Numa::none) return;
  before_ = memory_policy();
  if (before_) set_memory_policy(policy_of(numa, users));
}

MemoryPlaced::~MemoryPlaced() {
  if (before_) set_memory_policy(*before_);
}

}  // namespace tril
