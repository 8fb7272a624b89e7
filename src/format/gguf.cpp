// A bounds-checked cursor reads the header; the results are views into the map.
#include "format/gguf.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cctype>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <limits>
#include <utility>

#include "base/error.h"
#include "base/lfs_pointer.h"
#include "base/printable.h"
#include "format/byte_cursor.h"

namespace tril {
namespace {

constexpr std::string_view kMagic = "GGUF";
constexpr std::size_t kMostDims = 4, kLongestName = 1024, kLongestKey = 65535;

struct TypeInfo {
  GgufType type;
  std::string_view name;
  std::size_t values, bytes;  // per block
};

constexpr std::array<TypeInfo, 31> kTypes{{{GgufType::f32, "F32", 1, 4},
                                           {GgufType::f16, "F16", 1, 2},
                                           {GgufType::q4_0, "Q4_0", 32, 18},
                                           {GgufType::q4_1, "Q4_1", 32, 20},
                                           {GgufType::q5_0, "Q5_0", 32, 22},
                                           {GgufType::q5_1, "Q5_1", 32, 24},
                                           {GgufType::q8_0, "Q8_0", 32, 34},
                                           {GgufType::q2_k, "Q2_K", 256, 84},
                                           {GgufType::q3_k, "Q3_K", 256, 110},
                                           {GgufType::q4_k, "Q4_K", 256, 144},
                                           {GgufType::q5_k, "Q5_K", 256, 176},
                                           {GgufType::q6_k, "Q6_K", 256, 210},
                                           {GgufType::iq2_xxs, "IQ2_XXS", 256, 66},
                                           {GgufType::iq2_xs, "IQ2_XS", 256, 74},
                                           {GgufType::iq3_xxs, "IQ3_XXS", 256, 98},
                                           {GgufType::iq1_s, "IQ1_S", 256, 50},
                                           {GgufType::iq4_nl, "IQ4_NL", 32, 18},
                                           {GgufType::iq3_s, "IQ3_S", 256, 110},
                                           {GgufType::iq2_s, "IQ2_S", 256, 82},
                                           {GgufType::iq4_xs, "IQ4_XS", 256, 136},
                                           {GgufType::i8, "I8", 1, 1},
                                           {GgufType::i16, "I16", 1, 2},
                                           {GgufType::i32, "I32", 1, 4},
                                           {GgufType::i64, "I64", 1, 8},
                                           {GgufType::f64, "F64", 1, 8},
                                           {GgufType::iq1_m, "IQ1_M", 256, 56},
                                           {GgufType::bf16, "BF16", 1, 2},
                                           {GgufType::tq1_0, "TQ1_0", 256, 54},
                                           {GgufType::tq2_0, "TQ2_0", 256, 66},
                                           {GgufType::mxfp4, "MXFP4", 32, 17},
                                           {GgufType::nvfp4, "NVFP4", 64, 36}}};

const TypeInfo* find_type(std::uint32_t type) {
  for (const TypeInfo& t : kTypes)
    if (static_cast<std::uint32_t>(t.type) == type) return &t;
  return nullptr;
}

const TypeInfo& info(GgufType type) {
  return *find_type(static_cast<std::uint32_t>(type));
}

// The types of the format that tril does not read, by number, for messages.
std::string unread_type(std::uint32_t type) {
  constexpr std::array<std::pair<std::uint32_t, std::string_view>, 3> names{{{9, "Q8_1"}, {15, "Q8_K"}, {41, "Q1_0"}}};
  for (const auto& [number, name] : names)
    if (number == type) return std::string(name);
  return fmt::format("number {}", type);
}

std::string types_read() {
  std::vector<std::string_view> names;
  for (const TypeInfo& t : kTypes) names.push_back(t.name);
  return fmt::format("supported types: {}", fmt::join(names, ", "));
}

constexpr std::array<std::size_t, 13> kKindBytes{1, 1, 2, 2, 4, 4, 4, 1, 0, 0, 8, 8, 8};  // 0: no fixed size

std::uint64_t padded(std::uint64_t n, std::uint64_t alignment) {  // alignment is a power of two
  return (n + alignment - 1) & ~(alignment - 1);
}

std::string_view read_string(ByteCursor& c, std::string_view what) {
  return c.characters(c.number<std::uint64_t>(what), what);
}

GgufKind read_kind(ByteCursor& c, const std::string& where) {
  const auto kind = c.number<std::uint32_t>("the metadata");
  if (kind >= kKindBytes.size()) fail(where, fmt::format("has a value of type {}, which GGUF does not define", kind));
  return static_cast<GgufKind>(kind);
}

// Skips `count` values and returns their bytes.
std::span<const std::byte> read_values(ByteCursor& c, std::span<const std::byte> file, GgufKind kind,
                                       std::uint64_t count, const std::string& where) {
  const std::uint64_t begin = c.position();
  if (kind == GgufKind::string) {
    // Each string takes at least its length field, so a false count is detected before the loop gets long.
    if (count > c.left() / sizeof(std::uint64_t))
      fail(where, fmt::format("claims {} strings, more than fit into the file", count));
    for (std::uint64_t i = 0; i < count; ++i) read_string(c, "the metadata");
  } else {
    const std::size_t size = kKindBytes[static_cast<std::size_t>(kind)];
    if (count > c.left() / size) fail(where, fmt::format("claims {} values, more than fit into the file", count));
    const auto bytes = c.take(count * size, "the metadata");
    if (kind == GgufKind::boolean)
      for (const std::byte b : bytes)
        if (b > std::byte{1}) fail(where, fmt::format("expected 0 or 1, got {}", static_cast<int>(b)));
  }
  return file.subspan(begin, c.position() - begin);
}

GgufEntry read_entry(ByteCursor& c, const MappedFile& file) {
  const std::string_view key = read_string(c, "the metadata");
  if (key.empty() || key.size() > kLongestKey)
    fail(file.path(), fmt::format("has a key of {} bytes in its metadata", key.size()), "the file is damaged");
  const std::string where = fmt::format("{}: {}", file.path(), printable(key));
  GgufEntry entry{.key = std::string(key), .bytes = {}};
  entry.kind = read_kind(c, where);
  if (entry.kind == GgufKind::array) {
    entry.is_array = true;
    entry.kind = read_kind(c, where);
    if (entry.kind == GgufKind::array) fail(where, "is an array of arrays, which is not supported");
    entry.count = c.number<std::uint64_t>("the metadata");
  }
  entry.bytes = read_values(c, file.bytes(), entry.kind, entry.count, where);
  return entry;
}

// A tensor's description and its offset in the file.
struct Placed {
  GgufTensor tensor;
  std::uint64_t offset = 0, bytes = 0;
};

Placed read_tensor(ByteCursor& c, const std::string& path) {
  const std::string_view name = read_string(c, "the list of tensors");
  if (name.empty() || name.size() > kLongestName)
    fail(path, fmt::format("has a tensor whose name has {} bytes", name.size()), "the file is damaged");
  const std::string where = fmt::format("{}: {}", path, printable(name));
  Placed p;
  p.tensor.name = name;
  const auto rank = c.number<std::uint32_t>("the list of tensors");
  if (rank == 0 || rank > kMostDims) fail(where, fmt::format("has {} dimensions, expected 1 to {}", rank, kMostDims));
  std::uint64_t count = 1;
  for (std::uint32_t i = 0; i < rank; ++i) {
    const auto n = c.number<std::uint64_t>("the list of tensors");
    if (n == 0 || __builtin_mul_overflow(count, n, &count) ||
        count > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()) / 8)
      fail(where, fmt::format("has the dimension {}, which makes its number of values 0 or overflows 64 bits", n));
    p.tensor.shape.insert(p.tensor.shape.begin(), static_cast<std::int64_t>(n));
  }
  const auto type = c.number<std::uint32_t>("the list of tensors");
  const TypeInfo* const t = find_type(type);
  if (!t) fail(where, fmt::format("has the type {}, which is not supported", unread_type(type)), types_read());
  p.tensor.type = t->type;
  if (static_cast<std::uint64_t>(p.tensor.shape.back()) % t->values != 0)
    fail(where, fmt::format("has rows of {} values, not a multiple of the {} in a block of {}", p.tensor.shape.back(),
                            t->values, t->name));
  p.bytes = count / t->values * t->bytes;
  p.offset = c.number<std::uint64_t>("the list of tensors");
  return p;
}

// Tensors follow each other, each at the next multiple of the alignment: no gap, no overlap, none beyond the end.
void place(std::vector<Placed>& tensors, std::span<const std::byte> data, std::uint64_t alignment,
           const std::string& path) {
  std::sort(tensors.begin(), tensors.end(), [](const Placed& a, const Placed& b) { return a.offset < b.offset; });
  std::uint64_t expected = 0;
  for (Placed& p : tensors) {
    const std::string where = fmt::format("{}: {}", path, printable(p.tensor.name));
    if (p.offset != expected)
      fail(where,
           fmt::format("begins at byte {} of the data, expected byte {}, where the previous tensor ends", p.offset,
                       expected),
           "the file is damaged: download it again");
    if (p.bytes > data.size() || p.offset > data.size() - p.bytes)
      fail(where,
           fmt::format("lies at bytes {} to {} of the data, which has {} bytes", p.offset, p.offset + p.bytes,
                       data.size()),
           "the file is truncated: download it again");
    p.tensor.bytes = data.subspan(p.offset, p.bytes);
    expected = padded(p.offset + p.bytes, alignment);
  }
}

// Sorts by name; returns a duplicate name, or null.
template <class T, class Name>
const std::string* sort_by(std::vector<T>& list, Name name) {
  std::sort(list.begin(), list.end(), [&](const T& a, const T& b) { return a.*name < b.*name; });
  const auto twice =
      std::adjacent_find(list.begin(), list.end(), [&](const T& a, const T& b) { return a.*name == b.*name; });
  return twice == list.end() ? nullptr : &((*twice).*name);
}

template <class T, class Name>
const T* find_by(const std::vector<T>& list, Name name, std::string_view wanted) {
  const auto found = std::lower_bound(list.begin(), list.end(), wanted,
                                      [&](const T& entry, std::string_view w) { return entry.*name < w; });
  return found != list.end() && (*found).*name == wanted ? &*found : nullptr;
}

}  // namespace

