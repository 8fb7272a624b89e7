// Mutates a GGUF file so that it stays one: changes a value, a key, or a tensor's name, shape or type, or removes or
// repeats one of them; corrects all lengths and offsets. One mutation in four changes bytes instead.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "base/error.h"
#include "format/gguf.h"
#include "support/raw_gguf.h"

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t most);

namespace tril::fuzz {

class GgufMutator {
 public:
  /// @param texts  replacements for strings
  GgufMutator(unsigned seed, const std::vector<std::string>& texts) : random_(seed), texts_(texts) {}

  /// @param file  the bytes, opened; mutates them like LLVMFuzzerCustomMutator
  std::size_t operator()(const GgufFile& file, std::uint8_t* data, std::size_t size, std::size_t most) {
    if (one_in(4)) return LLVMFuzzerMutate(data, size, most);
    std::vector<Entry> entries;
    for (const GgufEntry& e : file.metadata())
      entries.push_back({e.key, e.kind, e.is_array, e.count, text_of(e.bytes)});
    std::vector<Lies> tensors;
    for (const GgufTensor& t : file.tensors())
      tensors.push_back(
          {t.name, {t.shape.rbegin(), t.shape.rend()}, static_cast<std::uint32_t>(t.type), text_of(t.bytes)});
    for (std::size_t n = 1 + below(2); n > 0; --n) one_in(3) ? mutate_tensors(tensors) : mutate_entries(entries);
    const std::string changed = put_together(entries, tensors);
    if (changed.size() > most) return LLVMFuzzerMutate(data, size, most);
    std::copy(changed.begin(), changed.end(), data);
    return changed.size();
  }

 private:
  struct Entry {
    std::string key;
    GgufKind kind;
    bool is_array;
    std::uint64_t count;
    std::string bytes;
  };
  struct Lies {
    std::string name;
    std::vector<std::uint64_t> dims;
    std::uint32_t type;
    std::string bytes;
  };

  std::size_t below(std::size_t n) { return n == 0 ? 0 : random_() % n; }
  bool one_in(std::size_t n) { return below(n) == 0; }
  static std::string text_of(std::span<const std::byte> bytes) {
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
  }

  std::uint64_t edge() {
    constexpr std::array<std::uint64_t, 20> edges{0,     1,       2,          3,          4,          5,    7,
                                                  8,     31,      64,         255,        256,        1000, 4096,
                                                  65536, 1 << 24, 0x7fffffff, 0xffffffff, 1ULL << 40, ~0ULL};
    return edges[below(edges.size())];
  }
  std::uint64_t float_bits() {
    constexpr std::array<float, 12> edges{0, -0.0f, 1, -1, 0.5f, 1e-40f, 1e-30f, 1e30f, 3e38f, -3e38f, INFINITY, NAN};
    std::uint32_t bits = 0;
    std::memcpy(&bits, &edges[below(edges.size())], sizeof bits);
    return bits;
  }

  void mutate_entries(std::vector<Entry>& entries) {
    if (entries.empty()) return;
    Entry& e = entries[below(entries.size())];
    switch (below(8)) {
      case 0:
        entries.erase(entries.begin() + (&e - entries.data()));
        return;
      case 1:
        e.key = one_in(2) && !texts_.empty() ? texts_[below(texts_.size())] : entries[below(entries.size())].key + "x";
        return;
      case 2: {  // under another key's name, perhaps beside that key
        Entry copy = e;
        if (!texts_.empty()) copy.key = texts_[below(texts_.size())];
        entries.push_back(std::move(copy));
        return;
      }
      default:
        mutate_value(e);
    }
  }

