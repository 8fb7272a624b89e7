#include "models.h"

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "attention.h"
#include "decode/texts/translation_text.h"
#include "ids.h"
#include "piece_tokenizer.h"
#include "scores.h"
#include "tokenizer.h"
#include "trace.h"

namespace tril::python {

void bind_models(nb::module_& m) {
  nb::class_<SharedModel> model(m, "Model");
  model.def_prop_ro("tokenizer", [](const SharedModel& s) { return SharedTokenizer{s.opened().tokenizer}; })
      .def_prop_ro("family", [](const SharedModel& s) { return s.model().family(); })
      .def_prop_ro("translates", [](const SharedModel& s) { return s.model().has_encoder(); })
      .def_prop_ro("vocab_size", [](const SharedModel& s) { return s.model().vocab_size(); })
      .def_prop_ro("max_positions", [](const SharedModel& s) { return s.model().max_positions(); })
      .def_prop_ro("parameters", [](const SharedModel& s) { return s.model().parameters().count(); })
      .def_prop_ro("config_json", [](const SharedModel& s) { return s.model().config_json(); })
      .def_prop_ro("decoder_start",
                   [](const SharedModel& s) { return search::decoder_start(s.model(), s.tokenizer(), ""); })
      .def_prop_ro("path", [](const SharedModel& s) { return s.opened().source.name(); });
  bind_scores(m, model);
  bind_attention(m, model);
  bind_trace(m, model);
  bind_ids(m, model);
  nb::class_<Pieces>(m, "Pieces")
      .def(
          "__init__",
          [](Pieces* self, std::vector<std::string> list, std::int32_t bos, std::int32_t eos, std::int32_t unk) {
            new (self) Pieces{std::move(list), {.bos = bos, .eos = eos, .unk = unk}};
          },
          nb::arg("list"), nb::arg("bos"), nb::arg("eos"), nb::arg("unk"));
  m.def(
      "load",
      [](const std::string& path, const nb::dict& options, const Pieces* source, const Pieces* target) {
        std::shared_ptr<const Tokenizer> pieces;
        if (source && target) pieces = std::make_shared<const PieceTokenizer>(*source, *target);
        return SharedModel{load(split(path, arguments_of(options)).loading, pieces)};
      },
      nb::arg("model"), nb::arg("options"), nb::arg("source").none(), nb::arg("target").none());
}

}  // namespace tril::python
