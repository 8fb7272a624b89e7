// Checks of a configuration's values, for configurations that files or options may set. Errors name the key.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace tril::model {

/// Every check throws an Error(usage) "WHERE: KEY: ..." if it fails.
class ConfigChecks {
 public:
  /// @param where  names the configuration in errors: "config.json", "gpt2"
  explicit ConfigChecks(std::string_view where) : where_(where) {}

  void need(bool ok, std::string_view key, const std::string& text) const;
  /// A size from 1 to `most`. Limits come before anything is allocated: a file of a few bytes must not request all memory.
  void within(std::int64_t value, std::int64_t most, std::string_view key) const;
  /// A probability in [0, 1).
  void probability(double p, std::string_view key) const;
  void probability(float p, std::string_view key) const;
  /// A positive number of float32.
  void positive(double x, std::string_view key) const;
  /// A number of float32 that is at least 0.
  void at_least_0(double x, std::string_view key) const;
  /// A token id of the vocabulary.
  void id(std::int32_t id, std::int64_t vocab_size, std::string_view key) const;
  /// The same, or -1: there is no such token.
  void optional_id(std::int32_t id, std::int64_t vocab_size, std::string_view key) const;

 private:
  std::string where_;
};

}  // namespace tril::model
