// The part of the protocol buffers wire format that SentencePiece models need. Source: the encoding's description in
// the Protocol Buffers project.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

namespace tril::protobuf {

enum class Wire : std::uint8_t { varint = 0, fixed64 = 1, bytes = 2, fixed32 = 5 };

/// One field of a message: its number, and its value as given by `wire`.
struct Field {
  std::uint64_t number = 0;
  Wire wire = Wire::varint;
  std::uint64_t value = 0;  ///< the bits of a varint or a fixed-size number
  std::string_view bytes;   ///< the content of a bytes field: text, or a message
};

/// Calls `visit` for each field of `message`, in order, until it returns false. Returns false in that case, or if
/// the message is damaged.
bool for_each_field(std::string_view message, const std::function<bool(const Field&)>& visit);

/// Appends one field to a message.
void append_varint(std::string& message, std::uint64_t number, std::uint64_t value);
void append_float(std::string& message, std::uint64_t number, float value);
void append_bytes(std::string& message, std::uint64_t number, std::string_view value);

}  // namespace tril::protobuf
