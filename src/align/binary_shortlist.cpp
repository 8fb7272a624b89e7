#include "align/binary_shortlist.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

#include "base/error.h"
#include "base/file.h"
#include "base/printable.h"

namespace tril {
namespace {

static_assert(std::endian::native == std::endian::little, "numbers are used as they are stored");

constexpr std::uint64_t shortlist_magic = 0xF11A48D5013417F5;
constexpr const char* get_again = "the file is damaged: get it again";

struct ShortlistHeader {
  std::uint64_t magic, checksum, first, best, offsets, words;
};
static_assert(sizeof(ShortlistHeader) == 48);

template <class T>
T number_at(std::span<const std::byte> bytes, std::size_t index) {
  T value{};
  std::memcpy(&value, bytes.data() + index * sizeof(T), sizeof(T));
  return value;
}

// Marian's, which is Boost's hash_combine over 64 bits; bytes behind the last whole number do not count.
std::uint64_t checksum_of(std::span<const std::byte> bytes) {
  std::uint64_t seed = 0;
  for (std::size_t i = 0; i < bytes.size() / sizeof seed; ++i)
    seed ^= number_at<std::uint64_t>(bytes, i) + 0x9e3779b9 + (seed << 6) + (seed >> 2);
  return seed;
}

ShortlistHeader header_of(std::span<const std::byte> bytes, const std::string& where) {
  ShortlistHeader h{};
  if (bytes.size() < sizeof h)
    fail(where, fmt::format("is too short for a shortlist: {} bytes", bytes.size()), get_again);
  std::memcpy(&h, bytes.data(), sizeof h);
  if (h.magic != shortlist_magic) fail(where, "is not a binary shortlist");
  const std::uint64_t room = bytes.size() - sizeof h;
  if (h.offsets > room / 8 || h.words > room / 4 || h.offsets * 8 + h.words * 4 != room)
    fail(where, fmt::format("should hold {} offsets and {} words in {} bytes", h.offsets, h.words, room), get_again);
  if (checksum_of(bytes.subspan(16)) != h.checksum) fail(where, "its checksum does not match its content", get_again);
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
  const auto offsets = bytes.subspan(sizeof h, static_cast<std::size_t>(h.offsets * 8));
  const auto words = bytes.subspan(sizeof h + offsets.size());
  BinaryShortlist list{.first = std::min<std::int64_t>(sizes.target, static_cast<std::int64_t>(std::min<std::uint64_t>(
                                                                         h.first, std::uint64_t{1} << 40))),
                       .best = 0,
                       .table = {}};
  list.table.of_source.resize(static_cast<std::size_t>(sizes.source));
  list.table.share.assign(static_cast<std::size_t>(sizes.target), 0.0f);
  for (std::size_t s = 0; s + 1 < h.offsets; ++s) {
    const auto begin = number_at<std::uint64_t>(offsets, s), end = number_at<std::uint64_t>(offsets, s + 1);
    if (begin > end || end > h.words)
      fail(where, fmt::format("the list of word {} goes from {} to {} of {}", s, begin, end, h.words), get_again);
    if (begin == end) continue;
    if (s >= list.table.of_source.size()) misfit("the source", s, sizes.source);
    for (std::uint64_t at = begin; at < end; ++at) {
      const auto word = number_at<std::uint32_t>(words, static_cast<std::size_t>(at));
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
