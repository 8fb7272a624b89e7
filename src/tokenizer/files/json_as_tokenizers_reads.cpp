#include "tokenizer/files/json_as_tokenizers_reads.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

namespace tril {
namespace {

using Json = nlohmann::json;

// A decimal number with the rounding of the `tokenizers` library's JSON reader: the digits as an integer, rounded, then
// one multiplication or division by a power of ten. The last bit is sometimes not that of the nearest double, and it
// decides between two segmentations of equal score in a unigram model.
double decimal_in_two_steps(std::string_view text) {
  const bool negative = text.starts_with('-');
  std::uint64_t digits = 0;
  int exponent = 0, written = 0;
  bool behind_point = false, full = false;
  std::size_t i = negative ? 1 : 0;
  for (; i < text.size() && (text[i] | 0x20) != 'e'; ++i) {
    if (text[i] == '.') {
      behind_point = true;
      continue;
    }
    const auto value_of_digit = static_cast<std::uint64_t>(text[i] - '0');
    full = full || digits > (std::numeric_limits<std::uint64_t>::max() - value_of_digit) / 10;
    if (!full) digits = 10 * digits + value_of_digit;
    exponent += full ? (behind_point ? 0 : 1) : (behind_point ? -1 : 0);
  }
  if (i + 1 < text.size()) {
    const char* begin = text.data() + i + 1;
    std::from_chars(*begin == '+' ? begin + 1 : begin, text.data() + text.size(), written);
  }
  exponent = static_cast<int>(std::clamp<std::int64_t>(std::int64_t{exponent} + written, -1000, 1000));
  auto value = static_cast<double>(digits);
  for (; exponent < -308 && value != 0; exponent += 308) value /= 1e308;
  value = exponent < 0 ? value / std::pow(10.0, -exponent) : value * std::pow(10.0, exponent);
  return negative ? -value : value;
}

// Builds the values of a file, with numbers read as above.
class JsonBuilder : public nlohmann::json_sax<Json> {
 public:
  Json root;

  bool null() override { return put(nullptr); }
  bool boolean(bool v) override { return put(v); }
  bool number_integer(number_integer_t v) override { return put(v); }
  bool number_unsigned(number_unsigned_t v) override { return put(v); }
  bool number_float(number_float_t, const string_t& text) override { return put(decimal_in_two_steps(text)); }
  bool string(string_t& v) override { return put(std::move(v)); }
  bool binary(binary_t&) override { return false; }
  bool start_object(std::size_t) override { return open(Json::object()); }
  bool start_array(std::size_t) override { return open(Json::array()); }
  bool end_object() override { return close(); }
  bool end_array() override { return close(); }
  bool key(string_t& v) override {
    key_ = std::move(v);
    return true;
  }
  bool parse_error(std::size_t, const std::string&, const nlohmann::detail::exception&) override { return false; }

 private:
  template <class V>
  Json* add(V&& value) {
    if (open_.empty()) return &(root = std::forward<V>(value));
    if (open_.back()->is_object()) return &((*open_.back())[key_] = std::forward<V>(value));
    open_.back()->push_back(std::forward<V>(value));
    return &open_.back()->back();
  }
  template <class V>
  bool put(V&& value) {
    add(std::forward<V>(value));
    return true;
  }
  bool open(Json value) {
    open_.push_back(add(std::move(value)));
    return open_.size() <= 64;  // far deeper than any real file
  }
  bool close() {
    open_.pop_back();
    return true;
  }

  std::vector<Json*> open_;
  std::string key_;
};

}  // namespace

std::optional<Json> json_as_tokenizers_reads(std::string_view text) {
  JsonBuilder builder;
  if (!Json::sax_parse(text, &builder)) return std::nullopt;
  return std::move(builder.root);
}

}  // namespace tril
