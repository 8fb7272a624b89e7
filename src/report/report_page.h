// The page of one run or several: one HTML file that needs nothing else, made from the lines that runs leave
// (report.h) as page.h puts pages together.
//
// Its size is bounded: a run of many reports shows the means of neighbours, one of many validations the maps of some.
#pragma once

#include <span>
#include <string>
#include <vector>

namespace tril::train {

/// What lies in a run's directory.
struct RunLines {
  std::string directory;
  std::vector<std::string> figures, samples;  ///< the lines of train.jsonl and samples.jsonl
};

/// Reads both files, also while the run goes on.
/// @throws Error where there is no train.jsonl, or one of several lines and none of a run
RunLines read_run(const std::string& directory);

/// @param runs  at least one
std::string report_page(std::span<const RunLines> runs);

}  // namespace tril::train
