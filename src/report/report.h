// What a run leaves for people and programs: two files of one JSON object a line, and report.html, the page that is made
// of them (report_page.h). Lines are only ever added at the end; a run that goes on keeps those up to the state it goes
// on from and forgets the rest, so that each update stands there once however often the run was killed.
//
//   train.jsonl
//   {"type": "run", "update", "version", "parameters", "threads", "ranks", "options": {...}}   once, and where options change
//   {"type": "train", "update", "epoch", "seconds", "target_tokens", "loss", "learning_rate", "gradient_norm",
//    "tokens_per_second", "skipped", "gradient_noise_scale" (target tokens; left out where it cannot be told),
//    "gradient_norms": {part of the model: norm}}
//    Its figures are means since the "train" line before. "interval" stands there where they are not: "unfinished" where the
//    run ended before the line was due (it is forgotten once the run goes on, and the next line has its updates too), "since
//    update 330" where a state of an older version did not know what came before.
//   {"type": "rollback", "update" (gone back to), ..., "from", "loss", "gradient_norm" (of the broken update),
//    "rollbacks"}
//   {"type": "valid", "update", "epoch", "seconds", "target_tokens", "cross_entropy", "perplexity", "bleu", "chrf",
//   "best"}
//
//   samples.jsonl
//   {"type": "samples", "update", "epoch", "seconds", "target_tokens", "kind", "samples": [
//     {"line", "source", "reference", "hypothesis", "attention": {"kind": "cross" | "self", "queries": [token...],
//      "keys": [token...], "layers": [{"name", "heads", "codes": base64 of [heads, queries, keys] bytes
//      255 sqrt(weight)}]}}]}
//
// Whoever reads them passes over types and keys that it does not know; the page draws every number of a "train" line.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "train/loop/trainer.h"

namespace tril::train {

/// What a process does when it begins or goes on.
struct RunRecord {
  std::int64_t update = 0;  ///< updates that are done
  std::int64_t parameters = 0;
  std::int64_t threads = 0;
  std::int64_t ranks = 1;
  std::string options;  ///< to_json(fields_of(options))
};

std::string json_line(const RunRecord& r);
std::string json_line(const TrainingReport& r);
std::string json_line(const ValidationReport& r);
/// @param attention  whether maps are written
std::string samples_line(const ValidationReport& r, bool attention);
std::string json_line(const RollbackReport& r);

/// Whether the n-th validation's maps are kept, n = 1, 2, ...: all of the first 31, then 16 in each doubling, so
/// that a file of a thousand validations holds some hundred of them.
bool keeps_attention(std::int64_t n);

/// A file of lines that are added one by one.
class JsonLines {
 public:
  explicit JsonLines(std::string path) : path_(std::move(path)) {}

  /// Forgets what comes after this update, lines of type "valid" and "samples" after `validated`, and what is no such
  /// line, as the last one may be cut where a process was killed.
  void keep_until(std::int64_t update, std::int64_t validated);
  void add(const std::string& line);
  /// Forgets the lines that are so.
  void forget(const std::function<bool(const std::string& line)>& is_so);
  const std::vector<std::string>& lines() const { return lines_; }

 private:
  std::string path_;
  std::vector<std::string> lines_;
};

/// The two files and the page of one directory.
class RunLog {
 public:
  explicit RunLog(std::string directory);

  /// Forgets lines of updates after this one, and validations after `validated`, which a run that goes on from there
  /// makes again; before the first add().
  void keep_until(std::int64_t update, std::int64_t validated);
  /// After keep_until(): the files that lack lines which the run must have written before the state that it goes on from,
  /// and what they lack; "train.jsonl: ...". Empty: none is known to.
  std::vector<std::string> lost_lines(const TrainingState& state, const TrainOptions& options) const;
  /// Says with which options the run goes on once it does something, unless they are those that stand there already.
  void begin(const RunRecord& r);
  /// An update was done: begin()'s line is written before a state of that update can be saved, so that a run killed
  /// between that state and its first figures is not told as one that began there. What an earlier process had reported
  /// before it was due is forgotten.
  void updated();
  void add(const TrainingReport& r);
  void add(const ValidationReport& r);
  /// Forgets what came after the state that the run went back to.
  void add(const RollbackReport& r);
  /// Writes DIRECTORY/report.html anew.
  void write_html() const;

 private:
  void add_figures(const std::string& line);
  void open();

  std::string directory_;
  JsonLines figures_, samples_;
  std::string opening_;             // begin()'s line, until it is written
  bool may_be_unfinished_ = false;  // there may be a line of an earlier process that was reported before it was due
};

}  // namespace tril::train
