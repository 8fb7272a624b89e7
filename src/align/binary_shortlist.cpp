#include "align/binary_shortlist.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/error.h"
#include "base/file.h"
#include "base/printable.h"
#include "format/byte_cursor.h"

namespace tril {
namespace {

constexpr std::uint64_t shortlist_magic = 0xF11A48D5013417F5;
constexpr const char* get_again = "the file is damaged: get it again";

struct ShortlistHeader {
  std::uint64_t first, best, offsets, words;
};
constexpr std::size_t header_bytes = 48;

template <class T>
T number_at(std::span<const std::byte> bytes, std::size_t index) {
  return load_number<T>(bytes.data() + index * sizeof(T));
}

// Marian's checksum: Boost's hash_combine over 64-bit numbers. Bytes after the last whole number are not included.
std::uint64_t checksum_of(std::span<const std::byte> bytes) {
  std::uint64_t seed = 0;
  for (std::size_t i = 0; i < bytes.size() / sizeof seed; ++i)
    seed ^= number_at<std::uint64_t>(bytes, i) + 0x9e3779b9 + (seed << 6) + (seed >> 2);
  return seed;
}

ShortlistHeader header_of(std::span<const std::byte> bytes, const std::string& where) {
  ByteCursor cursor(bytes, where);
  if (cursor.number<std::uint64_t>("the magic number") != shortlist_magic) fail(where, "is not a binary shortlist");
  const auto checksum = cursor.number<std::uint64_t>("the checksum");
  const std::uint64_t computed = checksum_of(cursor.rest());
  ShortlistHeader h{};
  for (std::uint64_t* const field : {&h.first, &h.best, &h.offsets, &h.words})
    *field = cursor.number<std::uint64_t>("the header");
  const std::uint64_t room = cursor.left();
  if (h.offsets > room / 8 || h.words > room / 4 || h.offsets * 8 + h.words * 4 != room)
    fail(where, fmt::format("should hold {} offsets and {} words in {} bytes", h.offsets, h.words, room), get_again);
  if (computed != checksum) fail(where, "its checksum does not match its content", get_again);
  return h;
}

}  // namespace

bool begins_as_binary_shortlist(const std::string& path) {
  const MappedFile file = MappedFile::open(path);
  return file.bytes().size() >= 8 && number_at<std::uint64_t>(file.bytes(), 0) == shortlist_magic;
}

BinaryShortlist read_binary_shortlist(std::span<const std::byte> bytes, const std::string& where,
                                      const ShortlistSizes& sizes) {
  const ShortlistHeader h = header_of(bytes, where);
  const auto misfit = [&](const char* side, std::uint64_t word, std::int64_t size) {
    fail(where, fmt::format("has {} word {}, but the vocabulary has {} words", side, word, size),
         "it belongs to another model");
  };
  const auto offsets = bytes.subspan(header_bytes, h.offsets * 8);
  const auto words = bytes.subspan(header_bytes + offsets.size());
  BinaryShortlist list;
  list.first = std::cmp_less(h.first, sizes.target) ? static_cast<std::int64_t>(h.first) : sizes.target;
  list.table = LexicalTable(sizes.source, sizes.target);
  for (std::size_t s = 0; s + 1 < h.offsets; ++s) {
    const auto begin = number_at<std::uint64_t>(offsets, s), end = number_at<std::uint64_t>(offsets, s + 1);
    if (begin > end || end > h.words)
      fail(where, fmt::format("the list of word {} goes from {} to {} of {}", s, begin, end, h.words), get_again);
    if (begin == end) continue;
    if (s >= list.table.of_source.size()) misfit("the source", s, sizes.source);
    for (std::uint64_t at = begin; at < end; ++at) {
      const auto word = number_at<std::uint32_t>(words, at);
      if (word >= list.table.share.size()) misfit("the target", word, sizes.target);
      list.table.of_source[s].push_back({static_cast<std::int32_t>(word), 1.0f});
    }
  }
  for (std::size_t s = 0; s < list.table.of_source.size(); ++s) {
    auto& entries = list.table.of_source[s];
    if (sizes.shared && s < list.table.share.size()) entries.push_back({static_cast<std::int32_t>(s), 1.0f});
    list.best = std::max<std::int64_t>(list.best, std::ssize(entries));
  }
  return list;
}

BinaryShortlist read_binary_shortlist(const std::string& path, const ShortlistSizes& sizes) {
  const MappedFile file = MappedFile::open(path);
  return read_binary_shortlist(file.bytes(), printable(path, 400), sizes);
}

}  // namespace tril
