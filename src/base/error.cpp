#include "base/error.h"

#include <algorithm>
#include <numeric>

#include "base/printable.h"

namespace tril {
namespace {

// Names of files and words from them may hold line breaks and other control characters, which would garble a log.
std::string in_one_line(std::string text) {
  const bool plain = std::all_of(text.begin(), text.end(), [](char c) { return c >= 0x20 && c < 0x7f; });
  return plain ? text : printable(text, std::string::npos);
}

std::string join(const std::string& where, const std::string& message, const std::string& hint) {
  std::string text = where.empty() ? message : where + ": " + message;
  if (!hint.empty()) text += "; " + hint;
  return text;
}

// The number of edits (insert, delete, replace, swap of neighbours) that turn `a` into `b` [Damerau 1964].
size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<size_t> before(b.size() + 1), last(b.size() + 1), row(b.size() + 1);
  std::iota(last.begin(), last.end(), size_t{0});
  for (size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, last[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1)});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) row[j] = std::min(row[j], before[j - 2] + 1);
    }
    before.swap(last);
    last.swap(row);
  }
  return last[b.size()];
}

// True if the lengths differ by so much.
bool differ_by(size_t least, std::string_view a, std::string_view b) {
  return std::max(a.size(), b.size()) - std::min(a.size(), b.size()) >= least;
}

// The number of edits to the first word of a name, for users who left the other words out: "beem" means "beam_size",
// and "--beem" means "--beam-size". More than one edit is taken for a different word.
size_t distance_to_beginning(std::string_view word, std::string_view name) {
  constexpr size_t shortest = 4, none = std::string_view::npos;
  if (word.starts_with("--") != name.starts_with("--")) return none;
  if (word.starts_with("--")) word.remove_prefix(2), name.remove_prefix(2);
  const size_t end = name.find_first_of("-_");
  if (end == none || end < shortest || word.size() < shortest || differ_by(2, word, name.substr(0, end))) return none;
  if (word.find_first_of("-_") != none) return none;
  const size_t distance = edit_distance(word, name.substr(0, end));
  return distance <= 1 ? distance : none;
}

}  // namespace

struct Error::Parts {
  ErrorKind kind;
  std::string where, message, hint;
};

Error::Error(ErrorKind kind, std::string where, std::string what, std::string hint)
    : std::runtime_error(in_one_line(join(where, what, hint))),
      parts_(std::make_shared<const Parts>(
          Parts{kind, in_one_line(std::move(where)), in_one_line(std::move(what)), in_one_line(std::move(hint))})) {}
Error::Error(const Error&) noexcept = default;
Error& Error::operator=(const Error&) noexcept = default;
Error::~Error() = default;

ErrorKind Error::kind() const noexcept {
  return parts_->kind;
}
const std::string& Error::where() const noexcept {
  return parts_->where;
}
const std::string& Error::message() const noexcept {
  return parts_->message;
}
const std::string& Error::hint() const noexcept {
  return parts_->hint;
}

Error Error::within(std::string_view outer) const {
  return Error(kind(), where().empty() ? std::string(outer) : fmt::format("{}: {}", outer, where()), message(), hint());
}
Error Error::as_failure() const {
  return Error(ErrorKind::failure, where(), message(), hint());
}

void fail_usage(std::string where, std::string what, std::string hint) {
  throw Error(ErrorKind::usage, std::move(where), std::move(what), std::move(hint));
}

void fail(std::string where, std::string what, std::string hint) {
  throw Error(ErrorKind::failure, std::move(where), std::move(what), std::move(hint));
}

std::string nearest(std::string_view word, const std::vector<std::string>& candidates) {
  // A misspelt word may have a third of its letters wrong, a short word two. With half of its letters wrong, it is a
  // different word.
  size_t best = std::min(std::max<size_t>(2, word.size() / 3), word.size() / 2) + 1;
  std::string found;
  for (const std::string& candidate : candidates) {
    // The difference in length is the least distance: a long word from elsewhere is not compared letter by letter.
    const size_t whole = differ_by(best, word, candidate) ? std::string::npos : edit_distance(word, candidate);
    const size_t distance = std::min(whole, distance_to_beginning(word, candidate));
    if (distance < best) best = distance, found = candidate;
  }
  return found;
}

std::string did_you_mean(std::string_view word, const std::vector<std::string>& candidates) {
  const std::string found = nearest(word, candidates);
  return found.empty() ? "" : fmt::format("did you mean {}?", printable(found));
}

}  // namespace tril
