#include "trace/trace.h"

#include <algorithm>
#include <cstring>

namespace tril::trace {
namespace {

template <class T>
std::vector<std::byte> bytes_of(const Tensor& x) {
  const std::vector<T> values = host_copy<T>(x);
  std::vector<std::byte> bytes(values.size() * sizeof(T));
  if (!bytes.empty()) std::memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}

template <class To, class From>
std::vector<To> converted(const std::vector<std::byte>& bytes) {
  std::vector<From> values(bytes.size() / sizeof(From));
  if (!bytes.empty()) std::memcpy(values.data(), bytes.data(), bytes.size());
  return {values.begin(), values.end()};
}

}  // namespace

std::int64_t Value::count() const {
  std::int64_t n = 1;
  for (const std::int64_t size : shape) n *= size;
  return n;
}

std::vector<float> Value::floats() const {
  if (type == DType::f32) return converted<float, float>(bytes);
  const std::vector<std::int32_t> values = ints();
  std::vector<float> list;
  for (const std::int32_t v : values) list.push_back(static_cast<float>(v));
  return list;
}

std::vector<std::int32_t> Value::ints() const {
  check(type != DType::f32, name, "its values are not integers");
  return type == DType::u8 ? converted<std::int32_t, std::uint8_t>(bytes)
                           : converted<std::int32_t, std::int32_t>(bytes);
}

void Trace::add(const std::string& name, const Tensor& x, std::int64_t heads, std::string source) {
  Value v{.name = name, .shape = {}, .type = x.dtype(), .bytes = {}, .source = std::move(source)};
  const Shape shape = x.shape();
  for (std::size_t i = 0; i < shape.rank(); ++i) v.shape.push_back(shape[i]);
  if (heads > 0 && v.shape.size() == 2) {
    check(v.shape[1] % heads == 0, name, "{} cannot be divided into {} heads", shape, heads);
    v.shape = {v.shape[0], heads, v.shape[1] / heads};
  }
  if (!keeps_values_) return add(std::move(v));
  const std::int64_t more = shape.count() * static_cast<std::int64_t>(size_of(x.dtype()));
  const Value* const before = find(name);
  ask(name, more - (before ? std::ssize(before->bytes) : 0));
  switch (x.dtype()) {
    case DType::f32:
      v.bytes = bytes_of<float>(x);
      break;
    case DType::i32:
      v.bytes = bytes_of<std::int32_t>(x);
      break;
    case DType::u8:
      v.bytes = bytes_of<std::uint8_t>(x);
      break;
    case DType::i8:
    case DType::bf16:
      fail_usage(name, fmt::format("values of type {} are not recorded", x.dtype()));
  }
  add(std::move(v));
}

void Trace::ask(const std::string& name, std::int64_t bytes) const {
  if (bytes_ + bytes > most_bytes_)
    fail_usage(name, fmt::format("the trace would take more than {} bytes here", most_bytes_),
               "ask for fewer points, such as \"*.weights\", give a shorter text, or raise the limit");
}

void Trace::add(Value value) {
  const auto [place, is_new] = places_.emplace(value.name, values_.size());
  if (!is_new) bytes_ -= std::ssize(values_[place->second].bytes);
  bytes_ += std::ssize(value.bytes);
  if (is_new)
    values_.push_back(std::move(value));
  else
    values_[place->second] = std::move(value);
}

const Value* Trace::find(std::string_view name) const {
  const auto place = places_.find(name);
  return place == places_.end() ? nullptr : &values_[place->second];
}

const Value& Trace::at(std::string_view name) const {
  if (const Value* const value = find(name)) return *value;
  std::vector<std::string> names;
  for (const Value& v : values_) names.push_back(v.name);
  fail_usage(std::string(name), "the trace has no such point", did_you_mean(name, names));
}

}  // namespace tril::trace
