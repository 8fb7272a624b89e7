#include "cli/options/pull_display.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/clock.h"
#include "cli/io/standard_output.h"
#include "format/json_text.h"

namespace tril::cli {
namespace {

constexpr double between_lines = 1;  // seconds
constexpr std::uint64_t megabyte = 1'000'000;

}  // namespace

PullDisplay::PullDisplay(std::string model, const PullDisplayOptions& options)
    : model_(std::move(model)), options_(options), start_(seconds_now()), last_json_(start_) {}

void PullDisplay::show(const hub::PullProgress& p) {
  if (options_.json) return show_json(p);
  const auto in_megabytes = [](std::uint64_t bytes) { return static_cast<std::int64_t>(bytes / megabyte); };
  if (!line_)
    line_.emplace(ProgressOptions{.label = "MB",
                                  .rate_unit = "MB",
                                  .total = in_megabytes(p.total + megabyte - 1),
                                  .first = in_megabytes(p.done - std::min(p.done, p.fetched)),  // by an earlier try
                                  .enabled = !options_.quiet,
                                  .columns = 0,
                                  .seconds = {},
                                  .write = {}});
  line_->update(in_megabytes(p.done), {.before = model_, .after = "", .amount = in_megabytes(p.fetched), .last = ""});
}

void PullDisplay::show_json(const hub::PullProgress& p) {
  const double now = seconds_now(), elapsed = now - start_;
  if (now - last_json_ < between_lines) return;
  last_json_ = now;
  const double rate = static_cast<double>(p.fetched) / elapsed;
  nlohmann::ordered_json line{{"event", "progress"}, {"done", p.done}, {"total", p.total}, {"bytes_per_second", rate}};
  line["seconds_left"] = nullptr;
  if (rate > 0 && p.total > p.done) line["seconds_left"] = static_cast<double>(p.total - p.done) / rate;
  write_stdout(json_text(line) + "\n");
}

}  // namespace tril::cli
