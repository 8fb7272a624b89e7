// A training run on a page of its own while it trains: `tril train --watch PORT`.
//
//   GET /        the page, with its scripts and styles
//   GET /run     the run so far, as JSON: what its directory holds, thinned out (report/report_page.h)
//   GET /events  server-sent events: "now" (the latest update), "train" (a line of train.jsonl), "changed" (GET /run has more than new
//                lines: a validation, or a run that went back to a checkpoint), "end"
//
// The trainer only hands over lines, which threads of the server send. Without a reader it does not even write them. So a run
// computes the same weights, bit for bit, with and without readers. Only clients on this machine are answered.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>

#include "serve/http/http_server.h"
#include "train/loop/trainer.h"
#include "watch/readers.h"

namespace tril::watch {

class RunWatch {
 public:
  /// Listens at once on the loopback.
  /// @param directory  of the run; it may be empty as yet
  /// @param port  0: any free one
  /// @throws Error if the port is taken
  RunWatch(std::string directory, std::uint16_t port);
  /// Says that the run has ended, and gives readers up to a second to fetch its last figures.
  ~RunWatch();
  RunWatch(const RunWatch&) = delete;
  RunWatch& operator=(const RunWatch&) = delete;

  std::uint16_t port() const { return server_->port(); }
  /// How many read its events.
  std::size_t readers() const { return readers_.count(); }
  /// "http://127.0.0.1:8090/"
  std::string url() const;

  // These four are called by the trainer's thread.
  /// After the run went back to a checkpoint since ranks were lost: what readers hold is read again at the next update.
  void starts_again() { has_begun_ = false; }
  /// After every update. At most four a second are passed on.
  void updated(const train::TrainingReport& now);
  /// After a line was added to train.jsonl.
  void reported(const train::TrainingReport& report);
  /// After the directory's files changed in another way.
  void changed();

 private:
  serve::HttpResponse answer(const serve::HttpRequest& request);
  std::string run_json();

  std::string directory_;
  Readers readers_;
  double next_now_ = 0;     // of the trainer's thread
  bool has_begun_ = false;  // likewise
  std::atomic<std::int64_t> version_ = 1;
  std::mutex mutex_;
  std::int64_t version_read_ = 0;  // of run_; guarded by mutex_
  std::string run_;                // guarded by mutex_
  std::unique_ptr<serve::HttpServer> server_;
};

}  // namespace tril::watch
