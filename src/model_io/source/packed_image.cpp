#include "model_io/source/packed_image.h"

#include <spdlog/spdlog.h>
#include <sys/mman.h>

#include <nlohmann/json.hpp>
#include <set>

#include "base/content_hash.h"
#include "base/file.h"
#include "base/log.h"
#include "format/safetensors.h"
#include "model_io/contents/read_values.h"
#include "model_io/contents/stored_weight.h"
#include "model_io/contents/weight_files.h"
#include "model_io/source/registry.h"
#include "nn/serving.h"

namespace tril::model {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t header_bytes = 4096;  // a page, so that the image is page-aligned when mapped
constexpr int layout_version =
    4;  // covers nn/serving.cpp, packed operands and the header: increase it when any of them changes
constexpr const char* compact_matrices = "compact";  // the value of "matrices" if they are
// Above few_pages pages, one page of `between` is checked before serving. This detects lost disk contents.
constexpr std::size_t page = 4096, few_pages = 4096, between = 64;

std::string hex(std::uint64_t value) {
  return fmt::format("{:016x}", value);
}

std::set<std::string> paths_of(const WeightFiles& files) {
  std::set<std::string> paths;
  for (const std::string& name : files.names()) paths.insert(files.file_of(name));
  return paths;
}

// A hash of the weight files' contents. The views of a quantised weight do not hold its scales, so whole files are read.
std::string content_of(const WeightFiles& files) {
  Hash h;
  for (const std::string& path : paths_of(files))
    h.add(static_cast<std::int64_t>(content_hash(MappedFile::open(path).bytes())));
  return hex(h.value());
}

// The file system's metadata of the weight files: if unchanged, the files need not be read.
std::string stamp_of(const WeightFiles& files) {
  Hash h;
  for (const std::string& path : paths_of(files))
    h.add(static_cast<std::int64_t>(fs::file_size(path)))
        .add(static_cast<std::int64_t>(fs::last_write_time(path).time_since_epoch().count()));
  return hex(h.value());
}

// A hash of evenly spaced pages of an image; of all, if they are few.
std::string sample_of(std::span<const std::byte> image) {
  Hash h;
  const std::size_t step = image.size() / page <= few_pages ? page : between * page;
  for (std::size_t at = 0; at < image.size(); at += step)
    h.add(static_cast<std::int64_t>(content_hash(image.subspan(at, std::min(page, image.size() - at)))));
  return hex(h.value());
}

// The header's description of the weight files and of the image after it.
struct HeaderFields {
  std::size_t bytes = 0;
  std::string stamp, content, image, sample;
};

std::string header_of(const Model& m, nn::ServingForm form, const HeaderFields& fields) {
  nlohmann::ordered_json header{{"tril", "packed"},
                                {"version", layout_version},
                                {"precision", nn::name_of(form.precision)},
                                {"matrices", form.compact ? compact_matrices : "packed"},
                                {"bytes", fields.bytes},
                                {"config", hex(Hash().add(m.config_json()).value())},
                                {"files", fields.stamp},
                                {"weights", fields.content},
                                {"image", fields.image},
                                {"sample", fields.sample}};
  header["header"] = hex(Hash().add(header.dump()).value());
  std::string text = header.dump();
  check(text.size() < header_bytes, "packed image", "a header of {} bytes", text.size());
  text.resize(header_bytes - 1, ' ');
  return text + "\n";
}

// The value of this key in a file's header; "" if there is none.
std::string header_value(std::span<const std::byte> bytes, const char* key) {
  const std::string_view header(reinterpret_cast<const char*>(bytes.data()), std::min(bytes.size(), header_bytes));
  const auto json = nlohmann::json::parse(header, nullptr, /*allow_exceptions=*/false);
  return json.is_object() && json.contains(key) && json[key].is_string() ? json[key].get<std::string>() : "";
}

// Packed weights are never checked again, so NaN and infinity must not get into them.
void check_weights(const Model& m, const WeightFiles& files) {
  for (const nn::Parameter& p : m.parameters().all()) {
    if (p.is_adapter) continue;
    const StoredWeight w = from_files([&] { return find_weight(m, p, files); });
    if (!w.values || w.bits() != 0 || p.quantized)
      continue;  // scales were checked; quantised weights are checked when they are rounded
    from_files([&] { check_finite(files, w, read_values(*w.values)); });
    files.release(*w.values);
  }
}

}  // namespace

