#include "perf/step_profile.h"

#include <fmt/format.h>
#include <algorithm>

namespace tril::train {
namespace {

// The row of one update; `seconds` is wall-clock time.
StepRow row_of(const MeasuredUpdates& m, std::string name, double calls, double seconds, const Work& work) {
  const double updates = static_cast<double>(m.updates);
  const Work each{work.flops / updates, work.mixed_flops / updates, work.bytes / updates};
  return {.name = std::move(name),
          .calls = calls / updates,
          .milliseconds = 1000 * seconds / updates,
          .share = seconds / m.seconds,
          .work = each,
          .bound = m.roof.bound(each),
          .roof_milliseconds = 1000 * m.roof.seconds(each)};
}

}  // namespace

StepProfile step_profile(const MeasuredUpdates& m) {
  StepProfile p;
  p.threads = m.threads, p.updates = m.updates, p.roof = m.roof;
  for (const ProfileRow& r : m.profile.rows())
    p.rows.push_back(
        row_of(m, fmt::format("{}: {}", r.op, r.part), static_cast<double>(r.calls), r.seconds / m.threads, r.work));
  const double of_workers = m.profile.seconds() / m.threads;
  p.rows.push_back(row_of(m, "data: waiting", static_cast<double>(m.updates), m.data_seconds, {}));
  p.rows.push_back(
      row_of(m, "outside the workers", static_cast<double>(m.updates), m.seconds - m.data_seconds - of_workers, {}));
  std::stable_sort(p.rows.begin(), p.rows.end(),
                   [](const StepRow& a, const StepRow& b) { return a.milliseconds > b.milliseconds; });

  Work all;
  for (const ProfileRow& r : m.profile.rows()) all += r.work;
  p.total = row_of(m, "update", static_cast<double>(m.updates), m.seconds, all);
  p.total.roof_milliseconds = 0;
  for (const StepRow& r : p.rows) p.total.roof_milliseconds += r.roof_milliseconds;
  return p;
}

}  // namespace tril::train
