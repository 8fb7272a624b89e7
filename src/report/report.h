// A training run's records for people and programs: two files with one JSON object a line, and report.html, the page
// made from them (report_page.h). Lines are only appended; a resumed run keeps those up to its checkpoint and discards
// the rest, so that each update is recorded once however often the run was killed.
//
//   train.jsonl
//   {"type": "run", "update", "version", "parameters", "threads", "ranks", "options": {...}}   once, and if options change
//   {"type": "train", "update", "epoch", "seconds", "target_tokens", "loss", "learning_rate", "gradient_norm",
//    "tokens_per_second", "skipped", "gradient_noise_scale" (target tokens; omitted if unknown),
//    "gradient_norms": {part of the model: norm}}
//    Its figures are means since the previous "train" line. Otherwise there is an "interval": "unfinished" if the run ended
//    before the line was due (it is discarded when the run resumes, and the next line includes its updates), or "since
//    update 330" if a checkpoint of an older version did not record what came before.
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
// Readers must ignore unknown types and keys; the page draws every number of a "train" line.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "train/loop/trainer.h"

namespace tril::train {

/// Recorded by a process when it starts or resumes a run.
struct RunRecord {
  std::int64_t update = 0;  ///< updates completed
  std::int64_t parameters = 0;
  std::int64_t threads = 0;
  std::int64_t ranks = 1;
  std::string options;  ///< to_json(fields_of(options))
};

std::string json_line(const RunRecord& r);
std::string json_line(const TrainingReport& r);
std::string json_line(const ValidationReport& r);
/// @param attention  whether to write attention maps
std::string samples_line(const ValidationReport& r, bool attention);
std::string json_line(const RollbackReport& r);

/// Whether the n-th validation's maps are kept, n = 1, 2, ...: all of the first 31, then 16 in each doubling, so that a
/// file of a thousand validations has about a hundred.
bool keeps_attention(std::int64_t n);

/// A file to which lines are appended.
class JsonLines {
 public:
  explicit JsonLines(std::string path) : path_(std::move(path)) {}

  /// Discards lines after this update, lines of type "valid" and "samples" after `validated`, and malformed lines: the
  /// last one may be truncated if a process was killed.
  void keep_until(std::int64_t update, std::int64_t validated);
  void add(const std::string& line);
  /// Discards the lines that satisfy the predicate.
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

  /// Discards lines of updates after this one, and validations after `validated`, which a run that resumes there
  /// repeats. Call it before the first add().
  void keep_until(std::int64_t update, std::int64_t validated);
  /// The files that lack lines which the run must have written before the checkpoint, and what they lack: "train.jsonl:
  /// ...". Empty if none is known to. Call it after keep_until().
  std::vector<std::string> lost_lines(const TrainingState& state, const TrainOptions& options) const;
  /// Records the run's options at its first update, unless the same options are recorded already.
  void begin(const RunRecord& r);
  /// Call it after each update: writes begin()'s line before a checkpoint of that update can be saved, so that a run
  /// killed between that checkpoint and its first figures is not taken for one that began there. Discards an
  /// "unfinished" line of an earlier process.
  void updated();
  void add(const TrainingReport& r);
  void add(const ValidationReport& r);
  /// Discards what came after the checkpoint that the run went back to.
  void add(const RollbackReport& r);
  /// Writes DIRECTORY/report.html.
  void write_html() const;

 private:
  void add_figures(const std::string& line);
  void open();

  std::string directory_;
  JsonLines figures_, samples_;
  std::string opening_;             // begin()'s line, until it is written
  bool may_be_unfinished_ = false;  // an earlier process may have left an "unfinished" line
};

}  // namespace tril::train
