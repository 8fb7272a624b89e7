// A pass of a frozen model within a training step.
#pragma once

#include "tensor/context.h"

namespace tril::train {

/// Puts a context into serving mode until the end of the scope: no dropout, nothing on the tape.
class ServingScope {
 public:
  explicit ServingScope(Context& c) : c_(c), tape_(c.tape()), training_(c.training()) {
    c.set_tape(nullptr);
    c.set_training(false);
  }
  ServingScope(const ServingScope&) = delete;
  ServingScope& operator=(const ServingScope&) = delete;
  ~ServingScope() {
    c_.set_tape(tape_);
    c_.set_training(training_);
  }

 private:
  Context& c_;
  Tape* tape_;
  bool training_;
};

}  // namespace tril::train
