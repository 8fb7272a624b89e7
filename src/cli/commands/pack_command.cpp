// tril pack: stores a model's packed weights for serving beside the model, to be mapped.
#include <spdlog/spdlog.h>

#include "base/cores.h"
#include "cli/commands/commands.h"
#include "cli/io/ending_signal.h"
#include "decode/models/decoding_options.h"
#include "model_io/source/model_source.h"
#include "model_io/source/packed_image.h"

namespace tril::cli {
namespace {

struct PackOptions {
  std::string model;
  std::optional<std::string> precision;
};

Fields fields_of(PackOptions& o) {
  Fields f;
  f.add("model", &o.model, "a model directory or a GGUF file").letter('m').value_name("DIR").required();
  precision_field(
      f.add("precision", &o.precision, "precision to pack for; unset: as the directory stores the weights"));
  return f;
}

int pack(const PackOptions& o) {
  const EndingSignal ending;
  const auto source = model::ModelSource::open(o.model);
  const nn::Precision precision = o.precision ? precision_of(*o.precision) : source.stored_precision();
  const std::size_t bytes = model::write_packed_image(source, precision, available_cores());
  spdlog::info("{}: {:.1f} MiB", model::packed_image_path(source, precision).string(),
               static_cast<double>(bytes) / (1 << 20));
  return exit_success;
}

}  // namespace

void add_pack(App& app) {
  auto o = std::make_shared<PackOptions>();
  app.add({.name = "pack",
           .summary = "store a model's weights as they are laid out in memory, for fast loading",
           .description =
               "Writes packed-PRECISION.tril into the model's directory: the weights in the order in which "
               "matrix products read them. Every command that uses the model in this precision maps the file "
               "instead of reading the weights, so it starts at once and shares their memory with other "
               "processes. The results are the same. A file made from other weights is reported and ignored.",
           .examples = {{"tril pack -m de-int8", "for a directory written by tril quantize"},
                        {"tril pack -m llama --precision bf16", "for tril serve -m llama --precision bf16"}},
           .fields = fields_of(*o),
           .models = {"model"},
           .apply_preset = {},
           .run = [o](const Invocation&) { return pack(*o); }});
}

}  // namespace tril::cli
