// What this machine gives to tril: processor, cores, memory, and the system's settings that change its speed.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "doctor/finding.h"

namespace tril::doctor {

struct Machine {
  std::string processor;            ///< "Intel(R) Xeon(R) ..."; "": not known
  std::vector<std::string> tables;  ///< kernel tables that it can run, the slowest first
  std::string table;                ///< the chosen one
  int logical_cores = 1;            ///< of the machine
  int physical_cores = 1;           ///< without hyperthreads; as many as logical_cores if not known
  int usable_cores = 1;             ///< of this process: affinity and control group
  int numa_nodes = 1;
  std::int64_t memory = 0;                       ///< bytes; 0: not known
  std::optional<std::int64_t> available_memory;  ///< bytes, to this process; nothing: not known
  std::optional<std::int64_t> memory_limit;      ///< of the control groups
  std::string huge_pages;                        ///< "always", "madvise", "never"; "": not known
  std::string governor;                          ///< "performance"; "": not readable
  std::int64_t open_files = 0;                   ///< the soft limit; 0: none
};

/// Reads /proc and /sys below `root`; files that cannot be read leave their defaults.
Machine read_machine(const std::string& root = "");

/// @param threads  that a command would use
/// @param forced_table  the value of TRIL_INSTRUCTION_SET, or ""
Findings check_machine(const Machine& m, int threads, const std::string& forced_table);

}  // namespace tril::doctor
