#include "trace.h"

#include <nanobind/ndarray.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <nlohmann/json.hpp>

#include "arguments.h"
#include "background.h"
#include "cli/options/assumed_language.h"
#include "decode/models/decoding_options.h"
#include "errors.h"
#include "format/json_text.h"
#include "tokenizer/files/language_tag.h"
#include "trace/question_fields.h"

namespace tril::python {
namespace {

struct TraceOptions {
  std::string source_language, target_language;
  trace::QuestionOptions question;
};

Fields fields_of(TraceOptions& o) {
  Fields f;
  f.group("Text");
  add_language_fields(f, o.source_language, o.target_language);
  f.group("Changes");
  add_change_fields(f, o.question);
  f.group("Analyses");
  add_analysis_fields(f, o.question.analyses);
  f.group("Values");
  add_value_fields(f, o.question);
  return f;
}

struct PassTrace {
  trace::Answer answer;
  trace::Findings findings;
  std::string about;  ///< the JSON of `tril trace` without the values

  std::size_t tokens() const { return answer.input.tokens.size(); }
};

using Sizes = std::vector<std::size_t>;

// An array over memory of the trace, which it keeps alive.
template <class T>
nb::object array_over(const void* data, const Sizes& sizes, nb::handle owner) {
  return nb::cast(
      nb::ndarray<nb::numpy, const T>(static_cast<const T*>(data), sizes.size(), sizes.data(), nb::borrow(owner)));
}

nb::object value(nb::handle_t<PassTrace> self, const std::string& name) {
  const trace::Value& v = nb::cast<const PassTrace&>(self).answer.trace.at(name);
  const Sizes sizes(v.shape.begin(), v.shape.end());
  if (v.type == DType::f32) return array_over<float>(v.bytes.data(), sizes, self);
  if (v.type == DType::u8) return array_over<std::uint8_t>(v.bytes.data(), sizes, self);
  return array_over<std::int32_t>(v.bytes.data(), sizes, self);
}

// [tokens, vocabulary]
nb::object rows_of_logits(nb::handle_t<PassTrace> self, const std::vector<float>& logits) {
  const std::size_t tokens = nb::cast<const PassTrace&>(self).tokens();
  return array_over<float>(logits.data(), {tokens, logits.size() / tokens}, self);
}

// [tokens, tokens] of the encoder or the decoder.
nb::object rollout(nb::handle_t<PassTrace> self, const std::string& side) {
  const auto& t = nb::cast<const PassTrace&>(self);
  const bool encoder = side == "encoder";
  const std::size_t n = encoder ? t.answer.input.source.size() : t.tokens();
  return array_over<float>((encoder ? t.findings.encoder_rollout : t.findings.decoder_rollout).data(), {n, n}, self);
}

struct Given {
  std::string text, target;
};

PassTrace traced(const SharedModel& m, const TraceOptions& o, const Given& given, const std::stop_token& stop) {
  check(m.loaded->others.ensemble().others.empty(), "models", "a pass is of one model, not of an ensemble");
  const Languages languages =
      choose_languages(m.tokenizer(), o.source_language, o.target_language, "source_language", "target_language");
  if (m.model().has_encoder()) cli::warn_of_assumed_language(m.opened().source.name(), m.tokenizer(), languages);
  trace::Question question = question_of(o.question, given.text, given.target, languages);
  question.checkpoint = [&stop] {
    if (stop.stop_requested()) throw Error(ErrorKind::failure, "trace", "was interrupted");
  };
  const model::Model& model = o.question.gradients ? m.loaded->weights_in_float32() : m.model();
  const trace::TextReader reader(model, m.opened().tokenizer);
  PassTrace t{.answer = answer(model, reader, question), .findings = {}, .about = {}};
  trace::Input input = t.answer.input;
  input.checkpoint = question.checkpoint;
  t.findings = analyse(model, input, o.question.analyses);
  nlohmann::ordered_json about = about_json(model, reader, t.answer);
  about.update(findings_json(reader, t.answer.input, t.findings));
  t.about = json_text(about);
  return t;
}

std::shared_ptr<PassTrace> trace_text(const SharedModel& m, const std::string& text, const std::string& target,
                                      const nb::dict& options) {
  TraceOptions o;
  Fields fields = fields_of(o);
  set(fields, arguments_of(options));
  if (!fields.given("only") && !o.question.analyses.any()) o.question.only = {"*"};
  std::shared_ptr<PassTrace> result;
  Background background;
  with_python_words(fields, [&] {
    background.run([&](const std::stop_token& stop) {
      result = std::make_shared<PassTrace>(traced(m, o, {text, target}, stop));
    });
    return 0;
  });
  return result;
}

}  // namespace

void bind_trace(nb::module_& m, nb::class_<SharedModel>& model) {
  nb::class_<PassTrace>(m, "PassTrace")
      .def_prop_ro("names",
                   [](const PassTrace& t) {
                     std::vector<std::string> names;
                     for (const trace::Value& v : t.answer.trace.values()) names.push_back(v.name);
                     return names;
                   })
      .def(
          "has", [](const PassTrace& t, const std::string& name) { return t.answer.trace.find(name) != nullptr; },
          nb::arg("name"))
      .def("value", &value, nb::arg("name"), nb::sig("def value(self, name: str) -> numpy.ndarray"))
      .def_prop_ro(
          "logits",
          [](nb::handle_t<PassTrace> self) {
            return rows_of_logits(self, nb::cast<const PassTrace&>(self).answer.outcome.logits);
          },
          nb::sig("def logits(self) -> numpy.ndarray"))
      .def(
          "lens_logits",
          [](nb::handle_t<PassTrace> self, std::size_t row) {
            return rows_of_logits(self, nb::cast<const PassTrace&>(self).findings.lens.at(row).logits);
          },
          nb::arg("row"), nb::sig("def lens_logits(self, row: int) -> numpy.ndarray"))
      .def("rollout", &rollout, nb::arg("side"), nb::sig("def rollout(self, side: str) -> numpy.ndarray"))
      .def_ro("about", &PassTrace::about);
  model.def("trace", &trace_text, nb::arg("text"), nb::arg("target"), nb::arg("options"));
  m.def("trace_options", [] {
    TraceOptions o;
    return described(fields_of(o));
  });
}

}  // namespace tril::python
