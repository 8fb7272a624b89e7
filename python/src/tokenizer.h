// tril.Tokenizer.
#pragma once

#include <nanobind/nanobind.h>

#include <memory>

#include "tokenizer/files/tokenizer.h"

namespace tril::python {

struct SharedTokenizer {
  std::shared_ptr<const Tokenizer> tokenizer;
};

void bind_tokenizer(nanobind::module_& m);

}  // namespace tril::python
