// tril export: converts a model: to a GGUF file, which llama.cpp runs; to Marian's files; to a directory that CTranslate2
// loads; or any form to a directory in Hugging Face's form.
#include <spdlog/spdlog.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/atomic_directory.h"
#include "base/file.h"
#include "base/printable.h"
#include "cli/commands/commands.h"
#include "cli/io/ending_signal.h"
#include "cli/options/find_models.h"
#include "cli/options/new_directory.h"
#include "format/gguf.h"
#include "format/gguf_write.h"
#include "model_io/adapters/adapter.h"
#include "model_io/contents/generation_config.h"
#include "model_io/exports/ctranslate2_export.h"
#include "model_io/exports/gguf_export.h"
#include "model_io/exports/marian_export.h"
#include "model_io/gguf/gguf_config.h"
#include "model_io/gguf/gguf_header.h"
#include "model_io/source/model_source.h"
#include "model_io/source/registry.h"
#include "tokenizer/files/gguf_vocabulary.h"
#include "tokenizer/files/tokenizer.h"

namespace tril::cli {
namespace {

namespace fs = std::filesystem;

struct ExportOptions {
  std::string model, adapter, to, name;
  std::string type = "f16", format = "huggingface";
};

Fields fields_of(ExportOptions& o) {
  Fields f;
  f.add("model", &o.model, "model to export, in any form that tril reads").letter('m').value_name("DIR").required();
  f.add("adapter", &o.adapter,
        "PEFT adapter to merge into the weights: a directory, or OWNER/NAME on the hub; only with a Hugging Face "
        "directory as output")
      .value_name("DIR");
  f.add("to", &o.to,
        "output: FILE.gguf, FILE.npz for the Marian toolkit, or a directory: a Hugging Face model in float32, or as "
        "--format says")
      .letter('o')
      .value_name("PATH")
      .required();
  f.add("format", &o.format, "format of the output: a directory, or gguf for a FILE.gguf")
      .choices({"huggingface", "ctranslate2", "gguf"});
  f.add("type", &o.type,
        "number format of the matrices: in a GGUF file any but int8 (vectors stay in 32 bits); for CTranslate2 f32, "
        "f16, bf16 or int8")
      .choices({"f32", "f16", "bf16", "q8_0", "q4_0", "int8"});
  f.add("name", &o.name, "name of the model in a GGUF file; unset: the name of --model").value_name("TEXT");
  return f;
}

bool wants_gguf(const ExportOptions& o) {
  return has_gguf_name(o.to);
}

std::string name_of(const ExportOptions& o) {
  if (!o.name.empty()) return o.name;
  return name_of_model(o.model);
}

// Metadata for llama.cpp: the tokenizer, and the publisher's sampling settings.
GgufMetadata text_metadata(const model::ModelSource& source, std::int64_t vocab_size) {
  const model::GenerationConfig& published = source.generation();
  GgufMetadata metadata = model::gguf_sampling(published);
  if (!source.has_tokenizer()) {
    spdlog::warn("{} has no tokenizer, so the output has none either", source.name());
    metadata.add(gguf_vocabulary_key("model"), "no_vocab");
    return metadata;
  }
  const GgufVocabulary v =
      gguf_vocabulary(source.tokenizer_description(), static_cast<std::int32_t>(vocab_size), published.eos_token_ids);
  for (const std::string& warning : v.warnings) spdlog::warn("{}", warning);
  metadata.append(v.metadata);
  return metadata;
}

void write_gguf(const ExportOptions& o, const Fields& fields) {
  if (fields.given("format") && o.format != "gguf")
    fail_usage("--format", fmt::format("{} is only for directories", o.format), "pass a directory with --to");
  if (o.type == "int8") fail_usage("--type", "int8 is only for CTranslate2", "GGUF has q8_0");
  const auto source = model::ModelSource::open(o.model);
  const auto m = model::make(source);
  // Refuses unsupported architectures first.
  const std::string warning = model::gguf_header_of(nlohmann::json::parse(m->config_json())).warning;
  if (!warning.empty()) spdlog::warn("{}", warning);
  model::export_gguf(*m, source.weights(),
                     {.path = o.to,
                      .type = *gguf_type(o.type),
                      .name = name_of(o),
                      .tokenizer = text_metadata(source, m->vocab_size())});
  constexpr double mib = 1 << 20;
  spdlog::info("{}: {:.1f} MiB", o.to, static_cast<double>(fs::file_size(o.to)) / mib);
}

model::Ctranslate2Type ctranslate2_type(const std::string& type) {
  if (type == "f32") return model::Ctranslate2Type::f32;
  if (type == "f16") return model::Ctranslate2Type::f16;
  if (type == "bf16") return model::Ctranslate2Type::bf16;
  if (type == "int8") return model::Ctranslate2Type::int8;
  fail_usage("--type", fmt::format("{} is only for GGUF files", type), "CTranslate2 has f32, f16, bf16, int8");
}

void write_ctranslate2(const ExportOptions& o, const Fields& fields) {
  if (fields.given("name")) fail_usage("--name", "is only for GGUF files", "pass a FILE.gguf with --to");
  refuse_files_of_models(o.to, "--to");
  const model::Ctranslate2Type type = ctranslate2_type(o.type);
  const auto source = model::ModelSource::open(o.model);
  write_directory(o.to, "config.json", [&](const std::string& to) { model::export_ctranslate2(source, to, type); });
  constexpr double mib = 1 << 20;
  spdlog::info("{}: {:.1f} MiB", o.to, static_cast<double>(fs::file_size(fs::path(o.to) / "model.bin")) / mib);
}

void write_marian(const ExportOptions& o, const Fields& fields) {
  for (const char* option : {"type", "name", "format"})
    if (fields.given(option))
      fail_usage("--" + std::string(option), "is not for Marian's files", "pass a FILE.gguf or a directory with --to");
  const auto source = model::ModelSource::open(o.model);
  const auto m = model::load(source);
  model::export_marian(*m, *source.tokenizer(), source.published_generation(), o.to);
  spdlog::info("{}: {} parameters; Marian decodes with {}.decoder.yml", o.to, m->parameters().count(), o.to);
}

void export_directory(const ExportOptions& o, const Fields& fields) {
  for (const char* option : {"type", "name"})
    if (fields.given(option))
      fail_usage("--" + std::string(option), "is not for a Hugging Face directory",
                 "pass a FILE.gguf with --to, or --format ctranslate2");
  refuse_files_of_models(o.to, "--to");
  const auto source = model::ModelSource::open(o.model);
  std::shared_ptr<const Tokenizer> tokenizer;
  if (source.has_tokenizer()) tokenizer = source.tokenizer();
  std::unique_ptr<model::Model> m;
  write_directory(o.to, "config.json", [&](const std::string& to) {
    m = model::load(source);
    if (!o.adapter.empty()) model::merge(*m, source, model::Adapter::open(o.adapter));
    if (tokenizer) save_tokenizer(*tokenizer, to);
    // Keeps the publisher's generation settings: several end tokens, sampling, beams.
    model::save(*m, to);
    write_file_atomic((fs::path(to) / "generation_config.json").string(), source.published_generation().dump(2) + "\n");
  });
  spdlog::info("{}: a {} model of {} parameters", o.to, m->family(), m->parameters().count());
}

int run_export(const ExportOptions& o, const Fields& fields) {
  const EndingSignal ending;
  const bool wants_marian = fs::path(o.to).extension() == ".npz";
  if (o.format == "gguf" && !wants_gguf(o))
    fail_usage("--to", fmt::format("expected FILE.gguf for --format gguf, got \"{}\"", printable(o.to, 300)),
               fmt::format("pass --to {}.gguf", printable(o.to, 300)));
  if ((wants_gguf(o) || wants_marian || o.format == "ctranslate2") && !o.adapter.empty())
    fail_usage("--adapter", "is only for a Hugging Face directory as output",
               "export a directory with the adapter merged first, then export that directory");
  if (wants_gguf(o))
    write_gguf(o, fields);
  else if (wants_marian)
    write_marian(o, fields);
  else if (o.format == "ctranslate2")
    write_ctranslate2(o, fields);
  else
    export_directory(o, fields);
  return exit_success;
}

}  // namespace

void add_export(App& app) {
  auto o = std::make_shared<ExportOptions>();
  app.add({.name = "export",
           .summary = "write a model for llama.cpp (GGUF), Marian or CTranslate2, or as a Hugging Face directory",
           .description =
               "Writes the weights and the tokenizer as llama.cpp reads them, for the families that it computes as "
               "published; an error names anything that it would compute differently. With --format ctranslate2 it "
               "writes a directory that CTranslate2 loads. A GGUF, Marian or CTranslate2 model becomes a directory "
               "with a config.json, which `transformers` reads unless its model_type is tril. An .npz is written with "
               "its vocabularies and a decoder.yml, for `marian-decoder`. The original is not changed.",
           .examples = {{"tril export -m llama --to llama.gguf", "in 16 bits"},
                        {"tril export -m llama --to llama-q8.gguf --type q8_0", "in 8 bits"},
                        {"tril export -m llama --adapter legal --to llama-legal", "a model with its adapter merged"},
                        {"tril export -m de --to de-ct2 --format ctranslate2 --type int8", "for CTranslate2"},
                        {"tril export -m student --to marian/model.npz", "for the Marian toolkit"},
                        {"tril export -m llama.Q4_K_M.gguf --to llama", "to continue training, or for `transformers`"}},
           .fields = fields_of(*o),
           .models = {"model", "adapter"},
           .outputs = {"to"},
           .apply_preset = {},
           .run = [o](const Invocation& i) { return run_export(*o, i.fields); }});
}

}  // namespace tril::cli
