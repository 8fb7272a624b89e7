// The keys of one architecture read so that none goes unnoticed: each is read, declared to be without effect, or refused.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "format/gguf.h"

namespace tril::model {

class GgufReader {
 public:
  explicit GgufReader(const GgufFile& file);

  const GgufFile& file() const { return *file_; }
  const std::string& architecture() const { return architecture_; }
  bool has(std::string_view key) { return file_->find(full(key)) != nullptr; }
  /// A whole number from 1 to 2^31 - 1; of a list, one for each layer, what all of them are.
  std::optional<std::int64_t> count(std::string_view key);
  std::int64_t needed_count(std::string_view key);
  /// A finite number, as short as a 32-bit float can be written where it is one.
  std::optional<double> number(std::string_view key);
  template <class T>
  std::optional<T> get(std::string_view key) {
    return file_->get<T>(full(key));
  }
  /// Keys that say nothing about results.
  void ignore(std::string_view key) { full(key); }
  [[noreturn]] void fail_at(std::string_view key, const std::string& text, const std::string& hint = {});
  /// Error for keys that were neither read nor ignored and ask for something: not zero, false or empty.
  void finish() const;

 private:
  std::string full(std::string_view key);  // and from now on it is known

  const GgufFile* file_;
  std::string architecture_;
  std::set<std::string, std::less<>> known_;
};

}  // namespace tril::model
