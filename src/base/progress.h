// A progress line on the terminal: how far the work is, how fast it goes and how long it will take:
//
//   epoch 3/30  update 1,240/8,000  [=====>                  ]  loss 3.412  26,410 tokens/s  left 21m
//
// Nothing is printed if stderr is no terminal, nor for work that ends within two seconds.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

namespace tril {

/// 1234567 -> "1,234,567".
std::string format_count(std::int64_t n);
/// Seconds in at most two units: "8s", "21m", "3h05m", "2d04h".
std::string format_duration(double seconds);
/// `fraction` in [0, 1] as "[=====>      ]", `width` characters between the brackets.
std::string format_bar(double fraction, int width);

struct ProgressOptions {
  std::string label = "done";              ///< what is counted, printed before the count: "update", "line"
  std::string rate_unit;                   ///< the unit of `amount`, as in "26,410 tokens/s"; empty: no rate
  std::int64_t total = 0;                  ///< 0: unknown, so no bar and no time left
  std::int64_t first = 0;                  ///< where a resumed run starts: its rate does not count earlier work
  bool enabled = true;                     ///< false under --quiet or if stderr is no terminal
  int columns = 0;                         ///< width of the terminal; 0 asks the terminal
  std::function<double()> seconds;         ///< the clock, for tests; empty: the steady clock
  std::function<void(std::string)> write;  ///< takes the output, for tests; empty: stderr
};

/// The progress line. Thread-compatible; update() costs one clock reading if it has nothing to print.
class Progress {
 public:
  explicit Progress(ProgressOptions options);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  /// The texts around the bar.
  struct Notes {
    std::string_view before;   ///< "epoch 3/30"
    std::string_view after;    ///< "loss 3.412  lr 0.0031"
    std::int64_t amount = -1;  ///< total number of `rate_unit`s since the start of this run; -1: done - first
    std::string_view last;     ///< after the rate: "val BLEU 24.1 (best 24.1)"
  };

  /// Reports that `done` of the total are done. Prints at most five times a second, and not in the first two seconds.
  void update(std::int64_t done, const Notes& notes);
  void update(std::int64_t done) { update(done, Notes{}); }
  /// Changes the total, if it is not known from the start.
  void set_total(std::int64_t total) { options_.total = total; }
  /// Clears the line; the destructor does it too.
  void finish();

  /// The line for this state, without control characters, as update() prints it.
  std::string line(std::int64_t done, const Notes& notes, double now) const;

 private:
  ProgressOptions options_;
  double start_, last_print_;
  bool shown_ = false;
};

}  // namespace tril
