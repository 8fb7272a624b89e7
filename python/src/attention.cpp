#include "attention.h"

#include <nanobind/ndarray.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "background.h"
#include "decode/texts/attention_maps.h"
#include "report/attention_page.h"
#include "tokenizer/files/language_tag.h"

namespace tril::python {
namespace {

// The attention of one sentence, with the facts that its page shows.
struct Attention {
  std::vector<search::AttentionMaps> maps;
  std::vector<train::Fact> facts;
};
struct Map {
  std::shared_ptr<const Attention> all;
  std::size_t number;
  const search::AttentionMaps& maps() const { return all->maps[number]; }
};

std::vector<Map> maps_of(const std::shared_ptr<Attention>& all) {
  std::vector<Map> list;
  for (std::size_t i = 0; i < all->maps.size(); ++i) list.push_back({all, i});
  return list;
}

// The weights of one layer [heads, queries, keys], without a copy: the array keeps the map alive.
nb::object weights(nb::handle_t<Map> self, const std::string& layer) {
  const search::AttentionMaps& m = nb::cast<const Map&>(self).maps();
  std::vector<std::string> names;
  for (const search::AttentionMaps::Layer& l : m.layers) {
    if (l.name == layer)
      return nb::cast(nb::ndarray<nb::numpy, const float, nb::ndim<3>>(
          l.weights.data(), {static_cast<std::size_t>(l.heads), m.queries.size(), m.keys.size()}, self));
    names.push_back(l.name);
  }
  fail_usage("layer", fmt::format("there is no layer \"{}\"", layer), did_you_mean(layer, names));
}

std::shared_ptr<Attention> attention(const SharedModel& m, const search::AttendedPair& given,
                                     const search::AttentionBounds& bounds) {
  auto all = std::make_shared<Attention>();
  Background background;
  background.run([&](const std::stop_token&) {
    const bool pair = m.model().has_encoder();
    if (pair)
      search::check_tokenizer(m.model(), m.tokenizer());
    else
      search::check_language_model(m.model(), m.tokenizer());
    const Languages languages = choose_languages(m.tokenizer(), given.source_language, given.target_language,
                                                 "source_language", "target_language");
    const std::string source = prepend_language_tag(languages.prefix, given.source);
    Arena arena;
    Context c(arena);
    all->maps = search::all_attention_maps(c, m.model(), m.tokenizer(),
                                           {source, given.target, languages.source, languages.target}, bounds);
    all->facts = {{"model", m.opened().source.name()}, {pair ? "source" : "text", source}};
    if (pair) all->facts.emplace_back("target", given.target);
    for (const search::AttentionMaps& one : all->maps)
      if (one.layers.empty())
        fail_usage("attention", fmt::format("there is nothing to show for the {} attention", search::name_of(one.kind)),
                   one.keys.empty() ? "pass a sentence of at least one token"
                                    : "raise max_heads to at least the heads of a layer");
  });
  return all;
}

}  // namespace

void bind_attention(nb::module_& m, nb::class_<SharedModel>& model) {
  nb::class_<Map>(m, "AttentionMap", "The attention of one kind: rows read, columns are read.")
      .def_prop_ro(
          "kind", [](const Map& a) { return std::string(search::name_of(a.maps().kind)); },
          "\"cross\", \"encoder\", \"decoder\" or \"self\".")
      .def_prop_ro(
          "queries", [](const Map& a) { return a.maps().queries; }, "The tokens that attend: the rows.")
      .def_prop_ro(
          "keys", [](const Map& a) { return a.maps().keys; }, "The tokens that are attended to: the columns.")
      .def_prop_ro(
          "layers",
          [](const Map& a) {
            std::vector<std::string> names;
            for (const auto& layer : a.maps().layers) names.push_back(layer.name);
            return names;
          },
          "Names of the layers, the first one first.")
      .def("weights", &weights, nb::arg("layer"), nb::sig("def weights(self, layer: str) -> numpy.ndarray"),
           "The weights of a layer [heads, queries, keys], float32, read-only, without a copy.");
  nb::class_<Attention>(m, "Attention", "The attention of a model in one sentence.")
      .def_prop_ro(
          "maps", [](const std::shared_ptr<Attention>& a) { return maps_of(a); },
          "One AttentionMap for each kind of attention in the model.")
      .def(
          "html", [](const Attention& a) { return train::attention_page(a.facts, a.maps); },
          "A self-contained web page that shows layers and heads, as `tril attend` writes it.")
      .def(
          "svg", [](const Attention& a) { return train::attention_svg(a.facts, a.maps); },
          "A picture of all heads, as `tril attend --svg` writes it.")
      .def("_repr_html_", [](const Attention& a) { return train::attention_svg(a.facts, a.maps); });
  model.def(
      "attention",
      [](const SharedModel& s, const std::string& source, const std::string& target, const std::string& source_language,
         const std::string& target_language, std::int64_t max_tokens, std::int64_t max_heads) {
        return attention(s, {source, target, source_language, target_language},
                         {.tokens = max_tokens, .heads = max_heads});
      },
      nb::arg("source"), nb::arg("target"), nb::arg("source_language"), nb::arg("target_language"),
      nb::arg("max_tokens"), nb::arg("max_heads"));
}

}  // namespace tril::python
