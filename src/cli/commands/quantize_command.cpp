// tril quantize: writes a model directory with matrices of 8 or 4 bits.
#include <spdlog/spdlog.h>

#include <filesystem>
#include <set>

#include "base/atomic_directory.h"
#include "cli/commands/commands.h"
#include "cli/io/ending_signal.h"
#include "cli/options/new_directory.h"
#include "model_io/exports/quantize.h"
#include "model_io/source/model_source.h"
#include "tokenizer/files/pipeline_tokenizer.h"

namespace tril::cli {
namespace {

struct QuantizeOptions {
  std::string model, out;
  std::string precision = "int8";
};

Fields fields_of(QuantizeOptions& o) {
  Fields f;
  f.add("model", &o.model, "directory of an unquantised model, or a GGUF file")
      .letter('m')
      .value_name("DIR")
      .required();
  f.add("out", &o.out, "output directory").letter('o').value_name("DIR").required();
  f.add("precision", &o.precision, "precision of the matrices").choices({"int8", "int4"});
  return f;
}

std::uintmax_t weight_bytes(const model::ModelSource& model) {
  std::set<std::string> files;
  for (const std::string& name : model.weights().names()) files.insert(model.weights().file_of(name));
  std::uintmax_t bytes = 0;
  for (const std::string& file : files) bytes += std::filesystem::file_size(file);
  return bytes;
}

int quantize(const QuantizeOptions& o) {
  const EndingSignal ending;
  refuse_files_of_models(o.out, "--out");
  const auto source = model::ModelSource::open(o.model);
  write_directory(o.out, "config.json",
                  [&](const std::string& out) { model::quantize(source, out, o.precision == "int8" ? 8 : 4); });
  constexpr double mib = 1 << 20;
  spdlog::info("{}: {:.1f} MiB of weights, {:.1f} in {}", o.out,
               static_cast<double>(weight_bytes(model::ModelSource::open(o.out))) / mib,
               static_cast<double>(weight_bytes(source)) / mib, o.model);
  return exit_success;
}

}  // namespace

void add_quantize(App& app) {
  auto o = std::make_shared<QuantizeOptions>();
  app.add({.name = "quantize",
           .summary = "store a model's matrices in 8 or 4 bits",
           .description = "Writes a directory that takes a quarter of the space or less, loads faster, and gives the "
                          "same results as the original with --precision int8 or int4. The original is not changed.",
           .examples = {{"tril quantize -m de -o de-int8",
                         "8 bits; the result is used like any model, as in tril translate -m de-int8"},
                        {"tril quantize -m de -o de-int4 --precision int4", "4 bits"}},
           .fields = fields_of(*o),
           .models = {"model"},
           .apply_preset = {},
           .run = [o](const Invocation&) { return quantize(*o); }});
}

}  // namespace tril::cli
