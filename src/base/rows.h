// A ragged batch: one flat list of N tokens and the offsets of its rows. Row i owns the tokens [offset i, offset
// i+1). Its first token has position start(i) in its sequence: 0, unless a cache already holds earlier tokens.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/as_size.h"
#include "base/error.h"

namespace tril {

class Rows {
 public:
  Rows() = default;

  /// Rows of the given lengths, each starting at position 0.
  static Rows of_lengths(std::span<const std::int32_t> lengths) {
    Rows r;
    r.offsets_.reserve(lengths.size() + 1);
    for (std::int32_t n : lengths) r.append(n);
    return r;
  }
  /// The rectangular batch [batch, length] as a special case.
  static Rows rectangle(std::int64_t batch, std::int64_t length) {
    return of_lengths(std::vector<std::int32_t>(as_size(batch), static_cast<std::int32_t>(length)));
  }

  void append(std::int32_t length, std::int32_t start = 0) {
    check(length >= 0 && start >= 0, "Rows", "invalid row of {} tokens from position {}", length, start);
    offsets_.push_back(offsets_.back() + length);
    starts_.push_back(start);
  }

  std::int64_t count() const { return std::ssize(starts_); }  ///< number of rows
  std::int64_t tokens() const { return offsets_.back(); }     ///< N, all rows together
  std::int32_t begin(std::int64_t i) const { return offsets_[as_size(i)]; }
  std::int32_t end(std::int64_t i) const { return offsets_[as_size(i) + 1]; }
  std::int32_t length(std::int64_t i) const { return end(i) - begin(i); }
  std::int32_t start(std::int64_t i) const { return starts_[as_size(i)]; }
  std::int32_t longest() const {
    std::int32_t n = 0;
    for (std::int64_t i = 0; i < count(); ++i) n = length(i) > n ? length(i) : n;
    return n;
  }
  std::span<const std::int32_t> offsets() const { return offsets_; }

  /// The position of each of the N tokens in its sequence.
  std::vector<std::int32_t> positions() const {
    std::vector<std::int32_t> p;
    p.reserve(as_size(tokens()));
    for (std::int64_t i = 0; i < count(); ++i)
      for (std::int32_t t = 0; t < length(i); ++t) p.push_back(start(i) + t);
    return p;
  }

  friend bool operator==(const Rows&, const Rows&) = default;

 private:
  std::vector<std::int32_t> offsets_{0};
  std::vector<std::int32_t> starts_;
};

}  // namespace tril
