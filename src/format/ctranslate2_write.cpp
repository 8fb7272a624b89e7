#include "format/ctranslate2_write.h"

#include <algorithm>
#include <limits>

#include "base/error.h"
#include "base/printable.h"
#include "format/ctranslate2_file.h"

namespace tril {
namespace {

std::uint64_t bytes_needed(const TensorHeader& t) {
  std::uint64_t n = size_of(t.dtype);
  for (const std::int64_t size : t.shape) n *= static_cast<std::uint64_t>(size);
  return n;
}

// CTranslate2's enum DataType.
std::uint8_t type_id(StoredType type) {
  switch (type) {
    case StoredType::f32:
      return 0;
    case StoredType::i8:
      return 1;
    case StoredType::i16:
      return 2;
    case StoredType::i32:
      return 3;
    case StoredType::f16:
      return 4;
    case StoredType::bf16:
      return 5;
    default:
      fail("model.bin", fmt::format("cannot hold values of type {}", name_of(type)));
  }
}

}  // namespace

template <class T>
void Ctranslate2Writer::put(T value) {
  file_.write(std::as_bytes(std::span(&value, 1)));
}

void Ctranslate2Writer::put_text(std::string_view text) {
  put(static_cast<std::uint16_t>(text.size() + 1));
  file_.write(text);
  put('\0');
}

Ctranslate2Writer::Ctranslate2Writer(const std::string& path, Ctranslate2Header header)
    : file_(path), header_(std::move(header)) {
  for (const TensorHeader& t : header_.variables)
    if (bytes_needed(t) > std::numeric_limits<std::uint32_t>::max())
      fail(printable(t.name, 200),
           fmt::format("has {} bytes, more than model.bin can hold of one variable", bytes_needed(t)),
           "pass a smaller `type`");
  put(Ctranslate2File::newest_version);
  put_text(header_.specification);
  put(header_.revision);
  put(static_cast<std::uint32_t>(header_.variables.size()));
}

void Ctranslate2Writer::write(std::string_view name, std::span<const std::byte> bytes) {
  const TensorHeader& t = header_.variables.at(current_);
  check(t.name == name && bytes.size() == bytes_needed(t), "model.bin", "{}: got {} of {} bytes", t.name, name,
        bytes.size());
  put_text(t.name);
  put(static_cast<std::uint8_t>(t.shape.size()));
  for (const std::int64_t n : t.shape) put(static_cast<std::uint32_t>(n));
  put(type_id(t.dtype));
  put(static_cast<std::uint32_t>(bytes.size()));
  file_.write(bytes);
  ++current_;
}

void Ctranslate2Writer::commit() {
  check(current_ == header_.variables.size(), "model.bin", "{} of {} variables were written", current_,
        header_.variables.size());
  put(static_cast<std::uint32_t>(header_.aliases.size()));
  for (const auto& [alias, name] : header_.aliases) put_text(alias), put_text(name);
  file_.commit();
}

}  // namespace tril
