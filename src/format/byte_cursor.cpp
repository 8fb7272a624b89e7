#include "format/byte_cursor.h"

#include "base/error.h"

namespace tril {

std::span<const std::byte> ByteCursor::take(std::uint64_t size, std::string_view what) {
  if (size > left())
    fail(where_,
         fmt::format("expected {} byte{} for {} at byte {}, found {}", size, size == 1 ? "" : "s", what, first_ + at_,
                     left()),
         "the file is truncated or damaged: get it again");
  const std::size_t from = at_;
  at_ += size;
  return bytes_.subspan(from, at_ - from);
}

std::string_view ByteCursor::characters(std::uint64_t size, std::string_view what) {
  const std::span<const std::byte> bytes = take(size, what);
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

ByteCursor ByteCursor::part(std::uint64_t size, std::string_view what) {
  const std::uint64_t first = first_ + at_;
  return {take(size, what), where_, first};
}

}  // namespace tril
