// Recorder: the observer of a traced pass. It applies the edits and keeps the wanted values.
#pragma once

#include <functional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "tensor/observer.h"
#include "trace/edit.h"
#include "trace/trace.h"

namespace tril::trace {

class Recorder : public Observer {
 public:
  struct Options {
    std::vector<std::string> only;  ///< patterns of the points to be kept (covers()); empty: none
    std::span<const Edit> edits;    ///< must outlive the recorder
    const Trace* donor = nullptr;   ///< values for the edits that patch; null: there are none
    bool growing = false;           ///< the text still grows: an edit of a token that is not there yet changes nothing
    bool gradients = false;         ///< also keep "NAME.gradient", if a tape records
    bool may_miss = false;          ///< a pattern of `only` may name no point
    std::function<void()> checkpoint = nullptr;  ///< is called at every point; it throws to end the pass
  };
  Recorder(Trace& trace, Options options);

  /// Keeps a value that is no module's, such as the logits, if it is wanted; no edit changes it.
  void show(const std::string& name, const Tensor& value);
  /// The edits alone, for a second pass over the same text that keeps nothing.
  Options edits_alone() const {
    return {.edits = o_.edits, .donor = o_.donor, .growing = o_.growing, .checkpoint = o_.checkpoint};
  }
  bool has_edits() const { return !o_.edits.empty(); }
  /// @throws Error(usage) naming a pattern or an edit that no point of the pass has matched
  void check_all_met() const;

 protected:
  bool wants_point(const std::string& name) override;
  bool see_point(Context& c, const std::string& name, std::int64_t heads, Tensor& value) override;
  bool leaves_out_step(const std::string& name) override;
  void ask_bytes(const std::string& name, std::int64_t bytes) override { trace_->ask(name, bytes); }

 private:
  bool is_kept(const std::string& name);
  bool is_changed(const std::string& name) const;
  Tensor with_gradient(Context& c, const std::string& name, const Tensor& value, std::int64_t heads);

  Trace* trace_;
  Options o_;
  std::set<std::string> names_;  // all points of the pass
  std::vector<bool> met_patterns_, met_edits_;
};

}  // namespace tril::trace