std::string_view name_of(GgufType type) {
  return info(type).name;
}
std::size_t values_of_block(GgufType type) {
  return info(type).values;
}
std::size_t bytes_of_block(GgufType type) {
  return info(type).bytes;
}

std::optional<GgufType> gguf_type(std::string_view name) {
  const auto same = [&](std::string_view other) {
    return std::equal(name.begin(), name.end(), other.begin(), other.end(),
                      [](char a, char b) { return std::toupper(static_cast<unsigned char>(a)) == b; });
  };
  for (const TypeInfo& t : kTypes)
    if (same(t.name)) return t.type;
  return std::nullopt;
}

std::string_view name_of(GgufKind kind) {
  constexpr std::array<std::string_view, 13> names{"u8",   "i8",     "u16",   "i16", "u32", "i32", "f32",
                                                   "bool", "string", "array", "u64", "i64", "f64"};
  return names[static_cast<std::size_t>(kind)];
}

std::int64_t GgufTensor::elements() const {
  std::int64_t n = 1;
  for (const std::int64_t d : shape) n *= d;
  return n;
}

bool is_gguf_file(const std::string& path) {
  std::error_code ignored;
  if (!is_present(path) || !std::filesystem::is_regular_file(path, ignored)) return false;
  if (std::filesystem::file_size(path, ignored) <= most_lfs_pointer_bytes)
    MappedFile::open(path);  // throws with the reason
  std::array<char, kMagic.size()> begin{};
  std::ifstream(path, std::ios::binary).read(begin.data(), begin.size());
  return std::string_view(begin.data(), begin.size()) == kMagic;
}

