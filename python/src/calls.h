// Calls of a loaded model. The options of the constructor are their defaults; an object that is ready for the options of one call
// is kept for the next call with the same ones.
#pragma once

#include <nanobind/nanobind.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "loaded.h"
#include "pool.h"

namespace tril::python {

/// @tparam Ready    is made of the loaded model and the arguments, defaults first; one call uses it at a time
/// @tparam Options  has fields_of(), which are the options of a call
template <class Ready, class Options>
class Calls {
 public:
  /// Loads the model. Mistakes in the options of calls are reported before that.
  Calls(const std::string& model, const nb::dict& options) {
    SplitArguments arguments = split(model, arguments_of(options));
    Options o;
    Fields fields = fields_of(o);
    set(fields, arguments.calls);
    loaded_ = load(arguments.loading);
    defaults_ = std::move(arguments.calls);
    pool_->put("", std::make_unique<Ready>(loaded_, std::vector<const Arguments*>{&defaults_}));
  }

  /// Returns use(ready).
  template <class Use>
  auto with(const nb::dict& options, const Use& use) const {
    const Arguments given = checked(options);
    return pool_->with(
        key_of(given), [&] { return made(given); }, use);
  }

  struct Taken {
    std::string key;  ///< for Pool::put()
    std::unique_ptr<Ready> ready;
  };
  Taken take(const nb::dict& options) const {
    const Arguments given = checked(options);
    Taken taken{key_of(given), nullptr};
    taken.ready = pool_->take(taken.key);
    if (!taken.ready) taken.ready = made(given);
    return taken;
  }

  const std::shared_ptr<Pool<Ready>>& pool() const { return pool_; }
  const std::shared_ptr<const Loaded>& loaded() const { return loaded_; }

 private:
  static Arguments checked(const nb::dict& options) {
    Arguments given = arguments_of(options);
    check_call(given);
    return given;
  }
  std::unique_ptr<Ready> made(const Arguments& given) const {
    return std::make_unique<Ready>(loaded_, std::vector<const Arguments*>{&defaults_, &given});
  }

  std::shared_ptr<const Loaded> loaded_;
  Arguments defaults_;
  std::shared_ptr<Pool<Ready>> pool_ = std::make_shared<Pool<Ready>>();
};

}  // namespace tril::python