fs::path packed_image_path(const ModelSource& model, nn::Precision precision) {
  return model.beside(fmt::format("packed-{}.tril", nn::name_of(precision)));
}

std::size_t write_packed_image(const ModelSource& model, nn::ServingForm form, int threads) {
  check_servable(model, form.precision);
  const std::unique_ptr<Model> m = make(model);
  m->parameters().allocate_serving(form);
  const WeightFiles& files = model.weights();
  check_weights(*m, files);
  load_weights(*m, model, threads);
  const std::span<const std::byte> image = m->parameters().serving_image();
  AtomicFile file(packed_image_path(model, form.precision).string());
  file.write(header_of(*m, form,
                       {.bytes = image.size(),
                        .stamp = stamp_of(files),
                        .content = content_of(files),
                        .image = hex(content_hash(image)),
                        .sample = sample_of(image)}));
  file.write(image);
  file.commit();
  return header_bytes + image.size();
}

namespace {

std::span<const std::byte> image_of(std::span<const std::byte> bytes) {
  return bytes.subspan(std::min(bytes.size(), header_bytes));
}

// The form of an image: bf16 is written in the form that the packing processor reads faster; every processor can read both.
nn::ServingForm form_of(std::span<const std::byte> bytes, nn::Precision precision) {
  nn::ServingForm form = precision;
  form.compact = header_value(bytes, "matrices") == compact_matrices;
  return form;
}

// True if the file belongs to these weights and this version. The whole header is known in advance, except the image's
// hashes, which are checked against the image.
bool belongs(Model& m, const WeightFiles& files, nn::ServingForm form, std::span<const std::byte> bytes) {
  HeaderFields fields{.bytes = image_of(bytes).size(),
                      .stamp = header_value(bytes, "files"),
                      .content = {},
                      .image = header_value(bytes, "image"),
                      .sample = header_value(bytes, "sample")};
  fields.content = fields.stamp == stamp_of(files) ? header_value(bytes, "weights") : content_of(files);
  const std::string expected = header_of(m, form, fields);
  return bytes.size() >= header_bytes &&
         std::equal(expected.begin(), expected.end(), reinterpret_cast<const char*>(bytes.data())) &&
         fields.bytes == m.parameters().serving_bytes(form);
}

}  // namespace

bool adopt_packed_image(Model& m, const ModelSource& model, nn::Precision precision) {
  const std::string path = packed_image_path(model, precision).string();
  if (!is_present(path)) return false;
  const auto file = std::make_shared<const MappedFile>(MappedFile::open(path));
  const std::span<const std::byte> bytes = file->bytes();
  const nn::ServingForm form = form_of(bytes, precision);
  if (!belongs(m, model.weights(), form, bytes)) {
    logger()->warn("{}: belongs to other weights or another version and is ignored; run `tril pack` again", path);
    return false;
  }
  if (sample_of(image_of(bytes)) != header_value(bytes, "sample")) {
    logger()->warn("{}: is damaged and is ignored; run `tril pack` again", path);
    return false;
  }
  const std::size_t needed = header_bytes + m.parameters().serving_memory(form);
  madvise(const_cast<std::byte*>(bytes.data()), std::min(bytes.size(), needed), MADV_WILLNEED);  // only a hint
  m.parameters().adopt_serving_image(form, image_of(bytes), file);
  return true;
}

std::optional<PackedState> packed_image_state(const ModelSource& model, nn::Precision precision) {
  const std::string path = packed_image_path(model, precision).string();
  if (!is_present(path)) return std::nullopt;
  const MappedFile file = MappedFile::open(path);
  if (!belongs(*make(model), model.weights(), form_of(file.bytes(), precision), file.bytes()))
    return PackedState::of_others;
  return hex(content_hash(image_of(file.bytes()))) == header_value(file.bytes(), "image") ? PackedState::sound
                                                                                          : PackedState::damaged;
}

}  // namespace tril::model
