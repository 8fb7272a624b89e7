#include "train/optim/stored_values.h"

#include <algorithm>
#include <span>

#include "base/as_size.h"
#include "base/content_hash.h"
#include "base/error.h"

namespace tril::train {
namespace {

constexpr std::int64_t piece = 1 << 20;  // values

std::string key_of(const std::string& tensor) {
  return "checksum." + tensor;
}

// Calls f(bytes) for each piece of the values, which have type T.
template <class T, class F>
void each_piece_of(const Tensor& values, F&& f) {
  const std::int64_t count = values.count();
  for (std::int64_t begin = 0; begin < count; begin += piece) {
    const std::vector<T> some = host_copy<T>(values.rows(begin, std::min(count, begin + piece)));
    f(std::as_bytes(std::span(some)));
  }
}

template <class F>
void each_piece(const Tensor& values, F&& f) {
  if (values.dtype() == DType::u8)
    each_piece_of<std::uint8_t>(values, f);
  else
    each_piece_of<float>(values, f);
}

// A checksum over pieces, in order.
class Checksum {
 public:
  void add(std::span<const std::byte> bytes) { hash_.add(content_hash(bytes)); }
  std::string text() const { return fmt::format("{:016x}", hash_.value()); }

 private:
  Hash hash_;
};

}  // namespace

void add_checksum(Metadata& metadata, const StoredTensor& tensor) {
  Checksum sum;
  for (const Tensor& stretch : tensor.stretches)
    each_piece(stretch, [&](std::span<const std::byte> bytes) { sum.add(bytes); });
  metadata.emplace_back(key_of(tensor.name), sum.text());
}

void write_values(SafetensorsWriter& writer, const StoredTensor& tensor) {
  for (const Tensor& stretch : tensor.stretches)
    each_piece(stretch, [&](std::span<const std::byte> bytes) { writer.write(tensor.name, bytes); });
}

void check_values(const SafetensorsFile& file, const std::string& name, const std::vector<std::size_t>& stretches) {
  const std::string* expected = file.find_metadata(key_of(name));
  if (!expected) return;
  std::span<const std::byte> bytes = file.at(name).bytes;
  const std::size_t value = size_of(file.at(name).dtype);
  Checksum sum;
  for (std::size_t left : stretches)
    while (left > 0) {
      const std::size_t count = std::min(left, as_size(piece)), size = std::min(count * value, bytes.size());
      sum.add(bytes.first(size));
      bytes = bytes.subspan(size);
      left -= count;
    }
  if (!bytes.empty() || sum.text() != *expected)
    fail(file.path(),
         fmt::format("is damaged: the values of {} have the checksum {}, expected {}", name, sum.text(), *expected));
}

}  // namespace tril::train
