// Where the time of a computation goes. A row is an op and a part of it ("linear", "weight gradient"). It holds the
// time spent in it, without rows opened within it, so that all rows add up to the total, and the work that its shapes
// imply. A profile belongs to one thread and is reached through its Context; profiles of several threads are merged.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace tril {

/// The minimum work of an op, whatever code computes it.
struct Work {
  double flops = 0;        ///< of products of float32 values, two per multiply-add
  double mixed_flops = 0;  ///< of products of values rounded to bfloat16
  double bytes = 0;        ///< every operand read once, every result written once

  Work& operator+=(const Work& other);
};

struct ProfileRow {
  std::string_view op, part;  ///< literals
  std::int64_t calls = 0;
  double seconds = 0;
  Work work;
};

class Profile {
 public:
  /// Closes its row when it is destroyed.
  class Timer {
   public:
    explicit Timer(Profile* profile) : profile_(profile) {}
    Timer(const Timer&) = delete;
    Timer& operator=(const Timer&) = delete;
    ~Timer() {
      if (profile_) profile_->close();
    }

   private:
    Profile* profile_;
  };

  /// Counts time for this row until close(), or until another row is opened within it. An empty `op` means that
  /// of the open row.
  void open(std::string_view op, std::string_view part, const Work& work);
  void close();
  /// Adds work to the open row.
  void add(const Work& work);

  /// Adds another thread's rows to these. Neither profile may have an open row.
  void merge(const Profile& other);
  /// Discards all measurements. No row may be open.
  void clear() { rows_.clear(); }

  /// In the order in which they were first opened.
  const std::vector<ProfileRow>& rows() const { return rows_; }
  /// The sum over all rows.
  double seconds() const;

 private:
  std::size_t row_of(std::string_view op, std::string_view part);
  void charge();

  std::vector<ProfileRow> rows_;
  std::vector<std::size_t> open_;  // innermost last
  double since_ = 0;               // start time of the innermost row's clock
};

}  // namespace tril
