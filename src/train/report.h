// What a run leaves for people and programs: train.jsonl, one JSON object a line, and report.html, one file with the
// curves.
//
//   {"type": "train", "update", "epoch", "seconds", "target_tokens", "loss", "learning_rate", "gradient_norm",
//    "tokens_per_second", "skipped", "gradient_noise_scale" (target tokens; left out where it cannot be told),
//    "gradient_norms": {part of the model: norm}}
//   {"type": "valid", "update", "epoch", "seconds", "target_tokens", "cross_entropy", "perplexity", "bleu", "chrf",
//   "best"}
//
// A run that goes on keeps the lines up to the state it goes on from and forgets the rest, so that each update stands
// there once.
#pragma once

#include <string>
#include <vector>

#include "train/trainer.h"

namespace tril::train {

std::string json_line(const TrainingReport& r);
std::string json_line(const ValidationReport& r);

class RunLog {
 public:
  /// Appends to DIRECTORY/train.jsonl.
  /// @param options  to_json(fields_of(options)), for the report's table
  RunLog(std::string directory, std::string options);

  /// Forgets lines of updates after this one, and validations after `validated`, which a run that goes on from there
  /// makes again; before the first add().
  void keep_until(std::int64_t update, std::int64_t validated);
  void add(const std::string& line);
  /// Writes DIRECTORY/report.html anew.
  void write_html() const;

 private:
  std::string directory_, options_;
  std::vector<std::string> lines_;
};

/// The page: self-contained, curves against updates or time, light or dark as the reader's system is.
/// @param title  shown at its head; @param lines  of train.jsonl
std::string report_html(const std::string& title, const std::vector<std::string>& lines, const std::string& options);

}  // namespace tril::train
