#include "model_io/families/publishers_code.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <nlohmann/json.hpp>

namespace tril::model {
namespace {

// A family of a publisher's own program, and what to take instead; "": nothing in particular.
struct OwnCode {
  std::string_view model_type, advice;
};

constexpr std::string_view kFalcon = "newer revisions of the same repositories say falcon: fetch the model again";
constexpr std::string_view kPhi = "newer revisions of the same repositories say phi: fetch the model again";

constexpr OwnCode kOwnCode[] = {
    {"RefinedWeb", kFalcon},
    {"RefinedWebModel", kFalcon},
    {"phi-msft", kPhi},
    {"mixformer-sequential", kPhi},
    {"stablelm_epoch", "newer revisions of the same repositories say stablelm: fetch the model again"},
    {"chatglm", "the repositories whose names end in -hf have GLM 4 as the family glm; older ones have no such form"},
    {"internlm", "InternLM 2 and 3, the families internlm2 and internlm3, are supported"},
    {"qwen", "Qwen 1.5 and later, the families qwen2 and qwen3, are supported"},
    {"minicpm", "MiniCPM 3, the family minicpm3, is supported"},
    {"baichuan",
     "its config.json does not tell four models apart that compute differently; take a model of a family that `tril "
     "families` lists"},
    {"xverse", ""},
    {"aquila", ""},
    {"orion", ""},
    {"openelm", ""},
    {"telechat", ""}};

}  // namespace

std::string advice_for_publishers_code(const JsonObject& config, std::string_view model_type) {
  const auto own = std::find_if(std::begin(kOwnCode), std::end(kOwnCode),
                                [&](const OwnCode& code) { return code.model_type == model_type; });
  const bool known = own != std::end(kOwnCode);
  if (!known && !config.json().contains("auto_map")) return "";
  return fmt::format("a program of its publisher computes this family, and tril runs none; {}",
                     known && !own->advice.empty()
                         ? own->advice
                         : "look for the same model under a family that `tril families` lists");
}

}  // namespace tril::model
