#include "model/packed_image.h"

#include <spdlog/spdlog.h>
#include <sys/mman.h>

#include <nlohmann/json.hpp>
#include <set>

#include "base/content_hash.h"
#include "base/file.h"
#include "base/gguf.h"
#include "model/quantized_files.h"
#include "model/registry.h"
#include "model/safetensors.h"
#include "nn/serving.h"

namespace tril::model {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t header_bytes = 4096;  // a page, so that the image is aligned wherever it is mapped
constexpr int layout_version = 1;           // of nn/serving.cpp and of packed operands: one more where either changes

std::string hex(std::uint64_t value) {
  return fmt::format("{:016x}", value);
}

// All that the weights are.
std::string content_of(const WeightFiles& files) {
  Hash h;
  for (const std::string& name : files.names()) {
    const WeightView& w = files.at(name);
    h.add(name).add(w.type_name()).add(static_cast<std::int64_t>(content_hash(w.bytes)));
    for (const std::int64_t s : w.shape) h.add(s);
  }
  return hex(h.value());
}

// What the system says of their files: where it is the same they need not be read to be known.
std::string stamp_of(const WeightFiles& files) {
  std::set<std::string> paths;
  for (const std::string& name : files.names()) paths.insert(files.file_of(name));
  Hash h;
  for (const std::string& path : paths)
    h.add(static_cast<std::int64_t>(fs::file_size(path)))
        .add(static_cast<std::int64_t>(fs::last_write_time(path).time_since_epoch().count()));
  return hex(h.value());
}

std::string header_of(const Model& m, nn::Precision precision, std::size_t bytes, const std::string& stamp,
                      const std::string& content) {
  nlohmann::ordered_json header{{"tril", "packed"},
                                {"version", layout_version},
                                {"precision", nn::name_of(precision)},
                                {"bytes", bytes},
                                {"config", hex(Hash().add(m.config_json()).value())},
                                {"files", stamp},
                                {"weights", content}};
  header["header"] = hex(Hash().add(header.dump()).value());
  std::string text = header.dump();
  check(text.size() < header_bytes, "packed image", "a header of {} bytes", text.size());
  text.resize(header_bytes - 1, ' ');
  return text + "\n";
}

// What a file's header says under this key; "" where it is none.
std::string said(std::span<const std::byte> bytes, const char* key) {
  const std::string_view header(reinterpret_cast<const char*>(bytes.data()), std::min(bytes.size(), header_bytes));
  const auto json = nlohmann::json::parse(header, nullptr, /*allow_exceptions=*/false);
  return json.is_object() && json.contains(key) && json[key].is_string() ? json[key].get<std::string>() : "";
}

// What is packed is never looked at again: a value that is no number must not get into it.
void check_weights(const Model& m, const WeightFiles& files) {
  for (const nn::Parameter& p : m.parameters().all()) {
    if (p.is_adapter) continue;
    const StoredWeight w = from_files([&] { return find_weight(m, p, files); });
    if (!w.values || w.bits() != 0 || p.quantized) continue;  // scales were looked at, and what is rounded will be
    check_finite(files, w, to_f32(*w.values));
    files.release(w.values->bytes);
  }
}

}  // namespace

fs::path packed_image_path(const fs::path& model, nn::Precision precision) {
  const std::string name = fmt::format("packed-{}.tril", nn::name_of(precision));
  return is_gguf_file(model.string()) ? fs::path(model.string() + "." + name) : model / name;
}

std::size_t write_packed_image(const fs::path& model, nn::Precision precision) {
  const std::unique_ptr<Model> m = make_of(model);
  m->parameters().allocate_serving(precision);
  check_weights(*m, WeightFiles::open(model.string()));
  load_weights(*m, model);
  const std::span<const std::byte> image = m->parameters().serving_image();
  AtomicFile file(packed_image_path(model, precision).string());
  const WeightFiles files = WeightFiles::open(model.string());
  file.write(header_of(*m, precision, image.size(), stamp_of(files), content_of(files)));
  file.write(image);
  file.commit();
  return header_bytes + image.size();
}

bool adopt_packed_image(Model& m, const fs::path& model, nn::Precision precision) {
  const std::string path = packed_image_path(model, precision).string();
  if (!is_present(path)) return false;
  const auto file = std::make_shared<const MappedFile>(MappedFile::open(path));
  const std::span<const std::byte> bytes = file->bytes();
  // What it must say is known, and nothing of it is taken at its word.
  const std::size_t image = bytes.size() - std::min(bytes.size(), header_bytes);
  const WeightFiles files = WeightFiles::open(model.string());
  const std::string stamp = said(bytes, "files"),
                    content = stamp == stamp_of(files) ? said(bytes, "weights") : content_of(files),
                    expected = header_of(m, precision, image, stamp, content);
  if (bytes.size() < header_bytes ||
      !std::equal(expected.begin(), expected.end(), reinterpret_cast<const char*>(bytes.data())) ||
      image != m.parameters().serving_bytes(precision)) {
    spdlog::warn("{}: is not of these weights or of this version, and is not used; `tril pack` makes it anew", path);
    return false;
  }
  madvise(const_cast<std::byte*>(bytes.data()), bytes.size(), MADV_WILLNEED);  // advice only
  m.parameters().adopt_serving_image(precision, bytes.subspan(header_bytes), file);
  return true;
}

}  // namespace tril::model
