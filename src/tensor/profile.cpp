#include "tensor/profile.h"

#include <cassert>

#include "base/clock.h"

namespace tril {

Work& Work::operator+=(const Work& other) {
  flops += other.flops, mixed_flops += other.mixed_flops, bytes += other.bytes;
  return *this;
}

std::size_t Profile::row_of(std::string_view op, std::string_view part) {
  for (std::size_t i = 0; i < rows_.size(); ++i)
    if (rows_[i].op == op && rows_[i].part == part) return i;
  rows_.push_back({.op = op, .part = part, .work = {}});
  return rows_.size() - 1;
}

// Adds the time since the last change to the innermost row.
void Profile::charge() {
  const double now = seconds_now();
  if (!open_.empty()) rows_[open_.back()].seconds += now - since_;
  since_ = now;
}

void Profile::open(std::string_view op, std::string_view part, const Work& work) {
  charge();
  if (op.empty() && !open_.empty()) op = rows_[open_.back()].op;
  const std::size_t i = row_of(op, part);
  ++rows_[i].calls;
  rows_[i].work += work;
  open_.push_back(i);
}

void Profile::close() {
  charge();
  open_.pop_back();
}

void Profile::add(const Work& work) {
  if (!open_.empty()) rows_[open_.back()].work += work;
}

void Profile::merge(const Profile& other) {
  assert(open_.empty() && other.open_.empty() && "profiles can be merged only between computations");
  for (const ProfileRow& row : other.rows_) {
    ProfileRow& mine = rows_[row_of(row.op, row.part)];
    mine.calls += row.calls, mine.seconds += row.seconds, mine.work += row.work;
  }
}

double Profile::seconds() const {
  double sum = 0;
  for (const ProfileRow& row : rows_) sum += row.seconds;
  return sum;
}

}  // namespace tril
