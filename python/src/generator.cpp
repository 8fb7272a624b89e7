#include "generator.h"

#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <memory>
#include <utility>

#include "calls.h"
#include "cancel.h"
#include "models.h"
#include "ready_generator.h"

namespace tril::python {
namespace {

using GeneratorCalls = Calls<ReadyGenerator, GenerateOptions>;

// A text that is being generated.
class TextPieces {
 public:
  TextPieces(std::shared_ptr<Pool<ReadyGenerator>> pool, GeneratorCalls::Taken taken)
      : pool_(std::move(pool)), key_(std::move(taken.key)), ready_(std::move(taken.ready)) {}

  std::string next() {
    if (!ready_) throw nb::stop_iteration();
    std::optional<std::string> piece;
    try {
      piece = ready_->next_piece();
    } catch (...) {
      ready_.reset();
      throw;
    }
    if (piece) return *piece;
    pool_->put(key_, std::move(ready_));
    throw nb::stop_iteration();
  }
  void stop() {
    if (ready_) ready_->end();
  }

 private:
  std::shared_ptr<Pool<ReadyGenerator>> pool_;
  std::string key_;
  std::unique_ptr<ReadyGenerator> ready_;
};

class Generator {
 public:
  Generator(const std::string& model, const nb::dict& options) : calls_(model, options) {}

  std::vector<std::shared_ptr<TextGeneration>> generate(const std::vector<std::string>& prompts, bool of_template,
                                                        const nb::dict& options, const Cancel* cancel) const {
    return calls_.with(options, [&](ReadyGenerator& ready) {
      return ready.generate({prompts, of_template}, token_of(cancel));
    });
  }

  std::shared_ptr<TextPieces> stream(const std::string& prompt, bool of_template, const nb::dict& options) const {
    GeneratorCalls::Taken taken = calls_.take(options);
    taken.ready->begin({{prompt}, of_template});
    return std::make_shared<TextPieces>(calls_.pool(), std::move(taken));
  }

  const std::shared_ptr<const Loaded>& loaded() const { return calls_.loaded(); }

 private:
  GeneratorCalls calls_;
};

}  // namespace

void bind_generator(nb::module_& m) {
  nb::class_<TextGeneration>(m, "Generation", "The continuations of one prompt.")
      .def_ro("text", &TextGeneration::text, "The best or first continuation, without the prompt.")
      .def_ro("hypotheses", &TextGeneration::hypotheses,
              "All n continuations: the best first, or samples in their order.")
      .def("__str__", [](const TextGeneration& g) { return g.text; })
      .def("__repr__", [](const TextGeneration& g) {
        return "<tril.Generation " + nb::cast<std::string>(nb::repr(nb::str(g.text.data(), g.text.size()))) + ">";
      });
  nb::class_<TextPieces>(m, "TextPieces", "The text of one prompt, piece by piece while it is generated.")
      .def("__iter__", [](nb::handle self) { return self; })
      .def("__next__", &TextPieces::next)
      .def("stop", &TextPieces::stop, "Ends the text after the current token.");
  nb::class_<Generator>(m, "Generator", nb::is_weak_referenceable())
      .def(nb::init<const std::string&, const nb::dict&>(), nb::arg("model"), nb::arg("options"))
      .def("generate", &Generator::generate, nb::arg("prompts"), nb::arg("of_template"), nb::arg("options"),
           nb::arg("cancel").none())
      .def("stream", &Generator::stream, nb::arg("prompt"), nb::arg("of_template"), nb::arg("options"))
      .def_prop_ro("loaded", [](const Generator& g) { return SharedModel{g.loaded()}; });
  m.def("generate_options", [] {
    GenerateOptions o;
    return described(fields_of(o));
  });
}

}  // namespace tril::python
