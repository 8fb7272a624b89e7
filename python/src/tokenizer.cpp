#include "tokenizer.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "arguments.h"
#include "background.h"
#include "chat/chat_template.h"
#include "cli/options/find_models.h"
#include "errors.h"
#include "model_io/source/model_source.h"
#include "tokenizer/files/text_tokens.h"

namespace tril::python {
namespace {

Side side_of(const std::string& name) {
  if (name == "source") return Side::source;
  check(name == "target", "side", "expected \"source\" or \"target\", got \"{}\"", name);
  return Side::target;
}

void check_ids(const Tokenizer& t, const std::vector<std::int32_t>& ids, Side side) {
  for (const std::int32_t id : ids)
    check(id >= 0 && id < t.size(side), "ids", "{} is not in the vocabulary, expected ids from 0 to {}", id,
          t.size(side) - 1);
}

TextTokens tokens_of(const SharedTokenizer& s, const std::string& text, const std::string& side, bool special,
                     const std::string& language) {
  check(language.empty() || special, "language", "has an effect only with special_tokens=True");
  return TextTokenizer(*s.tokenizer, side_of(side)).tokens_of(text, special, language);
}

SharedTokenizer open(const std::string& model, bool pull) {
  SharedTokenizer s;
  std::string path = model;
  Fields fields;
  fields.add("model", &path, "").value_name("DIR");
  set(fields, {{"model", {model}}});
  Background background;
  background.run([&](const std::stop_token&) {
    cli::find_models(fields, {"model"}, {.pull = pull, .quiet = true});
    s.tokenizer = model::ModelSource::open(path).tokenizer();
  });
  return s;
}

std::string chat_text(const SharedTokenizer& s, const std::string& chat, const std::string& source) {
  const auto json = nlohmann::ordered_json::parse(chat);
  const std::optional<std::string> published = s.tokenizer->chat_template();
  if (source.empty() && !published)
    fail_usage("messages", s.tokenizer->where() + " has no chat template", "pass one as chat_template");
  const ChatTemplate form(source.empty() ? *published : source);
  return form.render({.messages = json.at("messages"),
                      .tools = json.at("tools"),
                      .documents = nullptr,
                      .add_generation_prompt = json.at("add_generation_prompt"),
                      .special_tokens = s.tokenizer->special_tokens(),
                      .variables = json.at("variables"),
                      .now = {}});
}

}  // namespace

void bind_tokenizer(nb::module_& m) {
  nb::class_<SharedTokenizer>(m, "Tokenizer")
      .def_static("open", &open, nb::arg("model"), nb::arg("pull"))
      .def(
          "encode",
          [](const SharedTokenizer& s, const std::string& text, const std::string& side, bool special,
             const std::string& language) { return tokens_of(s, text, side, special, language).ids; },
          nb::arg("text"), nb::arg("side"), nb::arg("special_tokens"), nb::arg("language"))
      .def(
          "tokenize",
          [](const SharedTokenizer& s, const std::string& text, const std::string& side, bool special,
             const std::string& language) { return tokens_of(s, text, side, special, language).pieces; },
          nb::arg("text"), nb::arg("side"), nb::arg("special_tokens"), nb::arg("language"))
      .def(
          "offsets",
          [](const SharedTokenizer& s, const std::string& text, const std::string& side, bool special,
             const std::string& language) {
            std::vector<std::optional<std::pair<std::int64_t, std::int64_t>>> places;
            for (const TokenPlace& p : tokens_of(s, text, side, special, language).characters)
              places.push_back(p.begin < 0 ? std::nullopt : std::optional(std::pair(p.begin, p.end)));
            return places;
          },
          nb::arg("text"), nb::arg("side"), nb::arg("special_tokens"), nb::arg("language"))
      .def(
          "decode",
          [](const SharedTokenizer& s, const std::vector<std::int32_t>& ids, const std::string& side, bool special) {
            check_ids(*s.tokenizer, ids, side_of(side));
            return TextTokenizer(*s.tokenizer, side_of(side)).text_of(ids, special);
          },
          nb::arg("ids"), nb::arg("side"), nb::arg("special_tokens"))
      .def(
          "piece",
          [](const SharedTokenizer& s, std::int32_t id, const std::string& side) {
            check_ids(*s.tokenizer, {id}, side_of(side));
            return s.tokenizer->piece(id, side_of(side));
          },
          nb::arg("id"), nb::arg("side"))
      .def(
          "id",
          [](const SharedTokenizer& s, const std::string& piece, const std::string& side) {
            return s.tokenizer->find(piece, side_of(side));
          },
          nb::arg("piece"), nb::arg("side"))
      .def(
          "size", [](const SharedTokenizer& s, const std::string& side) { return s.tokenizer->size(side_of(side)); },
          nb::arg("side"))
      .def_prop_ro("languages", [](const SharedTokenizer& s) { return s.tokenizer->languages(); })
      .def_prop_ro("chat_template", [](const SharedTokenizer& s) { return s.tokenizer->chat_template(); })
      .def(
          "special",
          [](const SharedTokenizer& s, const std::string& side) {
            const SpecialIds& ids = s.tokenizer->special(side_of(side));
            nb::dict d;
            d["bos"] = ids.bos, d["eos"] = ids.eos, d["pad"] = ids.pad, d["unk"] = ids.unk;
            return d;
          },
          nb::arg("side"))
      .def("chat_text", &chat_text, nb::arg("chat"), nb::arg("template"));
}

}  // namespace tril::python
