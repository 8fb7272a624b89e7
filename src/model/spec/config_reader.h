// Reads a family's config.json so that nothing in it goes unnoticed: every key is read, declared to have no effect
// on results, or refused by name.
#pragma once

#include <initializer_list>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "base/error.h"
#include "format/json_file.h"
#include "model/spec/hidden_act.h"

namespace tril::model {

/// Reads like a JsonObject and records which keys were read.
class ConfigReader {
 public:
  /// @param family  names the model in errors
  ConfigReader(const JsonObject& config, std::string family);

  const JsonObject& json() const { return *config_; }
  bool has(const std::string& key);
  /// True if the key is present and null, where that differs from absent.
  bool says_null(const std::string& key);
  template <class T>
  T get(const std::string& key, T otherwise) {
    known_.insert(key);
    return config_->get<T>(key, std::move(otherwise));
  }
  /// A boolean. Null is false, because `transformers` tests such a value for truth.
  bool flag(const std::string& key, bool otherwise);
  /// A required size.
  std::int64_t size(const std::string& key);
  std::int64_t size(const std::string& key, std::int64_t otherwise);
  /// layer_count() of a required key.
  std::int64_t layers(const std::string& key);
  /// The name that the file uses of two for one value; the first if it uses neither. @throws Error if it has both with
  /// different values
  std::string spelt(const std::string& name, const std::string& other);
  /// A probability or another fraction in [0, 1).
  float share(const std::string& key, double otherwise = 0);
  double positive(const std::string& key, double otherwise);
  double at_least_0(const std::string& key, double otherwise);
  /// A token id; the first of a list; -1 for null. An absent key means `otherwise`, the publisher's default, or -1 if the
  /// vocabulary is too small for it.
  std::int32_t id_of(const std::string& key, std::int64_t otherwise, std::int64_t vocab_size);

  /// The activation of this name in `transformers`.
  HiddenAct hidden_act(const std::string& key, HiddenAct otherwise);
  /// If the key is present, it must have this value: other values are not supported. Null is false, as for flag().
  template <class T>
  void only(const std::string& key, const T& supported) {
    known_.insert(key);
    std::optional<T> value = config_->find<T>(key);
    if constexpr (std::is_same_v<T, bool>)
      if (says_null(key)) value = false;
    if (value && *value != supported)
      config_->fail_at(key, fmt::format("{} is not supported for {}", *value, family_),
                       fmt::format("only {} is", supported));
  }
  /// Keys that do not affect results.
  void ignore(std::initializer_list<std::string_view> keys);
  /// @throws Error for a key that was neither read nor ignored and has an effect: its value is not null, false, 0 or
  /// empty
  void finish() const;

 private:
  const JsonObject* config_;
  std::string family_;
  std::set<std::string, std::less<>> known_;
};

/// The largest sizes of tril's own families; other families have their own limits.
struct MostSizes {
  static constexpr std::int64_t vocab_size = 0x7fffffff, d_model = 1 << 16, num_heads = 1 << 12, d_ff = 1 << 24,
                                max_length = 1 << 24;
};

/// Limits what is allocated from a file's numbers: Error naming the key if value is not from 1 to most.
void check_size(const JsonObject& config, std::string_view key, std::int64_t value, std::int64_t most);
/// A required size, from 1 to most.
std::int64_t size_within(const JsonObject& config, std::string_view key, std::int64_t most);
/// A token id of at least 0.
std::int32_t id_within(const JsonObject& config, std::string_view key, std::int64_t otherwise, std::int64_t vocab_size);
/// A probability or another fraction in [0, 1).
float share_of(const JsonObject& config, std::string_view key, double otherwise);
/// A positive number. Models compute in float32, so a number that overflows it is an Error, as is one that is not finite.
double positive_of(const JsonObject& config, std::string_view key, double otherwise);
double at_least_0_of(const JsonObject& config, std::string_view key, double otherwise);
/// True if x is above 0 (or at least 0) and finite, also as a float32.
bool is_positive_float(double x);
bool is_float_from_0(double x);

}  // namespace tril::model
