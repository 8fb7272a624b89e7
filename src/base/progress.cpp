#include "base/progress.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "base/as_size.h"
#include "base/clock.h"
#include "base/log.h"

namespace tril {
namespace {

constexpr double shown_after = 2.0, between_prints = 0.2;  // seconds
constexpr int bar_width = 24;

int terminal_columns() {
  winsize size{};
  return ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
}

// The first `columns` characters of UTF-8 text: a line that wraps could not be cleared.
std::string cut(const std::string& text, int columns) {
  int seen = 0;
  for (size_t i = 0; i < text.size(); ++i)
    if ((static_cast<unsigned char>(text[i]) & 0xC0) != 0x80 && ++seen > columns) return text.substr(0, i);
  return text;
}

}  // namespace

std::string format_count(std::int64_t n) {
  std::string digits = fmt::format("{}", n);
  const std::ptrdiff_t first = n < 0 ? 1 : 0;
  for (std::ptrdiff_t at = std::ssize(digits) - 3; at > first; at -= 3) digits.insert(as_size(at), ",");
  return digits;
}

std::string format_duration(double seconds) {
  if (!(seconds < 1e9)) return "long";
  const auto s = static_cast<std::int64_t>(std::llround(std::max(0.0, seconds)));
  if (s < 60) return fmt::format("{}s", s);
  if (s < 600) return fmt::format("{}m{:02}s", s / 60, s % 60);
  if (s < 3600) return fmt::format("{}m", s / 60);
  if (s < 86400) return fmt::format("{}h{:02}m", s / 3600, s / 60 % 60);
  return fmt::format("{}d{:02}h", s / 86400, s / 3600 % 24);
}

std::string format_bar(double fraction, int width) {
  const double f = std::clamp(std::isfinite(fraction) ? fraction : 0.0, 0.0, 1.0);
  const int filled = static_cast<int>(f * width);
  std::string bar(as_size(width), ' ');
  std::fill_n(bar.begin(), filled, '=');
  if (filled > 0 && filled < width) bar[as_size(filled)] = '>';
  return "[" + bar + "]";
}

Progress::Progress(ProgressOptions options) : options_(std::move(options)) {
  if (!options_.seconds) options_.seconds = seconds_now;
  if (!options_.write) {
    options_.enabled = options_.enabled && stderr_is_terminal();
    options_.write = [](const std::string& text) {
      std::fwrite(text.data(), 1, text.size(), stderr);
      std::fflush(stderr);
    };
  }
  start_ = options_.seconds();
  last_print_ = start_ + shown_after - between_prints;
}

Progress::~Progress() {
  finish();
}

std::string Progress::line(std::int64_t done, const Notes& notes, double now) const {
  std::string text;
  const auto put = [&](std::string_view part) {
    if (!part.empty()) text.append(text.empty() ? "" : "  ").append(part);
  };

  put(notes.before);
  if (options_.total > 0) {
    put(fmt::format("{} {}/{}", options_.label, format_count(done), format_count(options_.total)));
    put(format_bar(static_cast<double>(done) / static_cast<double>(options_.total), bar_width));
  } else {
    put(fmt::format("{} {}", options_.label, format_count(done)));
  }
  put(notes.after);

  const double elapsed = now - start_;
  const auto here = static_cast<double>(done - options_.first);
  if (elapsed > 0 && !options_.rate_unit.empty()) {
    const double rate = (notes.amount >= 0 ? static_cast<double>(notes.amount) : here) / elapsed;
    put(rate < 10 ? fmt::format("{:.1f} {}/s", rate, options_.rate_unit)
                  : fmt::format("{} {}/s", format_count(std::llround(rate)), options_.rate_unit));
  }
  put(notes.last);
  if (options_.total > 0 && here > 0 && done < options_.total)
    put("left " + format_duration(elapsed * static_cast<double>(options_.total - done) / here));
  return text;
}

void Progress::update(std::int64_t done, const Notes& notes) {
  if (!options_.enabled) return;
  const double now = options_.seconds();
  if (now - last_print_ < between_prints) return;
  last_print_ = now;
  const int columns = options_.columns > 0 ? options_.columns : terminal_columns();
  options_.write("\r\033[K" + cut(line(done, notes, now), columns - 1));
  shown_ = true;
}

void Progress::finish() {
  if (shown_) options_.write("\r\033[K");
  shown_ = false;
}

}  // namespace tril
