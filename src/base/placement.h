// Where threads run and where their memory lies: `pin` and `numa`. Nothing is pinned and no policy is set unless the
// options ask for it; results are the same bits either way.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "base/fields.h"
#include "base/processors.h"

namespace tril {

enum class Numa : std::uint8_t {
  none,        ///< as the process was started
  interleave,  ///< what threads share lies on all nodes in turn, what one thread uses alone on its own node
  local        ///< all memory lies on the node of the thread that touches it first
};

struct PlacementOptions {
  std::string pin = "none";  ///< none, compact, spread, or a list of cores
  Numa numa = Numa::none;
  int before = 0;  ///< threads of other processes of the same job on this machine, which have the first cores
};

/// pin, numa.
void add_placement_fields(Fields& f, PlacementOptions& o);
/// numa alone.
void add_numa_field(Fields& f, Numa& numa);

/// A settled choice.
struct Placement {
  std::vector<int> cores;  ///< of the threads of a team or of workers, by number; empty: none is pinned
  Numa numa = Numa::none;
};

/// Whether `pin` is a list of cores, and not a name.
bool lists_cores(const PlacementOptions& o);

/// The number of threads to use: `wanted`, or for 0 one for each core of a list of `pin`, or for each core that this
/// process may use. @throws Error(usage) if `pin` is neither a name nor a list
int thread_count(std::int64_t wanted, const PlacementOptions& o);

/// A core for each of `threads` threads. Warns if the options change nothing on this machine.
/// @throws Error(usage) that names the cores which this process may not use, and those that it may; or if there are
/// fewer cores than threads, or the system cannot do it
Placement placement_of(const PlacementOptions& o, int threads);
/// Likewise for memory alone. @throws Error(usage) if the system cannot do it
Numa settled_numa(Numa numa);

/// Pins the calling thread as number `thread` of a placement, until destroyed in the same thread.
class PinnedThread {
 public:
  PinnedThread(const Placement& placement, int thread);
  ~PinnedThread();
  PinnedThread(const PinnedThread&) = delete;
  PinnedThread& operator=(const PinnedThread&) = delete;

 private:
  std::vector<int> before_;  // empty: nothing was changed
};

/// Pins another thread, which must not have ended, as number `number`.
void pin_thread(std::thread& thread, const Placement& placement, int number);

/// Who uses the memory that a thread touches first.
enum class MemoryOf : std::uint8_t { one_thread, all_threads };

/// Sets the calling thread's policy for memory, and that of the threads that it starts, until destroyed in the same thread.
class MemoryPlaced {
 public:
  MemoryPlaced(Numa numa, MemoryOf users);
  ~MemoryPlaced();
  MemoryPlaced(const MemoryPlaced&) = delete;
  MemoryPlaced& operator=(const MemoryPlaced&) = delete;

 private:
  std::optional<MemoryPolicy> before_;  // nothing: nothing was changed
};

}  // namespace tril