bool has_gguf_name(const std::filesystem::path& path) {
  std::string kind = path.extension().string();
  for (char& c : kind)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return kind == ".gguf";
}

GgufFile GgufFile::open(const std::string& path) {
  GgufFile f(MappedFile::open(path));
  const std::span<const std::byte> bytes = f.file_.bytes();
  ByteCursor c(bytes, f.file_.path());
  const auto magic = c.take(kMagic.size(), "the magic number");
  if (std::memcmp(magic.data(), kMagic.data(), kMagic.size()) != 0)
    fail(path, "is not a GGUF file: it does not begin with GGUF", "pass a GGUF file or a model directory");
  f.version_ = c.number<std::uint32_t>("the version");
  if (f.version_ != 2 && f.version_ != 3)
    fail(path, fmt::format("has GGUF version {}, expected 2 or 3{}", f.version_,
                           f.version_ == 0x03000000 || f.version_ == 0x02000000 ? "; it is big-endian" : ""));
  const auto tensors = c.number<std::uint64_t>("the counts"), entries = c.number<std::uint64_t>("the counts");
  // The minimum size of an entry and of a tensor: 8 + 1 + 4 + 1 and 8 + 1 + 4 + 8 + 4 + 8 bytes.
  if (entries > c.left() / 14 || tensors > c.left() / 33)
    fail(path,
         fmt::format("claims {} entries and {} tensors, more than fit into its {} bytes", entries, tensors,
                     bytes.size()),
         "the file is damaged: download it again");

  for (std::uint64_t i = 0; i < entries; ++i) f.metadata_.push_back(read_entry(c, f.file_));
  if (const std::string* twice = sort_by(f.metadata_, &GgufEntry::key))
    fail(path, fmt::format("has the key {} twice", printable(*twice)));
  const std::int64_t alignment = f.get<std::int64_t>("general.alignment").value_or(32);
  if (alignment <= 0 || alignment > (1 << 20) || !std::has_single_bit(static_cast<std::uint64_t>(alignment)))
    f.fail_at("general.alignment", fmt::format("{} is not a power of two up to 2^20", alignment));
  f.alignment_ = static_cast<std::uint64_t>(alignment);

  std::vector<Placed> placed;
  for (std::uint64_t i = 0; i < tensors; ++i) placed.push_back(read_tensor(c, f.file_.path()));
  if (!placed.empty()) {
    c.take(padded(c.position(), f.alignment_) - c.position(), "the padding before the data");
    place(placed, bytes.subspan(c.position()), f.alignment_, path);
  }
  for (Placed& p : placed) f.tensors_.push_back(std::move(p.tensor));
  if (const std::string* twice = sort_by(f.tensors_, &GgufTensor::name))
    fail(path, fmt::format("has the tensor {} twice", printable(*twice)));
  return f;
}

