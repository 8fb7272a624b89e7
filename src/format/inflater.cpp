#include "format/inflater.h"

#include <algorithm>
#include <limits>
#include <new>

namespace tril {

Inflater::Inflater(DeflateForm form) {
  if (inflateInit2(&stream_, static_cast<int>(form)) != Z_OK) throw std::bad_alloc();
}

Inflater::Step Inflater::step(std::span<const std::byte> packed, std::span<std::byte> out) {
  constexpr std::size_t most = std::numeric_limits<uInt>::max();
  const std::size_t in = std::min(packed.size(), most), room = std::min(out.size(), most);
  // zlib does not write there, but its type is const only if ZLIB_CONST is defined.
  stream_.next_in = reinterpret_cast<Bytef*>(const_cast<std::byte*>(packed.data()));
  stream_.avail_in = static_cast<uInt>(in);
  stream_.next_out = reinterpret_cast<Bytef*>(out.data());
  stream_.avail_out = static_cast<uInt>(room);
  const int code = inflate(&stream_, Z_NO_FLUSH);
  if (code == Z_MEM_ERROR) throw std::bad_alloc();
  const bool is_sound = code == Z_OK || code == Z_BUF_ERROR;
  return {.state = code == Z_STREAM_END ? Step::end
                   : is_sound           ? Step::more
                                        : Step::damaged,
          .read = in - stream_.avail_in,
          .written = room - stream_.avail_out};
}

}  // namespace tril
