// The page of one or several runs: one self-contained HTML file, made from the files of a run (report.h) by page.h.
//
// Its size is limited: many reports are merged with their neighbours, and only some validations keep their maps.
#pragma once

#include <span>
#include <string>
#include <vector>

namespace tril::train {

/// The records in a run's directory.
struct RunLines {
  std::string directory;
  std::vector<std::string> figures, samples;  ///< the lines of train.jsonl and samples.jsonl
};

/// Reads both files, also during the run.
/// @throws Error if there is no train.jsonl, or if it has several lines and none is a run's
RunLines read_run(const std::string& directory);

/// @param runs  at least one
std::string report_page(std::span<const RunLines> runs);

}  // namespace tril::train
