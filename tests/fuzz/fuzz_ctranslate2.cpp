// libFuzzer: any bytes as model.bin of CTranslate2, its variables, and the family that they make. An Error is fine; a crash, a hang or
// an access outside the file is not.
#include <cstddef>
#include <cstdint>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "base/error.h"
#include "model_io/ctranslate2/ctranslate2_model.h"
#include "must.h"

namespace {

// Views that are made of others may have more values than the file: rows of padding, positions that it lacks.
constexpr std::int64_t most_read = 1 << 20;

void read_all(const std::vector<std::string>& names, const tril::WeightFiles& weights) {
  for (const std::string& name : names) {
    const tril::WeightView& view = weights.at(name);
    if (view.elements() > most_read) continue;
    try {
      tril::fuzz::must(to_f32(view).size() == static_cast<std::size_t>(view.elements()), "values and shape agree");
    } catch (const tril::Error&) {  // a value that is no float
    }
  }
}

void read(const std::string& bytes, const nlohmann::json& own) {
  try {
    const auto file =
        std::make_shared<const tril::Ctranslate2File>("model.bin", std::as_bytes(std::span(bytes)), nullptr);
    std::size_t held = 0;
    for (const tril::WeightView& v : file->variables()) held += v.bytes.size();
    tril::fuzz::must(held <= bytes.size(), "variables lie side by side in the file");
    for (const auto& [alias, name] : file->aliases())
      tril::fuzz::must(file->find(alias) && file->find(alias) == file->find(name), "an alias leads to a variable");
    tril::model::Ctranslate2Reader reader(file);
    const tril::model::Ctranslate2Model model = tril::model::read_ctranslate2(
        reader, tril::JsonObject(own, "config.json"), {.bos = 1, .eos = 2, .pad = 0, .decoder_start = -1});
    read_all(model.weights.names(), model.weights);
  } catch (const tril::Error&) {
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  read(std::string(reinterpret_cast<const char*>(data), size), nlohmann::json::object());
  return 0;
}
