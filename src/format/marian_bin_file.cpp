#include "format/marian_bin_file.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <optional>

#include "base/error.h"
#include "base/printable.h"
#include "format/byte_cursor.h"
#include "format/find_named.h"

namespace tril {
namespace {

constexpr std::uint64_t bin_version = 1, most_bin_dimensions = 8;
constexpr const char *get_again = "the file is damaged: get it again",
                     *convert = "convert the .npz to float32 or intgemm8 with marian-conv";

struct Header {
  std::uint64_t name_bytes, type, dimensions, value_bytes;
};
static_assert(sizeof(Header) == 32);

struct Kind {
  StoredType type = StoredType::f32;
  bool quantized = false;  // the multiplier follows the values
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

std::string name_of_tensor(std::string_view text, const std::string& where) {
  if (text.size() < 2 || text.find('\0') != text.size() - 1)
    fail(where, "expected each name to have characters and then one zero byte", get_again);
  return std::string(text.substr(0, text.size() - 1));
}

std::vector<std::int64_t> shape_of(std::span<const std::byte> bytes, const std::string& where) {
  std::vector<std::int64_t> shape;
  for (std::size_t at = 0; at < bytes.size(); at += sizeof(std::int32_t)) {
    const auto n = load_number<std::int32_t>(bytes.data() + at);
    if (n < 0) fail(where, fmt::format("has the size {} in its shape, expected 0 or more", n), get_again);
    shape.push_back(n);
  }
  return shape;
}

// Writes [in, out] from values that are stored as [out, in].
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

// A view that reads integers [rows, columns] as floats. @param transposed  the view's shape is [columns, rows]
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
  return bytes.size() >= sizeof bin_version && load_number<std::uint64_t>(bytes.data()) == bin_version;
}

MarianBinFile MarianBinFile::open(const std::string& path) {
  auto file = std::make_shared<const MappedFile>(MappedFile::open(path));
  return MarianBinFile(path, file->bytes(), file);
}

MarianBinFile::MarianBinFile(std::string path, std::span<const std::byte> bytes, std::shared_ptr<const void> owner)
    : path_(std::move(path)), owner_(std::move(owner)) {
  const std::string shown = printable(path_, 400);
  ByteCursor cursor(bytes, shown);
  if (const auto found = cursor.number<std::uint64_t>("the version"); found != bin_version)
    fail(shown, fmt::format("is not a .bin file of Marian: it begins with {}, expected version {}", found, bin_version),
         "pass an unencrypted file that `marian-conv` wrote");
  const auto count = cursor.number<std::uint64_t>("the number of tensors");
  if (count > cursor.left() / sizeof(Header))
    fail(shown, fmt::format("claims {} tensors, more than fit into the file", count), get_again);
  std::vector<Header> headers(count);
  const auto stored_headers = cursor.take(count * sizeof(Header), "the headers");
  if (count > 0) std::memcpy(headers.data(), stored_headers.data(), stored_headers.size());
  tensors_.resize(headers.size());
  for (std::size_t i = 0; i < headers.size(); ++i)
    tensors_[i].name = name_of_tensor(cursor.characters(headers[i].name_bytes, "the name of a tensor"), shown);
  const auto place = [&](const WeightView& t) { return fmt::format("{}: {}", shown, printable(t.name, 200)); };
  for (std::size_t i = 0; i < headers.size(); ++i) {
    if (headers[i].dimensions > most_bin_dimensions)
      fail(place(tensors_[i]),
           fmt::format("has {} dimensions, expected at most {}", headers[i].dimensions, most_bin_dimensions),
           get_again);
    tensors_[i].shape = shape_of(cursor.take(headers[i].dimensions * sizeof(std::int32_t), "the shape of a tensor"),
                                 place(tensors_[i]));
  }
  cursor.take(cursor.number<std::uint64_t>("the size of the padding"), "the padding");
  for (std::size_t i = 0; i < headers.size(); ++i) {
    WeightView& tensor = tensors_[i];
    const std::optional<Kind> kind = kind_of(headers[i].type);
    if (!kind)
      fail(place(tensor),
           fmt::format("has values of type {:#x}, a layout that is specific to a processor", headers[i].type), convert);
    tensor.dtype = kind->type;
    const std::optional<std::uint64_t> needed = bytes_of_shape(kind->type, tensor.shape);
    if (!needed) fail(place(tensor), "has more values than 64 bits can count", get_again);
    ByteCursor values = cursor.part(headers[i].value_bytes, "the values of " + printable(tensor.name, 200));
    if (*needed > values.left() || values.left() - *needed < (kind->quantized ? sizeof(float) : 0))
      fail(place(tensor), fmt::format("its shape needs {} bytes of values, found {}", *needed, values.left()),
           get_again);
    tensor.bytes = values.take(*needed, "the values");
    if (!kind->quantized) continue;
    if (tensor.shape.size() != 2)
      fail(place(tensor), fmt::format("is quantised and has {} dimensions, expected 2", tensor.shape.size()),
           get_again);
    const auto multiplier = values.number<float>("the multiplier");
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
  if (const WeightView* const twice = sort_by_name(tensors_)) fail(place(*twice), "occurs twice", get_again);
  sort_by_name(int8_);
}

const WeightView* MarianBinFile::find(std::string_view name) const {
  return find_named(tensors_, name);
}

const MarianBinFile::Int8* MarianBinFile::find_int8(std::string_view name) const {
  return find_named(int8_, name);
}

}  // namespace tril
