#include "format/npz_file.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>

#include "base/element.h"
#include "base/error.h"
#include "base/printable.h"
#include "format/byte_cursor.h"
#include "format/find_named.h"

namespace tril {
namespace {

constexpr std::string_view npy_magic = "\x93NUMPY", npy_suffix = ".npy";
constexpr const char* damaged_npy = "the file is damaged: get it again";
constexpr std::size_t most_header = 1 << 16, most_npz_dimensions = 32;

struct NpyHeader {
  std::string type;
  bool fortran_order = false;
  std::vector<std::int64_t> shape;
};

// Parses a header, which is a Python dict of literals.
class NpyHeaderReader {
 public:
  NpyHeaderReader(std::string_view text, const std::string& where) : text_(text), where_(where) {}

  NpyHeader read() {
    NpyHeader header;
    bool has_type = false, has_order = false, has_shape = false;
    const auto once = [&](bool& seen) {
      if (seen) refuse("names a key twice");
      seen = true;
    };
    need('{');
    while (!take('}')) {
      const std::string key = text();
      need(':');
      if (key == "descr")
        once(has_type), header.type = text();
      else if (key == "fortran_order")
        once(has_order), header.fortran_order = boolean();
      else if (key == "shape")
        once(has_shape), header.shape = shape();
      else
        refuse(fmt::format("has the unknown key '{}'", printable(key, 40)));
      if (take(',')) continue;
      need('}');
      break;
    }
    skip_blanks();
    if (!text_.empty()) refuse("continues after its dict");
    if (!has_type || !has_order || !has_shape) refuse("lacks one of 'descr', 'fortran_order', 'shape'");
    return header;
  }

 private:
  [[noreturn]] void refuse(const std::string& why) const { fail(where_, "its .npy header " + why, damaged_npy); }
  void skip_blanks() {
    while (!text_.empty() && (text_.front() == ' ' || text_.front() == '\n')) text_.remove_prefix(1);
  }
  bool take(std::string_view token) {
    skip_blanks();
    if (!text_.starts_with(token)) return false;
    text_.remove_prefix(token.size());
    return true;
  }
  bool take(char c) { return take(std::string_view(&c, 1)); }
  void need(char c) {
    if (!take(c)) refuse(fmt::format("is not a dict of literals: expected {}", c));
  }
  bool boolean() {
    if (take("True")) return true;
    if (take("False")) return false;
    refuse("has a 'fortran_order' that is neither True nor False");
  }
  std::string text() {
    skip_blanks();
    const char quote = text_.empty() ? '\0' : text_.front();
    if (quote == '[') refuse("describes records, which are not supported");
    if (quote != '\'' && quote != '"') refuse("is not a dict of literals: expected a quoted string");
    const std::size_t end = text_.find(quote, 1);
    if (end == text_.npos) refuse("is not a dict of literals: a string has no closing quote");
    std::string found(text_.substr(1, end - 1));
    text_.remove_prefix(end + 1);
    return found;
  }
  std::vector<std::int64_t> shape() {
    std::vector<std::int64_t> sizes;
    need('(');
    while (!take(')')) {
      if (sizes.size() == most_npz_dimensions) refuse(fmt::format("has more than {} dimensions", most_npz_dimensions));
      sizes.push_back(number());
      take('L');  // Python 2
      if (take(',')) continue;
      need(')');
      break;
    }
    return sizes;
  }
  std::int64_t number() {
    skip_blanks();
    std::int64_t n = 0;
    std::size_t length = 0;
    for (; length < text_.size() && text_[length] >= '0' && text_[length] <= '9'; ++length)
      if (__builtin_mul_overflow(n, 10, &n) || __builtin_add_overflow(n, text_[length] - '0', &n))
        refuse("has a size that does not fit into 64 bits");
    if (length == 0) refuse("has a size that is not a number");
    text_.remove_prefix(length);
    return n;
  }

