#include "corpus/reader.h"

#include <cstring>

#include "base/as_size.h"
#include "base/error.h"
#include "corpus/input.h"
#include "unicode/trim.h"

namespace tril {

namespace {

constexpr std::size_t longest_line = 16 << 20;
constexpr std::size_t sniffed = 4096;  // a NUL this early means that the file is not text

}  // namespace

class LineReader::State {
 public:
  State(const std::string& path, const ReadOptions& options) : input_(path), options_(options), lazy_(path == "-") {
    if (!lazy_) begin();  // so that a binary file is reported before any work is done
  }

  /// The next raw line, unchecked; false at the end.
  bool raw(std::string& line) {
    begin();
    line.clear();
    bool any = false;
    while (!rest_.empty() || more()) {
      any = true;
      const void* found = std::memchr(rest_.data(), '\n', rest_.size());
      const std::size_t n = found ? as_size(static_cast<const char*>(found) - rest_.data()) : rest_.size();
      line.append(rest_.substr(0, n));
      rest_.remove_prefix(found ? n + 1 : n);
      if (line.size() > longest_line)
        fail(at(number_ + 1), "is longer than 16 MiB; pass a text file with one sentence per line");
      if (found) break;
    }
    if (!any) return false;
    ++number_;
    if (!line.empty() && line.back() == '\r') line.pop_back();
    return true;
  }

  Line next(std::string& line) {
    if (!raw(line)) return Line::end;
    const std::size_t nul = line.find('\0');
    const std::optional<Utf8Fault> fault = find_utf8_fault(std::string_view(line).substr(0, nul));
    if (!fault && nul == std::string::npos) return Line::text;
    if (!options_.skip_invalid) {
      const char* hint = options_.may_skip ? "fix it, or pass `skip_invalid`" : "fix it";
      if (fault)
        fail(at(number_), fmt::format("is not valid UTF-8 (byte 0x{:02X} at column {})", fault->byte, fault->column),
             hint);
      fail(at(number_), fmt::format("contains a NUL byte (byte {} of the line)", nul + 1), hint);
    }
    line.clear();
    return Line::invalid;
  }

  bool go_to(const Place& place) {
    begin();
    if (input_.seek(place.offset)) {
      rest_ = {};
      read_ = place.offset;
    } else {
      if (place.offset < offset()) return false;
      while (read_ < place.offset && more()) {
      }
      if (read_ < place.offset)
        fail(name(), fmt::format("ends at byte {}, expected byte {}", read_, place.offset), "was it truncated?");
      rest_.remove_prefix(rest_.size() - as_size(read_ - place.offset));
    }
    number_ = place.lines;
    return true;
  }

  std::int64_t offset() {
    begin();
    return read_ - std::ssize(rest_);
  }
  std::int64_t number() const { return number_; }
  const std::string& name() const { return input_.name(); }

 private:
  void begin() {
    if (begun_) return;
    begun_ = true;
    if (!more()) {
      if (options_.refuse_empty) fail(name(), "is empty", "pass a text file with one sentence per line");
      return;
    }
    if (rest_.substr(0, sniffed).find('\0') != std::string_view::npos)
      fail(name(), fmt::format("is a binary file (a NUL byte at offset {})", rest_.find('\0')),
           "pass a UTF-8 text file with one sentence per line");
    if (rest_.starts_with("\xef\xbb\xbf")) rest_.remove_prefix(3);
  }
  bool more() {
    rest_ = input_.read();
    read_ += std::ssize(rest_);
    return !rest_.empty();
  }
  std::string at(std::int64_t line) const { return fmt::format("{}: line {}", name(), line); }

  Input input_;
  ReadOptions options_;
  bool lazy_, begun_ = false;
  std::string_view rest_;  ///< unused part of the last input
  std::int64_t read_ = 0;  ///< bytes up to the end of rest_
  std::int64_t number_ = 0;
};

LineReader::LineReader(const std::string& path, const ReadOptions& options)
    : state_(std::make_unique<State>(path, options)) {}
LineReader::~LineReader() = default;
LineReader::LineReader(LineReader&&) noexcept = default;
LineReader& LineReader::operator=(LineReader&&) noexcept = default;

Line LineReader::next(std::string& line) {
  return state_->next(line);
}

std::int64_t LineReader::skip(std::int64_t count) {
  std::string line;
  std::int64_t n = 0;
  while (n < count && state_->raw(line)) ++n;
  return n;
}

std::int64_t LineReader::offset() const {
  return state_->offset();
}
bool LineReader::go_to(const Place& place) {
  return state_->go_to(place);
}
std::int64_t LineReader::line_number() const {
  return state_->number();
}
const std::string& LineReader::name() const {
  return state_->name();
}

std::vector<std::string> read_lines(const std::string& path, const ReadOptions& options) {
  LineReader reader(path, options);
  std::vector<std::string> lines;
  std::string line;
  for (Line kind = reader.next(line); kind != Line::end; kind = reader.next(line))
    if (kind == Line::text) lines.push_back(line);
  return lines;
}

}  // namespace tril