GgufFile GgufFile::joined(std::vector<GgufFile> parts) {
  GgufFile all = std::move(parts.front());
  for (std::size_t i = 1; i < parts.size(); ++i) {
    for (GgufTensor& t : parts[i].tensors_) {
      t.part = i;
      all.tensors_.push_back(std::move(t));
    }
    all.others_.push_back(std::move(parts[i].file_));
  }
  if (const std::string* twice = sort_by(all.tensors_, &GgufTensor::name))
    fail(all.path(), fmt::format("the tensor {} is in two parts of the model", printable(*twice)),
         "the files belong to different models: download them again");
  return all;
}

std::vector<std::string> GgufFile::paths() const {
  std::vector<std::string> all{path()};
  for (const MappedFile& file : others_) all.push_back(file.path());
  return all;
}

const GgufEntry* GgufFile::find(std::string_view key) const {
  return find_by(metadata_, &GgufEntry::key, key);
}

const GgufTensor* GgufFile::find_tensor(std::string_view name) const {
  return find_by(tensors_, &GgufTensor::name, name);
}

const GgufTensor& GgufFile::tensor(std::string_view name) const {
  const GgufTensor* const found = find_tensor(name);
  if (found) return *found;
  std::vector<std::string> names;
  for (const GgufTensor& t : tensors_) names.push_back(t.name);
  fail(path(), fmt::format("has no tensor {}", printable(name)), did_you_mean(name, names));
}

void GgufFile::fail_at(std::string_view key, const std::string& text, const std::string& hint) const {
  fail(fmt::format("{}: {}", path(), printable(key)), text, hint);
}

