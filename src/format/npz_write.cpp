#include "format/npz_write.h"

#include <fmt/ranges.h>
#include <zlib.h>

#include <bit>
#include <limits>

#include "base/error.h"
#include "base/printable.h"

namespace tril {
namespace {

static_assert(std::endian::native == std::endian::little, "numbers are written as they are stored");

constexpr std::size_t alignment = 64;  // of the values in a .npy, as NumPy writes them

std::string npy_header(std::string_view type, const std::vector<std::int64_t>& shape) {
  std::string text = fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': ({}{}), }}", type,
                                 fmt::join(shape, ", "), shape.size() == 1 ? "," : "");
  constexpr std::size_t before = 10;  // magic, version, length
  text.append(alignment - 1 - (before + text.size()) % alignment, ' ');
  text += '\n';
  const auto length = static_cast<std::uint16_t>(text.size());
  return std::string("\x93NUMPY\1\0", 8) + static_cast<char>(length & 0xff) + static_cast<char>(length >> 8) + text;
}

template <class T>
std::string little_endian(T value) {
  std::string bytes(sizeof(T), '\0');
  for (std::size_t i = 0; i < sizeof(T); ++i) bytes[i] = static_cast<char>(value >> (8 * i) & 0xff);
  return bytes;
}
std::string number16(std::size_t value) {
  return little_endian(static_cast<std::uint16_t>(value));
}
std::string number32(std::uint64_t value) {
  return little_endian(static_cast<std::uint32_t>(value));
}

}  // namespace

void NpzWriter::add(const std::string& name, const std::string& header, std::span<const std::byte> values) {
  const std::string member = name + ".npy";
  const std::uint64_t size = header.size() + values.size();
  const auto bytes_of = [](const auto& data) { return reinterpret_cast<const Bytef*>(data.data()); };
  uLong sum = crc32_z(0, bytes_of(header), header.size());
  sum = crc32_z(sum, bytes_of(values), values.size());
  const std::uint64_t at = file_.size();
  constexpr std::uint64_t most = std::numeric_limits<std::uint32_t>::max() - (1 << 20);
  if (size > most || at > most - size || members_ == std::numeric_limits<std::uint16_t>::max())
    fail(printable(file_.path(), 400), "would be an archive of 4 GB or more, which Marian cannot read");
  // Version needed, flags, method "stored", time and date (1 January 1980), checksum, sizes, lengths of name and extra field.
  const std::string common = number16(20) + number16(0) + number16(0) + number16(0) + number16(0x21) + number32(sum) +
                             number32(size) + number32(size) + number16(member.size()) + number16(0);
  file_.write(std::string_view("PK\3\4"));
  file_.write(common + member + header);
  file_.write(values);
  directory_ += "PK\1\2" + number16(20) + common + std::string(10, '\0') + number32(at) + member;
  ++members_;
}

void NpzWriter::write(const std::string& name, const std::vector<std::int64_t>& shape, std::span<const float> values) {
  add(name, npy_header("<f4", shape), std::as_bytes(values));
}

void NpzWriter::write(const std::string& name, const std::vector<std::int64_t>& shape,
                      std::span<const std::int32_t> values) {
  add(name, npy_header("<i4", shape), std::as_bytes(values));
}

void NpzWriter::write(const std::string& name, std::string_view bytes) {
  add(name, npy_header("|i1", {std::ssize(bytes)}), std::as_bytes(std::span(bytes.data(), bytes.size())));
}

void NpzWriter::commit() {
  const std::uint64_t at = file_.size();
  file_.write(directory_ + "PK\5\6" + number32(0) + number16(members_) + number16(members_) +
              number32(directory_.size()) + number32(at) + number16(0));
  file_.commit();
}

}  // namespace tril
