#include "decode/models/window_fields.h"

#include "base/error.h"

namespace tril {
namespace {

constexpr Range window_tokens{0, 1 << 24};

}  // namespace

void add_window_fields(Fields& f, search::WindowOptions& windows, bool& begin) {
  f.add("begin", &begin, "score the first token too, after the model's begin token; otherwise it is only context");
  f.add("context", &windows.context, "window size in tokens; 0: the model's positions").within(window_tokens);
  f.add("stride", &windows.stride,
        "tokens from one window of a long text to the next: a smaller stride gives each token more context; 0: half of "
        "`context`")
      .within(window_tokens);
}

std::int32_t begin_token(const model::Model& model, const Tokenizer& tokenizer) {
  const std::int32_t begin =
      model.special_ids().bos >= 0 ? model.special_ids().bos : tokenizer.special(Side::target).bos;
  check(begin >= 0, "begin", "the model has no token to begin a text with, so leave it out");
  return begin;
}

}  // namespace tril
