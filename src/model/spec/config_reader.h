// A family's config.json read so that nothing in it goes unnoticed: every key is read, declared to be without effect on
// results, or refused by name.
#pragma once

#include <initializer_list>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "base/error.h"
#include "format/json_file.h"

namespace tril::model {

/// Reads like a JsonObject and remembers what was read.
class ConfigReader {
 public:
  /// @param family  names the model in errors
  ConfigReader(const JsonObject& config, std::string family);

  const JsonObject& json() const { return *config_; }
  bool has(const std::string& key);
  /// There, and null: where that is not the same as absent.
  bool says_null(const std::string& key);
  template <class T>
  T get(const std::string& key, T otherwise) {
    known_.insert(key);
    return config_->get<T>(key, std::move(otherwise));
  }
  /// A size that must be there.
  std::int64_t size(const std::string& key);
  std::int64_t size(const std::string& key, std::int64_t otherwise);
  /// layer_count() of a key that must be there.
  std::int64_t layers(const std::string& key);
  /// Of two names of one value the one by which the file gives it; the first where it gives none. Error where it gives
  /// both and they contradict each other.
  std::string spelt(const std::string& name, const std::string& other);
  /// A probability or another share in [0, 1).
  float share(const std::string& key, double otherwise = 0);
  double positive(const std::string& key, double otherwise);
  double at_least_0(const std::string& key, double otherwise);
  /// An id of a vocabulary, of a list the first; -1 where it is null. Where the key is absent, `otherwise`, which is the
  /// publisher's own, if this vocabulary has it, and else -1.
  std::int32_t id_of(const std::string& key, std::int64_t otherwise, std::int64_t vocab_size);

  /// The key, where it is there, must be this: what else it could ask for is not computed.
  template <class T>
  void only(const std::string& key, const T& supported) {
    known_.insert(key);
    if (const auto value = config_->find<T>(key); value && *value != supported)
      config_->fail_at(key, fmt::format("{} is not supported for {}", *value, family_),
                       fmt::format("only {} is", supported));
  }
  /// Keys that say nothing about results.
  void ignore(std::initializer_list<std::string_view> keys);
  /// Error for keys that were neither read nor ignored and ask for something: not null, false, empty, or a name.
  void finish() const;

 private:
  const JsonObject* config_;
  std::string family_;
  std::set<std::string, std::less<>> known_;
};

/// The most that sizes of the families without a publisher may be; others have such bounds of their own.
struct MostSizes {
  static constexpr std::int64_t vocab_size = 0x7fffffff, d_model = 1 << 16, num_heads = 1 << 12, d_ff = 1 << 24,
                                max_length = 1 << 24;
};

/// Bounds of what is made of a file's numbers: Error naming the key where value is not from 1 to most.
void check_size(const JsonObject& config, std::string_view key, std::int64_t value, std::int64_t most);
/// A size that must be there, from 1 to most.
std::int64_t size_within(const JsonObject& config, std::string_view key, std::int64_t most);
/// An id of at least 0 of a vocabulary.
std::int32_t id_within(const JsonObject& config, std::string_view key, std::int64_t otherwise, std::int64_t vocab_size);
/// A probability or another share in [0, 1).
float share_of(const JsonObject& config, std::string_view key, double otherwise);
/// Numbers that float32, in which models compute, holds too: what overflows there is an Error like what is not finite.
double positive_of(const JsonObject& config, std::string_view key, double otherwise);
double at_least_0_of(const JsonObject& config, std::string_view key, double otherwise);
/// Whether x is above 0 (or at least 0) and finite, also as a float32.
bool is_positive_float(double x);
bool is_float_from_0(double x);

}  // namespace tril::model
