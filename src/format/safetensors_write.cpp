#include "format/safetensors_write.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <unordered_set>
#include <utility>

#include "base/error.h"
#include "base/printable.h"

namespace tril {
namespace {

std::uint64_t bytes_of(const TensorHeader& tensor) {
  const std::optional<std::uint64_t> bytes = bytes_of_shape(tensor.dtype, tensor.shape);
  check(bytes.has_value(), printable(tensor.name), "cannot have the shape [{}]", fmt::join(tensor.shape, ", "));
  return *bytes;
}

// The JSON text of a header, padded with spaces so that the data begins at a multiple of 8.
std::string header_text(const std::vector<TensorHeader>& tensors, const Metadata& metadata) {
  nlohmann::ordered_json header = nlohmann::ordered_json::object();
  if (!metadata.empty()) {
    nlohmann::ordered_json texts = nlohmann::ordered_json::object();
    for (const auto& [key, text] : metadata) texts[key] = text;
    header["__metadata__"] = std::move(texts);
  }
  // An ordered_json searches all keys at every insertion; joining the texts keeps this linear.
  std::string text = header.dump();
  text.pop_back();
  std::unordered_set<std::string> names;
  std::uint64_t offset = 0;
  for (const TensorHeader& tensor : tensors) {
    check(tensor.name != "__metadata__", "safetensors", "a tensor cannot be called __metadata__");
    check(names.insert(tensor.name).second, "safetensors", "two tensors are called {}", printable(tensor.name));
    const std::uint64_t end = offset + bytes_of(tensor);
    check(end >= offset, printable(tensor.name), "the tensors up to here have more bytes than 64 bits can count");
    const nlohmann::ordered_json entry = {
        {"dtype", name_of(tensor.dtype)}, {"shape", tensor.shape}, {"data_offsets", {offset, end}}};
    if (text.size() > 1) text += ',';
    text += nlohmann::json(tensor.name).dump() + ':' + entry.dump();
    offset = end;
  }
  text += '}';
  text.append((8 - text.size() % 8) % 8, ' ');
  return text;
}

}  // namespace

SafetensorsWriter::SafetensorsWriter(const std::string& path, std::vector<TensorHeader> tensors,
                                     const Metadata& metadata)
    : file_(path), tensors_(std::move(tensors)) {
  std::string text;
  try {
    text = header_text(tensors_, metadata);
  } catch (const nlohmann::json::exception&) {
    fail_usage(printable(path, 400), "a name or a metadata string is not valid UTF-8");
  }
  std::string length(8, '\0');  // little-endian
  for (std::size_t i = 0; i < length.size(); ++i) length[i] = static_cast<char>(text.size() >> 8 * i & 0xff);
  file_.write(length);
  file_.write(text);
}

void SafetensorsWriter::write(std::string_view name, std::span<const std::byte> bytes) {
  // Tensors without values may be skipped by the caller.
  while (current_ < tensors_.size() && tensors_[current_].name != name &&
         current_bytes_ == bytes_of(tensors_[current_])) {
    ++current_;
    current_bytes_ = 0;
  }
  check(current_ < tensors_.size(), file_.path(), "{} comes after the last tensor", printable(name));
  const TensorHeader& tensor = tensors_[current_];
  check(tensor.name == name, file_.path(), "got {} where {} was expected ({} of its {} bytes are written)",
        printable(name), printable(tensor.name), current_bytes_, bytes_of(tensor));
  check(bytes.size() <= bytes_of(tensor) - current_bytes_, file_.path(), "{} has {} bytes, got {}", printable(name),
        bytes_of(tensor), current_bytes_ + bytes.size());
  file_.write(bytes);
  current_bytes_ += bytes.size();
}

void SafetensorsWriter::commit() {
  for (; current_ < tensors_.size(); ++current_, current_bytes_ = 0)
    check(current_bytes_ == bytes_of(tensors_[current_]), file_.path(), "{} has {} bytes, got only {}",
          printable(tensors_[current_].name), bytes_of(tensors_[current_]), current_bytes_);
  file_.commit();
}

void write_safetensors(const std::string& path, const std::vector<WeightView>& tensors, const Metadata& metadata) {
  std::vector<TensorHeader> headers;
  for (const WeightView& t : tensors) headers.push_back({t.name, t.dtype, t.shape});
  SafetensorsWriter writer(path, std::move(headers), metadata);
  for (const WeightView& t : tensors) writer.write(t.name, t.bytes);
  writer.commit();
}

}  // namespace tril