namespace {

// One value of an entry as T; nothing if it has another kind or does not fit.
template <class T>
std::optional<T> value_at(GgufKind kind, const std::byte* at) {
  if constexpr (std::is_same_v<T, bool>) {
    if (kind == GgufKind::boolean) return load_number<std::uint8_t>(at) != 0;
  } else if constexpr (std::is_same_v<T, double>) {
    if (kind == GgufKind::f32) return load_number<float>(at);
    if (kind == GgufKind::f64) return load_number<double>(at);
  } else {
    switch (kind) {
      case GgufKind::u8:
        return load_number<std::uint8_t>(at);
      case GgufKind::i8:
        return load_number<std::int8_t>(at);
      case GgufKind::u16:
        return load_number<std::uint16_t>(at);
      case GgufKind::i16:
        return load_number<std::int16_t>(at);
      case GgufKind::u32:
        return load_number<std::uint32_t>(at);
      case GgufKind::i32:
        return load_number<std::int32_t>(at);
      case GgufKind::i64:
        return load_number<std::int64_t>(at);
      case GgufKind::u64:
        if (const auto value = load_number<std::uint64_t>(at); std::in_range<std::int64_t>(value))
          return static_cast<std::int64_t>(value);
        break;
      default:
        break;
    }
  }
  return std::nullopt;
}

template <class T>
constexpr std::string_view kind_wanted() {
  if constexpr (std::is_same_v<T, bool>) return "true or false";
  if constexpr (std::is_same_v<T, double>) return "a floating-point number";
  if constexpr (std::is_same_v<T, std::int64_t>) return "an integer that fits into 64 bits";
  return "a string";
}

// All values of an entry; nothing if any is not a T.
template <class T>
std::optional<std::vector<T>> values_of(const GgufEntry& e) {
  std::vector<T> values;
  values.reserve(e.count);
  const std::byte* at = e.bytes.data();
  for (std::uint64_t i = 0; i < e.count; ++i) {
    if constexpr (std::is_same_v<T, std::string_view>) {
      if (e.kind != GgufKind::string) return std::nullopt;
      const auto size = load_number<std::uint64_t>(at);
      values.emplace_back(reinterpret_cast<const char*>(at) + sizeof size, size);
      at += sizeof size + size;
    } else {
      const auto value = value_at<T>(e.kind, at);
      if (!value) return std::nullopt;
      values.push_back(*value);
      at += kKindBytes[static_cast<std::size_t>(e.kind)];
    }
  }
  return values;
}

template <class T>
struct Wanted {
  using Value = T;
  static constexpr bool is_array = false;
};
template <class T>
struct Wanted<std::vector<T>> {
  using Value = T;
  static constexpr bool is_array = true;
};

}  // namespace

template <class T>
std::optional<T> GgufFile::get(std::string_view key) const {
  using Value = typename Wanted<T>::Value;
  constexpr bool wants_array = Wanted<T>::is_array;
  const GgufEntry* const e = find(key);
  if (!e) return std::nullopt;
  if (e->is_array == wants_array)
    if (auto values = values_of<Value>(*e)) {
      if constexpr (wants_array)
        return std::move(*values);
      else
        return (*values)[0];
    }
  fail_at(key, fmt::format("is {}{}, expected {}{}", e->is_array ? "an array of " : "", name_of(e->kind),
                           wants_array ? "an array, each value " : "", kind_wanted<Value>()));
}

template <class T>
T GgufFile::at(std::string_view key) const {
  if (auto value = get<T>(key)) return std::move(*value);
  std::vector<std::string> keys;
  for (const GgufEntry& e : metadata_) keys.push_back(e.key);
  fail(path(), fmt::format("has no key {}", printable(key)), did_you_mean(key, keys));
}

template std::optional<bool> GgufFile::get(std::string_view) const;
template std::optional<std::int64_t> GgufFile::get(std::string_view) const;
template std::optional<double> GgufFile::get(std::string_view) const;
template std::optional<std::string_view> GgufFile::get(std::string_view) const;
template std::optional<std::vector<bool>> GgufFile::get(std::string_view) const;
template std::optional<std::vector<std::int64_t>> GgufFile::get(std::string_view) const;
template std::optional<std::vector<double>> GgufFile::get(std::string_view) const;
template std::optional<std::vector<std::string_view>> GgufFile::get(std::string_view) const;
template bool GgufFile::at(std::string_view) const;
template std::int64_t GgufFile::at(std::string_view) const;
template double GgufFile::at(std::string_view) const;
template std::string_view GgufFile::at(std::string_view) const;
template std::vector<std::int64_t> GgufFile::at(std::string_view) const;
template std::vector<std::string_view> GgufFile::at(std::string_view) const;

}  // namespace tril
