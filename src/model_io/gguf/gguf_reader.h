// Reads the metadata keys of one architecture. Each key is read, declared to have no effect, or refused.
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
  bool has(std::string_view key) { return find(key) != nullptr; }
  const GgufEntry* find(std::string_view key) { return file_->find(full(key)); }
  /// An integer from 1 to 2^31 - 1. A list with one value for each layer must have equal values.
  std::optional<std::int64_t> count(std::string_view key);
  std::int64_t needed_count(std::string_view key);
  /// A finite number; a 32-bit float is given by its shortest decimal form.
  std::optional<double> number(std::string_view key);
  template <class T>
  std::optional<T> get(std::string_view key) {
    return file_->get<T>(full(key));
  }
  /// Declares that a key does not affect results.
  void ignore(std::string_view key) { full(key); }
  [[noreturn]] void fail_at(std::string_view key, const std::string& text, const std::string& hint = {});
  /// @throws Error for a key that was neither read nor ignored and has an effect: its value is not zero, false or empty
  void finish() const;

 private:
  std::string full(std::string_view key);  // and marks the key as known

  const GgufFile* file_;
  std::string architecture_;
  std::set<std::string, std::less<>> known_;
};

}  // namespace tril::model