  std::string_view text_;
  const std::string& where_;
};

StoredType stored_type(const std::string& type, const std::string& where) {
  constexpr std::array<std::pair<std::string_view, StoredType>, 11> types{{{"<f4", StoredType::f32},
                                                                           {"<f2", StoredType::f16},
                                                                           {"<f8", StoredType::f64},
                                                                           {"|i1", StoredType::i8},
                                                                           {"<i1", StoredType::i8},
                                                                           {"|u1", StoredType::u8},
                                                                           {"<u1", StoredType::u8},
                                                                           {"|b1", StoredType::boolean},
                                                                           {"<i2", StoredType::i16},
                                                                           {"<i4", StoredType::i32},
                                                                           {"<i8", StoredType::i64}}};
  for (const auto& [name, stored] : types)
    if (name == type) return stored;
  if (type.find('O') != type.npos)
    fail(where, "holds Python objects, which are pickles and not supported", "save the array as numbers");
  fail(where, fmt::format("has values of type '{}', expected little-endian floats or integers", printable(type, 40)));
}

// Converts an array from Fortran order (the first index varies fastest) to C order.
void read_fortran(const WeightView& stored, std::span<float> out) {
  std::vector<float> values(out.size());
  to_f32(stored, values);
  const std::vector<std::int64_t>& shape = stored.shape;
  std::vector<std::int64_t> at(shape.size(), 0);
  for (float& value : out) {
    std::int64_t from = 0;
    for (std::size_t i = shape.size(); i-- > 0;) from = from * shape[i] + at[i];
    value = element(values, from);
    for (std::size_t i = shape.size(); i-- > 0; at[i] = 0)
      if (++at[i] < shape[i]) break;
  }
}

WeightView read_npy(std::span<const std::byte> bytes, std::string name, const std::string& where) {
  ByteCursor cursor(bytes, where);
  if (bytes.size() < npy_magic.size() || cursor.characters(npy_magic.size(), "the magic number") != npy_magic)
    fail(where, "is not a .npy array", damaged_npy);
  const int version = cursor.number<std::uint8_t>("the version");
  cursor.take(1, "the version");
  if (version < 1 || version > 3) fail(where, fmt::format("is a .npy array of version {}, expected 1 to 3", version));
  const std::uint32_t length = version == 1 ? cursor.number<std::uint16_t>("the length of the header")
                                            : cursor.number<std::uint32_t>("the length of the header");
  if (length > most_header)
    fail(where, fmt::format("has a .npy header of {} bytes, expected at most {}", length, most_header), damaged_npy);
  const std::string_view text = cursor.characters(length, "the .npy header");
  const NpyHeader header = NpyHeaderReader(text, where).read();

  WeightView view{.name = std::move(name),
                  .dtype = stored_type(header.type, where),
                  .shape = header.shape,
                  .bytes = cursor.rest(),
                  .form = {}};
  const std::optional<std::uint64_t> needed = bytes_of_shape(view.dtype, view.shape);
  if (!needed) fail(where, "has more values than 64 bits can count", damaged_npy);
  if (*needed != view.bytes.size())
    fail(where, fmt::format("its shape needs {} bytes of values, found {}", *needed, view.bytes.size()), damaged_npy);
  if (!header.fortran_order || view.shape.size() < 2) return view;
  view.form = fmt::format("{}, Fortran order", name_of(view.dtype));
  view.read = [stored = view](std::span<float> out) { read_fortran(stored, out); };
  view.dtype = StoredType::blocks;
  return view;
}

}  // namespace

NpzFile::NpzFile(ZipArchive archive) : archive_(std::move(archive)) {
  const std::string shown = printable(path(), 400);
  std::uint64_t room = archive_.most_unpacked();
  for (const ZipMember& member : archive_.members()) {
    const std::string where = fmt::format("{}: {}", shown, printable(member.name, 200));
    if (leads_outside(member.name))
      fail(where, "is a path that leads out of the archive", "expected the name of an array");
    if (!member.name.ends_with(npy_suffix)) fail(where, "is not an array: expected a name that ends in .npy");
    std::span<const std::byte> bytes = member.packed;
    if (!member.is_stored()) {
      unpacked_.push_back(std::make_shared<const std::string>(archive_.read(member, room)));
      room -= unpacked_.back()->size();
      bytes = std::as_bytes(std::span(*unpacked_.back()));
    }
    tensors_.push_back(read_npy(bytes, member.name.substr(0, member.name.size() - npy_suffix.size()), where));
  }
  // Members are sorted with their suffix, which changes the order: "a.npy" sorts after "a.b.npy".
  sort_by_name(tensors_);
}

const WeightView* NpzFile::find(std::string_view name) const {
  return find_named(tensors_, name);
}

}  // namespace tril
