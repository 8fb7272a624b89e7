#include "model_io/ctranslate2/ctranslate2_model.h"

#include "base/error.h"
#include "base/printable.h"

namespace tril::model {

double norm_eps_of(const JsonObject& own, double otherwise) {
  const double eps = own.get<double>("layer_norm_epsilon", otherwise);
  return static_cast<float>(eps) == static_cast<float>(otherwise) ? otherwise : eps;
}

std::string activation_at(Ctranslate2Reader& r, const std::string& attribute) {
  // In the order of CTranslate2's enum ActivationType; the last three are not supported.
  constexpr const char* names[] = {"relu", "gelu_new", "silu", "gelu", "quick_gelu", "tanh", "sigmoid"};
  constexpr std::int64_t computed = 4;
  const std::int64_t id = r.integer(attribute, 0);
  if (id < 0 || id >= computed) {
    const bool known = id >= 0 && id < std::ssize(names);
    r.fail_at(attribute, fmt::format("{} ({}) is not supported", id, known ? names[id] : "unknown"),
              "supported: 0 relu, 1 gelu_new, 2 silu, 3 gelu");
  }
  return names[id];
}

void check_specification(const Ctranslate2File& file) {
  constexpr std::uint32_t newest_translation = 7, newest_decoder = 8, first_named = 3;
  const std::string shown = printable(file.path(), 400);
  const auto check_revision = [&](std::uint32_t oldest, std::uint32_t newest) {
    if (file.revision() < oldest || file.revision() > newest)
      fail(
          shown,
          fmt::format("is revision {} of {}, expected {} to {}", file.revision(), file.specification(), oldest, newest),
          file.revision() < oldest ? "convert the original model with a newer CTranslate2" : "");
  };
  if (file.specification() == "TransformerSpec") return check_revision(first_named, newest_translation);
  if (file.specification() == "TransformerDecoderSpec") return check_revision(1, newest_decoder);
  fail(shown, fmt::format("is a {}, which is not supported", printable(file.specification(), 80)),
       "supported: TransformerSpec and TransformerDecoderSpec, which are translation and language models");
}

Ctranslate2Model read_ctranslate2(Ctranslate2Reader& r, const JsonObject& own, const Ctranslate2Ids& ids) {
  check_specification(r.file());
  if (r.file().specification() == "TransformerDecoderSpec") return read_ctranslate2_decoder(r, own, ids);
  const bool relative = r.has("encoder/layer_0/self_attention/relative_attention_bias");
  return relative ? read_ctranslate2_t5(r, own, ids) : read_ctranslate2_translation(r, own, ids);
}

}  // namespace tril::model
