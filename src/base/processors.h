// The system calls behind placement.h: on which processors a thread runs, and on which nodes its memory lies. They exist
// on Linux; elsewhere each of these functions says that the system has nothing of the kind (processors.cpp).
#pragma once

#include <array>
#include <optional>
#include <string>
#include <thread>
#include <vector>

namespace tril {

/// The processors of the calling thread, in ascending order; empty if the system does not tell.
std::vector<int> processors_of_thread();
/// Binds the calling thread to these processors. Returns "" or what the system says against it.
std::string bind_this_thread(const std::vector<int>& processors);
/// The same for another thread, which must not have ended.
std::string bind_thread(std::thread& thread, const std::vector<int>& processors);

/// A hardware thread, and what it shares with others.
struct Processor {
  int number = 0;
  int node = 0;     ///< NUMA node; the socket if the system knows no nodes
  int sibling = 0;  ///< 0 for the first hardware thread of its core, 1 for the second
  bool operator==(const Processor&) const = default;
};

/// The given processors with what the system's files under `root` say about them.
std::vector<Processor> read_processors(const std::vector<int>& numbers, const std::string& root = "");
/// Neighbours first: one node after the other.
std::vector<int> compact_order(std::vector<Processor> processors);
/// The nodes in turn.
std::vector<int> spread_order(std::vector<Processor> processors);

/// On which nodes the pages lie that a thread touches first, as set_mempolicy() takes it.
struct MemoryPolicy {
  int mode = 0;
  std::array<unsigned long, 16> nodes{};  ///< bits
  bool operator==(const MemoryPolicy&) const = default;
};

/// The calling thread's policy; nothing if the system has none.
std::optional<MemoryPolicy> memory_policy();
/// Sets it for the calling thread and the threads that it starts. Returns "" or what the system says against it.
std::string set_memory_policy(const MemoryPolicy& policy);
/// Pages in turn on all nodes that this process may use.
MemoryPolicy interleaved_memory();
/// Pages on the node of the thread that touches them.
MemoryPolicy local_memory();
/// The number of nodes on which this process may have memory; 1 if the system has no nodes.
int memory_nodes();

}  // namespace tril
