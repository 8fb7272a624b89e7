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

/// How much of each run a page holds.
struct PageLimits {
  std::size_t points = 2000;               ///< of a curve; more are merged with their neighbours
  std::size_t sample_lines = 200;          ///< validations with samples
  std::size_t attention_bytes = 3u << 20;  ///< of maps, as base64; the latest are kept even if they have more
};

/// The data of a page, as JSON: {"runs": [{"name", "options", "parameters", "threads", "begun", "train": {key: column}, "valid":
/// {key: column}, "samples"}], "differing"}. @param runs  at least one
std::string report_data(std::span<const RunLines> runs, const PageLimits& limits = {});

/// @param runs  at least one
std::string report_page(std::span<const RunLines> runs);

/// The same page of a run that is training: it has no data, fetches them as `run`, and listens to `events`
/// (watch/run_watch.h). @param directory  of the run, which gives the page its name
std::string live_page(const std::string& directory);

}  // namespace tril::train
