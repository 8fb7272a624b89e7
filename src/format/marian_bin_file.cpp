#include "format/marian_bin_file.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <optional>

#include "base/error.h"
#include "base/printable.h"
#include "format/find_named.h"

namespace tril {
namespace {

static_assert(std::endian::native == std::endian::little, "numbers are used as they are stored");

constexpr std::uint64_t bin_version = 1, most_bin_dimensions = 8;
constexpr const char *get_again = "the file is damaged: get it again",
                     *convert = "convert the .npz to float32 or intgemm8 with marian-conv";

struct Header {
  std::uint64_t name_bytes, type, dimensions, value_bytes;
};
static_assert(sizeof(Header) == 32);

struct Kind {
  StoredType type = StoredType::f32;
  bool quantized = false;  // a multiplier is behind the values
};

// intgemm's types are 0x1000N in marian-dev and 0x410N in Bergamot's fork, N bytes a value.
std::optional<Kind> kind_of(std::uint64_t type) {
  constexpr std::array<std::pair<std::uint64_t, Kind>, 12> kinds{{{0x101, {StoredType::i8}},
                                                                  {0x102, {StoredType::i16}},
                                                                  {0x104, {StoredType::i32}},
                                                                  {0x108, {StoredType::i64}},
                                                                  {0x201, {StoredType::u8}},
                                                                  {0x402, {StoredType::f16}},
                                                                  {0x404, {StoredType::f32}},
                                                                  {0x408, {StoredType::f64}},
                                                                  {0x10001, {StoredType::i8, true}},
                                                                  {0x10002, {StoredType::i16, true}},
                                                                  {0x4101, {StoredType::i8, true}},
                                                                  {0x4102, {StoredType::i16, true}}}};
  for (const auto& [number, kind] : kinds)
    if (number == type) return kind;
  return std::nullopt;
}

// Takes parts from the front of the bytes that are there.
class BinCursor {
 public:
  BinCursor(std::span<const std::byte> bytes, std::string where) : bytes_(bytes), where_(std::move(where)) {}

  std::span<const std::byte> take(std::uint64_t count, const char* what) {
    if (count > bytes_.size())
      fail(where_, fmt::format("{} need {} bytes, and {} are left", what, count, bytes_.size()), get_again);
    const auto part = bytes_.first(static_cast<std::size_t>(count));
    bytes_ = bytes_.subspan(part.size());
    return part;
  }
  std::uint64_t number(const char* what) {
    std::uint64_t n = 0;
    std::memcpy(&n, take(sizeof n, what).data(), sizeof n);
    return n;
  }
  std::size_t left() const { return bytes_.size(); }

