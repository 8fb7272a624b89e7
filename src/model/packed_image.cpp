#include "model/packed_image.h"

#include <spdlog/spdlog.h>
#include <sys/mman.h>

#include <nlohmann/json.hpp>

#include "base/content_hash.h"
#include "base/file.h"
#include "base/gguf.h"
#include "model/registry.h"
#include "model/safetensors.h"
#include "nn/serving.h"

namespace tril::model {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t header_bytes = 4096;  // a page, so that the image is aligned wherever it is mapped
constexpr int layout_version = 1;           // of nn/serving.cpp and of packed operands: one more where either changes

// The weights told apart from others without reading them all: names, forms, and 64 bytes at each tensor's beginning,
// middle and end.
std::uint64_t fingerprint(const Model& m, const fs::path& model) {
  constexpr std::size_t sample = 64;
  Hash h;
  h.add(m.config_json());
  const WeightFiles files = WeightFiles::open(model.string());
  for (const std::string& name : files.names()) {
    const WeightView& w = files.at(name);
    h.add(name).add(w.type_name()).add(static_cast<std::int64_t>(w.bytes.size()));
    for (const std::int64_t s : w.shape) h.add(s);
    const std::size_t n = std::min(sample, w.bytes.size());
    for (const std::size_t at : {std::size_t{0}, (w.bytes.size() - n) / 2, w.bytes.size() - n})
      h.add(static_cast<std::int64_t>(content_hash(w.bytes.subspan(at, n))));
  }
  return h.value();
}

std::string header_of(const Model& m, const fs::path& model, nn::Precision precision, std::size_t bytes) {
  const nlohmann::ordered_json header{{"tril", "packed"},
                                      {"version", layout_version},
                                      {"precision", nn::name_of(precision)},
                                      {"bytes", bytes},
                                      {"weights", fmt::format("{:016x}", fingerprint(m, model))}};
  std::string text = header.dump();
  check(text.size() < header_bytes, "packed image", "a header of {} bytes", text.size());
  text.resize(header_bytes - 1, ' ');
  return text + "\n";
}

}  // namespace

fs::path packed_image_path(const fs::path& model, nn::Precision precision) {
  const std::string name = fmt::format("packed-{}.tril", nn::name_of(precision));
  return is_gguf_file(model.string()) ? fs::path(model.string() + "." + name) : model / name;
}

std::size_t write_packed_image(const fs::path& model, nn::Precision precision) {
  const std::unique_ptr<Model> m = make_of(model);
  m->parameters().allocate_serving(precision);
  load_weights(*m, model);
  const std::span<const std::byte> image = m->parameters().serving_image();
  AtomicFile file(packed_image_path(model, precision).string());
  file.write(header_of(*m, model, precision, image.size()));
  file.write(image);
  file.commit();
  return header_bytes + image.size();
}

bool adopt_packed_image(Model& m, const fs::path& model, nn::Precision precision) {
  const std::string path = packed_image_path(model, precision).string();
  std::error_code ignored;
  if (!fs::exists(path, ignored)) return false;
  const auto file = std::make_shared<const MappedFile>(MappedFile::open(path));
  const std::span<const std::byte> bytes = file->bytes();
  // What it must say is known, and nothing of it is taken at its word.
  const std::size_t image = bytes.size() - std::min(bytes.size(), header_bytes);
  const std::string expected = header_of(m, model, precision, image);
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
