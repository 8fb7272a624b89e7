#include "format/gguf_write.h"

#include "base/error.h"
#include "base/printable.h"

namespace tril {
namespace {

constexpr std::uint64_t kAlignment = 32;

template <class T>
void put(std::string& bytes, T value) {
  bytes.append(reinterpret_cast<const char*>(&value), sizeof value);
}

void put_text(std::string& bytes, std::string_view text) {
  put<std::uint64_t>(bytes, text.size());
  bytes += text;
}

std::string zeros_after(std::uint64_t n) {
  return std::string((kAlignment - n % kAlignment) % kAlignment, '\0');
}

}  // namespace

void GgufMetadata::begin(std::string_view key, GgufKind kind) {
  ++count_;
  put_text(bytes_, key);
  put(bytes_, static_cast<std::uint32_t>(kind));
}

void GgufMetadata::begin_array(std::string_view key, GgufKind kind, std::size_t count) {
  begin(key, GgufKind::array);
  put(bytes_, static_cast<std::uint32_t>(kind));
  put<std::uint64_t>(bytes_, count);
}

void GgufMetadata::add(std::string_view key, bool value) {
  begin(key, GgufKind::boolean);
  put<std::uint8_t>(bytes_, value ? 1 : 0);
}

void GgufMetadata::add(std::string_view key, std::uint32_t value) {
  begin(key, GgufKind::u32);
  put(bytes_, value);
}

void GgufMetadata::add(std::string_view key, float value) {
  begin(key, GgufKind::f32);
  put(bytes_, value);
}

void GgufMetadata::add(std::string_view key, std::string_view value) {
  begin(key, GgufKind::string);
  put_text(bytes_, value);
}

void GgufMetadata::add(std::string_view key, std::span<const std::string> values) {
  begin_array(key, GgufKind::string, values.size());
  for (const std::string& v : values) put_text(bytes_, v);
}

void GgufMetadata::add(std::string_view key, std::span<const std::int32_t> values) {
  begin_array(key, GgufKind::i32, values.size());
  for (const std::int32_t v : values) put(bytes_, v);
}

void GgufMetadata::add(std::string_view key, const std::vector<bool>& values) {
  begin_array(key, GgufKind::boolean, values.size());
  for (const bool v : values) put(bytes_, static_cast<std::uint8_t>(v));
}

void GgufMetadata::add(std::string_view key, std::span<const float> values) {
  begin_array(key, GgufKind::f32, values.size());
  for (const float v : values) put(bytes_, v);
}

void GgufMetadata::add_bytes(std::string_view key, std::string_view values) {
  begin_array(key, GgufKind::u8, values.size());
  bytes_ += values;
}

void GgufMetadata::append(const GgufMetadata& more) {
  count_ += more.count_;
  bytes_ += more.bytes_;
}

std::uint64_t GgufTensorHeader::bytes() const {
  check(!shape.empty() && shape.size() <= 4, name, "has {} dimensions, GGUF allows 1 to 4", shape.size());
  std::uint64_t count = 1;
  for (const std::int64_t n : shape) count *= static_cast<std::uint64_t>(n);
  const std::size_t block = values_of_block(type);
  check(static_cast<std::uint64_t>(shape.back()) % block == 0, name,
        "has rows of {} values, not a multiple of the {} in a block of {}", shape.back(), block, name_of(type));
  return count / block * bytes_of_block(type);
}

GgufWriter::GgufWriter(const std::string& path, std::vector<GgufTensorHeader> tensors, const GgufMetadata& metadata)
    : file_(path), tensors_(std::move(tensors)) {
  std::string header = "GGUF";
  put<std::uint32_t>(header, 3);
  put<std::uint64_t>(header, tensors_.size());
  put<std::uint64_t>(header, metadata.count());
  header += metadata.bytes();
  std::uint64_t offset = 0;
  for (const GgufTensorHeader& t : tensors_) {
    put_text(header, t.name);
    put(header, static_cast<std::uint32_t>(t.shape.size()));
    for (std::size_t i = t.shape.size(); i-- > 0;) put<std::uint64_t>(header, static_cast<std::uint64_t>(t.shape[i]));
    put(header, static_cast<std::uint32_t>(t.type));
    put(header, offset);
    offset += t.bytes();
    offset += zeros_after(offset).size();
  }
  file_.write(header);
  file_.write(zeros_after(header.size()));
}

void GgufWriter::write(std::string_view name, std::span<const std::byte> bytes) {
  check(current_ < tensors_.size() && tensors_[current_].name == name, file_.path(), "{} was written out of order",
        printable(name));
  check(tensors_[current_].bytes() == bytes.size(), file_.path(), "{} has {} bytes, expected {}", printable(name),
        bytes.size(), tensors_[current_].bytes());
  file_.write(bytes);
  file_.write(zeros_after(bytes.size()));
  ++current_;
}

void GgufWriter::commit() {
  check(current_ == tensors_.size(), file_.path(), "has {} of {} tensors", current_, tensors_.size());
  file_.commit();
}

}  // namespace tril