  void mutate_value(Entry& e) {
    if (e.kind == GgufKind::string) {
      std::vector<std::string> all;
      for (std::size_t at = 0; at + 8 <= e.bytes.size();) {
        std::uint64_t n = 0;
        std::memcpy(&n, &e.bytes[at], 8);
        all.push_back(e.bytes.substr(at + 8, n));
        at += 8 + n;
      }
      if (all.empty()) return;
      std::string& text = all[below(all.size())];
      if (one_in(2) && !texts_.empty()) {
        text = texts_[below(texts_.size())];
      } else {
        const std::size_t size = text.size();
        text.resize(size + 8);
        text.resize(LLVMFuzzerMutate(reinterpret_cast<std::uint8_t*>(text.data()), size, size + 8));
      }
      if (e.is_array && one_in(4)) all.pop_back();
      e.bytes.clear();
      for (const std::string& t : all) e.bytes += test::raw_text(t);
      e.count = all.size();
      return;
    }
    const std::size_t width = e.count == 0 ? 0 : e.bytes.size() / e.count;
    if (width == 0) return;
    const std::uint64_t value = e.kind == GgufKind::f32       ? float_bits()
                                : e.kind == GgufKind::boolean ? below(2)
                                                              : edge();
    const std::size_t which = below(e.count);
    std::memcpy(&e.bytes[which * width], &value, width);
    if (e.is_array && one_in(4)) e.bytes.resize(--e.count * width);
  }

  void mutate_tensors(std::vector<Lies>& tensors) {
    if (tensors.empty()) return;
    Lies& t = tensors[below(tensors.size())];
    switch (below(5)) {
      case 0:
        tensors.erase(tensors.begin() + (&t - tensors.data()));
        return;
      case 1:
        t.name = one_in(2) ? tensors[below(tensors.size())].name : t.name + ".x";
        return;
      case 2:
        if (one_in(2) && t.dims.size() > 1)
          t.dims.pop_back();
        else if (one_in(2) && t.dims.size() < 4)
          t.dims.push_back(1 + below(3));
        else
          t.dims[below(t.dims.size())] = 1 + below(40);
        return;
      case 3:
        t.type = static_cast<std::uint32_t>(below(32));
        return;
      default:
        if (t.bytes.size() >= 4) {
          const std::uint64_t bits = float_bits();
          std::memcpy(&t.bytes[below(t.bytes.size() / 4) * 4], &bits, 4);
        }
    }
  }

  static std::string put_together(const std::vector<Entry>& entries, const std::vector<Lies>& tensors) {
    test::RawGguf file;
    for (const Entry& e : entries)
      file.entries.push_back(
          e.is_array
              ? test::raw_entry(e.key, 9, test::raw(static_cast<std::uint32_t>(e.kind)) + test::raw(e.count) + e.bytes)
              : test::raw_entry(e.key, static_cast<std::uint32_t>(e.kind), e.bytes));
    for (const Lies& t : tensors) {
      file.tensors.push_back(test::raw_tensor(t.name, t.dims, t.type, file.data.size()));
      std::string bytes = t.bytes;
      bytes.resize(bytes_needed(t, bytes.size()));
      file.data += bytes;
      file.data.append((32 - file.data.size() % 32) % 32, '\0');
    }
    return file.bytes();
  }

  // The bytes that the file should have for the tensor, if they are few and its type is known; else those that it has.
  static std::size_t bytes_needed(const Lies& t, std::size_t otherwise) {
    std::uint64_t count = 1;
    for (const std::uint64_t n : t.dims)
      if (__builtin_mul_overflow(count, n, &count)) return otherwise;
    constexpr std::array<std::uint32_t, 16> known{0, 1, 2, 3, 6, 7, 8, 10, 11, 12, 13, 14, 20, 23, 28, 30};
    if (count > 65536 || std::find(known.begin(), known.end(), t.type) == known.end()) return otherwise;
    const auto type = static_cast<GgufType>(t.type);
    return count / values_of_block(type) * bytes_of_block(type);
  }

  std::mt19937 random_;
  const std::vector<std::string>& texts_;
};

}  // namespace tril::fuzz
