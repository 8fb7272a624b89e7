#include "generator.h"

#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <memory>
#include <utility>

#include "cancel.h"
#include "models.h"
#include "pool.h"
#include "ready_generator.h"

namespace tril::python {
namespace {

using GeneratorPool = Pool<ReadyGenerator>;

// A text that is being generated.
class TextPieces {
 public:
  TextPieces(std::shared_ptr<GeneratorPool> pool, std::string key, std::unique_ptr<ReadyGenerator> ready)
      : pool_(std::move(pool)), key_(std::move(key)), ready_(std::move(ready)) {}

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
  std::shared_ptr<GeneratorPool> pool_;
  std::string key_;
  std::unique_ptr<ReadyGenerator> ready_;
};

class Generator {
 public:
  Generator(const std::string& model, const nb::dict& options) {
    SplitArguments arguments = split(model, arguments_of(options));
    GenerateOptions o;
    Fields fields = fields_of(o);
    set(fields, arguments.calls);  // reports mistakes before the model is loaded
    loaded_ = load(arguments.loading);
    defaults_ = std::move(arguments.calls);
    pool_->put("", std::make_unique<ReadyGenerator>(loaded_, std::vector<const Arguments*>{&defaults_}));
  }

  std::vector<std::shared_ptr<TextGeneration>> generate(const std::vector<std::string>& prompts, bool of_template,
                                                        const nb::dict& options, const Cancel* cancel) {
    const Arguments given = checked(options);
    return pool_->with(
        key_of(given), [&] { return made(given); },
        [&](ReadyGenerator& ready) {
          return ready.generate({prompts, of_template}, token_of(cancel));
        });
  }

  std::shared_ptr<TextPieces> stream(const std::string& prompt, bool of_template, const nb::dict& options) {
    const Arguments given = checked(options);
    const std::string key = key_of(given);
    std::unique_ptr<ReadyGenerator> ready = pool_->take(key);
    if (!ready) ready = made(given);
    ready->begin({{prompt}, of_template});
    return std::make_shared<TextPieces>(pool_, key, std::move(ready));
  }

  const std::shared_ptr<const Loaded>& loaded() const { return loaded_; }

 private:
  static Arguments checked(const nb::dict& options) {
    Arguments given = arguments_of(options);
    check_call(given);
    return given;
  }
  std::unique_ptr<ReadyGenerator> made(const Arguments& given) const {
    return std::make_unique<ReadyGenerator>(loaded_, std::vector<const Arguments*>{&defaults_, &given});
  }

  std::shared_ptr<const Loaded> loaded_;
  Arguments defaults_;
  std::shared_ptr<GeneratorPool> pool_ = std::make_shared<GeneratorPool>();
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
