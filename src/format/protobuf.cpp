#include "format/protobuf.h"

#include <bit>

namespace tril::protobuf {

namespace {

bool take_varint(std::string_view& bytes, std::uint64_t& value) {
  value = 0;
  for (unsigned shift = 0; shift < 64 && !bytes.empty(); shift += 7) {
    const auto byte = static_cast<std::uint8_t>(bytes.front());
    bytes.remove_prefix(1);
    value |= std::uint64_t{byte & 0x7fu} << shift;
    if (byte < 0x80) return true;
  }
  return false;
}

// Reads a little-endian number of `size` bytes.
bool take_fixed(std::string_view& bytes, std::size_t size, std::uint64_t& value) {
  if (bytes.size() < size) return false;
  value = 0;
  for (std::size_t i = size; i-- > 0;) value = value << 8 | static_cast<std::uint8_t>(bytes[i]);
  bytes.remove_prefix(size);
  return true;
}

bool take_field(std::string_view& message, Field& field) {
  std::uint64_t key = 0, size = 0;
  if (!take_varint(message, key)) return false;
  field = {.number = key >> 3, .wire = static_cast<Wire>(key & 7), .value = 0, .bytes = {}};
  switch (field.wire) {
    case Wire::varint:
      return take_varint(message, field.value);
    case Wire::fixed64:
      return take_fixed(message, 8, field.value);
    case Wire::fixed32:
      return take_fixed(message, 4, field.value);
    case Wire::bytes:
      if (!take_varint(message, size) || size > message.size()) return false;
      field.bytes = message.substr(0, size);
      message.remove_prefix(size);
      return true;
  }
  return false;
}

void put_varint(std::string& message, std::uint64_t value) {
  for (; value >= 0x80; value >>= 7) message += static_cast<char>(value | 0x80);
  message += static_cast<char>(value);
}

void put_key(std::string& message, std::uint64_t number, Wire wire) {
  put_varint(message, number << 3 | static_cast<std::uint64_t>(wire));
}

}  // namespace

bool for_each_field(std::string_view message, const std::function<bool(const Field&)>& visit) {
  Field field;
  while (!message.empty())
    if (!take_field(message, field) || !visit(field)) return false;
  return true;
}

void append_varint(std::string& message, std::uint64_t number, std::uint64_t value) {
  put_key(message, number, Wire::varint);
  put_varint(message, value);
}

void append_float(std::string& message, std::uint64_t number, float value) {
  put_key(message, number, Wire::fixed32);
  const auto bits = std::bit_cast<std::uint32_t>(value);
  for (int shift = 0; shift < 32; shift += 8) message += static_cast<char>(bits >> shift & 0xff);
}

void append_bytes(std::string& message, std::uint64_t number, std::string_view value) {
  put_key(message, number, Wire::bytes);
  put_varint(message, value.size());
  message += value;
}

}  // namespace tril::protobuf
