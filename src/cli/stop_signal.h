// SIGINT and SIGTERM as a question: a long command asks between two steps whether it was told to stop, and ends in
// order. The second signal of a kind ends the process at once, as it would without this.
#pragma once

namespace tril::cli {

class StopSignal {
 public:
  StopSignal();   ///< from here on the signals are caught
  ~StopSignal();  ///< and from here on they end the process again
  StopSignal(const StopSignal&) = delete;
  StopSignal& operator=(const StopSignal&) = delete;

  bool came() const;
};

}  // namespace tril::cli