 private:
  std::span<const std::byte> bytes_;
  std::string where_;
};

std::string name_of_tensor(std::span<const std::byte> bytes, const std::string& where) {
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  if (text.size() < 2 || text.find('\0') != text.size() - 1) fail(where, "a name has no end, or is empty", get_again);
  return std::string(text.substr(0, text.size() - 1));
}

std::vector<std::int64_t> shape_of(std::span<const std::byte> bytes, const std::string& where) {
  std::vector<std::int64_t> shape;
  for (std::size_t at = 0; at < bytes.size(); at += sizeof(std::int32_t)) {
    std::int32_t n = 0;
    std::memcpy(&n, bytes.data() + at, sizeof n);
    if (n < 0) fail(where, fmt::format("has {} as a size", n), get_again);
    shape.push_back(n);
  }
  return shape;
}

// [in, out] of what is stored as [out, in].
void read_transposed(const WeightView& stored, float multiplier, std::span<float> out) {
  const auto rows = static_cast<std::size_t>(stored.shape[0]), columns = static_cast<std::size_t>(stored.shape[1]);
  const std::vector<std::int32_t> values = to_i32(stored);
  for (std::size_t r = 0; r < rows; ++r)
    for (std::size_t c = 0; c < columns; ++c)
      out[c * rows + r] = static_cast<float>(values[r * columns + c]) / multiplier;
}

void read_as_stored(const WeightView& stored, float multiplier, std::span<float> out) {
  const std::vector<std::int32_t> values = to_i32(stored);
  for (std::size_t i = 0; i < values.size(); ++i) out[i] = static_cast<float>(values[i]) / multiplier;
}

// A tensor of integers [rows, columns] as stored, with the multiplier behind them, as floats.
WeightView dequantized(const WeightView& stored, float multiplier, bool transposed) {
  WeightView view{.name = stored.name,
                  .dtype = StoredType::blocks,
                  .shape = stored.shape,
                  .bytes = stored.bytes,
                  .form = stored.dtype == StoredType::i8 ? "intgemm8" : "intgemm16"};
  if (transposed) {
    std::swap(view.shape[0], view.shape[1]);
    view.read = [stored, multiplier](std::span<float> out) { read_transposed(stored, multiplier, out); };
  } else {
    view.read = [stored, multiplier](std::span<float> out) { read_as_stored(stored, multiplier, out); };
  }
  return view;
}

}  // namespace

bool begins_as_marian_bin(std::span<const std::byte> bytes) {
  std::uint64_t first = 0;
  if (bytes.size() < sizeof first) return false;
  std::memcpy(&first, bytes.data(), sizeof first);
  return first == bin_version;
}

MarianBinFile MarianBinFile::open(const std::string& path) {
  auto file = std::make_shared<const MappedFile>(MappedFile::open(path));
  return MarianBinFile(path, file->bytes(), file);
}

MarianBinFile::MarianBinFile(std::string path, std::span<const std::byte> bytes, std::shared_ptr<const void> owner)
    : path_(std::move(path)), owner_(std::move(owner)) {
  const std::string shown = printable(path_, 400);
  BinCursor cursor(bytes, shown);
  if (const std::uint64_t found = cursor.number("its version"); found != bin_version)
    fail(shown, fmt::format("is no .bin of Marian's: it begins with {}, expected the version 1", found),
         "pass what `marian-conv` wrote, not encrypted");
  const std::uint64_t count = cursor.number("the count of tensors");
  if (count > cursor.left() / sizeof(Header))
    fail(shown, fmt::format("the headers of {} tensors do not fit into the file", count), get_again);
  std::vector<Header> headers(static_cast<std::size_t>(count));
  const auto stored_headers = cursor.take(count * sizeof(Header), "headers");
  if (count > 0) std::memcpy(headers.data(), stored_headers.data(), stored_headers.size());
  tensors_.resize(headers.size());
  for (std::size_t i = 0; i < headers.size(); ++i)
    tensors_[i].name = name_of_tensor(cursor.take(headers[i].name_bytes, "names"), shown);
  const auto place = [&](const WeightView& t) { return fmt::format("{}: {}", shown, printable(t.name, 200)); };
  for (std::size_t i = 0; i < headers.size(); ++i) {
    if (headers[i].dimensions > most_bin_dimensions)
      fail(place(tensors_[i]),
           fmt::format("has {} dimensions, expected at most {}", headers[i].dimensions, most_bin_dimensions),
           get_again);
    tensors_[i].shape =
        shape_of(cursor.take(headers[i].dimensions * sizeof(std::int32_t), "shapes"), place(tensors_[i]));
  }
  cursor.take(cursor.number("the size of the padding"), "padding");
  for (std::size_t i = 0; i < headers.size(); ++i) {
    WeightView& tensor = tensors_[i];
    const std::optional<Kind> kind = kind_of(headers[i].type);
    if (!kind)
      fail(place(tensor),
           fmt::format("has values of the type {:#x}, a layout for one kind of processor", headers[i].type), convert);
    tensor.dtype = kind->type;
    std::uint64_t needed = size_of(kind->type);
    for (const std::int64_t n : tensor.shape)
      if (__builtin_mul_overflow(needed, static_cast<std::uint64_t>(n), &needed))
        fail(place(tensor), "has more values than 64 bits can count", get_again);
    const auto values = cursor.take(headers[i].value_bytes, "values");
    const std::size_t behind = kind->quantized ? sizeof(float) : 0;
    if (needed > values.size() || values.size() - needed < behind)
      fail(place(tensor), fmt::format("its shape needs {} bytes of values, and {} are there", needed, values.size()),
           get_again);
    tensor.bytes = values.first(static_cast<std::size_t>(needed));
    if (!kind->quantized) continue;
    if (tensor.shape.size() != 2)
      fail(place(tensor), fmt::format("is quantised in {} dimensions, expected two", tensor.shape.size()), get_again);
    float multiplier = 0;
    std::memcpy(&multiplier, values.data() + needed, sizeof multiplier);
    if (!(multiplier > 0 && std::isfinite(multiplier)))
      fail(place(tensor), fmt::format("has the multiplier {}, expected a finite number above 0", multiplier),
           get_again);
    const bool transposed = tensor.name.find("Wemb") == tensor.name.npos;
    if (transposed) std::swap(tensor.shape[0], tensor.shape[1]);
    if (kind->type == StoredType::i8)
      int8_.push_back({tensor.name, tensor.bytes, tensor.shape[0], tensor.shape[1], multiplier});
    tensor = dequantized(tensor, multiplier, transposed);
  }
  if (cursor.left() > 0) fail(shown, fmt::format("{} bytes follow the last tensor", cursor.left()), get_again);
  const auto by_name = [](const auto& a, const auto& b) { return a.name < b.name; };
  std::sort(tensors_.begin(), tensors_.end(), by_name);
  std::sort(int8_.begin(), int8_.end(), by_name);
  for (std::size_t i = 1; i < tensors_.size(); ++i)
    if (tensors_[i].name == tensors_[i - 1].name) fail(place(tensors_[i]), "is there twice", get_again);
}

const WeightView* MarianBinFile::find(std::string_view name) const {
  return find_named(tensors_, name);
}

const MarianBinFile::Int8* MarianBinFile::find_int8(std::string_view name) const {
  return find_named(int8_, name);
}

}  // namespace tril
