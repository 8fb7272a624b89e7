#include "format/ctranslate2_file.h"

#include <algorithm>
#include <array>
#include <optional>

#include "base/error.h"
#include "base/printable.h"
#include "format/byte_cursor.h"
#include "format/find_named.h"

namespace tril {
namespace {

constexpr std::size_t most_rank = 8;
constexpr const char* damaged_model_bin = "the file is damaged: get it again";
// In the order of CTranslate2's enum DataType.
constexpr std::array types_by_id{StoredType::f32, StoredType::i8,  StoredType::i16,
                                 StoredType::i32, StoredType::f16, StoredType::bf16};

// A text: u16 length with its final zero byte, then the bytes.
std::string read_text(ByteCursor& bytes, const std::string& where, std::string_view what) {
  const std::string_view text = bytes.characters(bytes.number<std::uint16_t>(what), what);
  if (text.empty() || text.find('\0') + 1 != text.size())
    fail(where, fmt::format("expected {} to end in its only zero byte", what), damaged_model_bin);
  return std::string(text.substr(0, text.size() - 1));
}

StoredType type_of(ByteCursor& bytes, std::uint32_t version, const std::string& where) {
  const auto id = bytes.number<std::uint8_t>("the type of a variable");
  if (version >= 4) {
    if (id >= types_by_id.size())
      fail(where, fmt::format("has values of type {}, expected 0 to {}", id, types_by_id.size() - 1));
    return types_by_id[id];
  }
  switch (id) {
    case 4:
      return StoredType::f32;
    case 2:
      return StoredType::i16;
    case 1:
      return StoredType::i8;
    default:
      fail(where, fmt::format("has values of {} bytes, expected 4, 2 or 1", id));
  }
}

WeightView read_variable(ByteCursor& bytes, std::uint32_t version, const std::string& path) {
  WeightView view{.name = read_text(bytes, path, "the name of a variable"), .shape = {}, .bytes = {}, .form = {}};
  const std::string where = fmt::format("{}: {}", path, printable(view.name, 200));
  const auto rank = bytes.number<std::uint8_t>("the rank of a variable");
  if (rank > most_rank) fail(where, fmt::format("has {} dimensions, expected at most {}", rank, most_rank));
  for (std::size_t i = 0; i < rank; ++i) view.shape.push_back(bytes.number<std::uint32_t>("the shape of a variable"));
  view.dtype = type_of(bytes, version, where);
  std::uint64_t size = bytes.number<std::uint32_t>("the size of a variable");
  if (version < 4) size *= size_of(view.dtype);
  const std::optional<std::uint64_t> needed = bytes_of_shape(view.dtype, view.shape);
  if (!needed) fail(where, "has more values than 64 bits can count", damaged_model_bin);
  if (*needed != size)
    fail(where,
         fmt::format("its shape [{}] needs {} bytes of values, found {}", fmt::join(view.shape, ", "), *needed, size),
         damaged_model_bin);
  view.bytes = bytes.take(size, fmt::format("the values of {}", printable(view.name, 200)));
  return view;
}

}  // namespace

Ctranslate2File Ctranslate2File::open(const std::string& path) {
  const auto file = std::make_shared<const MappedFile>(MappedFile::open(path));
  return {path, file->bytes(), file};
}

Ctranslate2File::Ctranslate2File(std::string path, std::span<const std::byte> content,
                                 std::shared_ptr<const void> owner)
    : path_(std::move(path)), owner_(std::move(owner)) {
  const std::string shown = printable(path_, 400);
  ByteCursor bytes(content, shown);
  version_ = bytes.number<std::uint32_t>("its version");
  if (version_ < 2 || version_ > newest_version)
    fail(shown, fmt::format("is a model.bin of version {}, expected 2 to {}", version_, newest_version),
         version_ == 1 ? "convert the original model with a newer CTranslate2" : "");
  specification_ = read_text(bytes, shown, "the name of the specification");
  revision_ = bytes.number<std::uint32_t>("the revision of the specification");

  const auto count = bytes.number<std::uint32_t>("the number of variables");
  for (std::uint32_t i = 0; i < count; ++i) variables_.push_back(read_variable(bytes, version_, shown));
  if (const WeightView* const twice = sort_by_name(variables_))
    fail(fmt::format("{}: {}", shown, printable(twice->name, 200)), "occurs twice", damaged_model_bin);

  const auto aliases = version_ >= 3 ? bytes.number<std::uint32_t>("the number of aliases") : 0;
  for (std::uint32_t i = 0; i < aliases; ++i) {
    std::string alias = read_text(bytes, shown, "an alias"), name = read_text(bytes, shown, "the variable of an alias");
    const std::string where = fmt::format("{}: {}", shown, printable(alias, 200));
    const WeightView* const variable = find(name);  // as in CTranslate2: a variable, or an alias before this one
    if (!variable) fail(where, fmt::format("is an alias of {}, which does not exist", printable(name, 200)));
    if (find(alias)) fail(where, "occurs twice", damaged_model_bin);
    aliases_.emplace(std::move(alias), variable->name);
  }
  if (bytes.left() > 0) fail(shown, fmt::format("has {} bytes after its last alias", bytes.left()), damaged_model_bin);
}

const WeightView* Ctranslate2File::find(std::string_view name) const {
  const auto alias = aliases_.find(name);
  if (alias != aliases_.end()) name = alias->second;
  return find_named(variables_, name);
}

bool begins_as_ctranslate2(std::span<const std::byte> bytes) {
  constexpr std::size_t prefix = sizeof(std::uint32_t) + sizeof(std::uint16_t);
  if (bytes.size() < prefix) return false;
  const auto version = load_number<std::uint32_t>(bytes.data());
  const auto length = load_number<std::uint16_t>(bytes.data() + sizeof version);
  if (version < 2 || version > 1000 || length < 2 || length > 100 || length > bytes.size() - prefix) return false;
  const std::string_view name(reinterpret_cast<const char*>(bytes.data()) + prefix, length);
  return name.back() == '\0' && std::all_of(name.begin(), name.end() - 1, [](char c) { return c > ' ' && c < '\x7f'; });
}

}  // namespace tril
