// tril pack: stores a model's packed weights for serving beside the model, to be mapped.
#include <spdlog/spdlog.h>

#include "cli/commands/commands.h"
#include "cli/options/decoding_options.h"
#include "model_io/model_source.h"
#include "model_io/packed_image.h"
#include "model_io/quantized_files.h"

namespace tril::cli {
namespace {

struct PackOptions {
  std::string model;
  std::optional<std::string> precision;
};

Fields fields_of(PackOptions& o) {
  Fields f;
  f.add("model", &o.model, "directory of a model, or a GGUF file").letter('m').value_name("DIR").required();
  precision_field(
      f.add("precision", &o.precision, "what it is to serve in; as the directory stores its weights unless given"));
  return f;
}

int pack(const PackOptions& o) {
  const auto source = model::ModelSource::open(o.model);
  const nn::Precision precision = o.precision ? precision_of(*o.precision) : source.stored_precision();
  const std::size_t bytes = model::write_packed_image(source, precision);
  spdlog::info("{}: {:.1f} MiB", model::packed_image_path(source, precision).string(),
               static_cast<double>(bytes) / (1 << 20));
  return exit_success;
}

}  // namespace

void add_pack(App& app) {
  auto o = std::make_shared<PackOptions>();
  app.add({.name = "pack",
           .summary = "keep a model's weights as they lie in memory, to be mapped",
           .description =
               "Writes packed-PRECISION.tril into the model's directory: the weights in the order in which products "
               "read them. Every command that serves the model in this precision maps the file instead of reading "
               "the weights, so that it begins at once and shares their memory with other processes. The same "
               "numbers come out. A file of other weights is said to be and not used.",
           .examples = {{"tril pack -m de-int8", "of a directory that tril quantize wrote"},
                        {"tril pack -m llama --precision bf16", "for tril serve -m llama --precision bf16"}},
           .fields = fields_of(*o),
           .apply_preset = {},
           .run = [o](const Invocation&) { return pack(*o); }});
}

}  // namespace tril::cli
