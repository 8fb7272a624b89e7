// Edit: one change of a pass, at the points that its pattern names. Edits are composable: they apply in order.
//
//   decoder.3.self.heads[2]=zero      head 2 of a layer's attention
//   decoder.3.self.heads[2]=mean      its values replaced by their mean over the tokens
//   *.feed_forward.out=zero           no feed-forward
//   decoder.3=skip                    a layer left out
//   *positions=skip                   no positions: sinusoids, learned ones, rotations, distances
//   *.self.mask=all                   no mask; also: causal, window 4
//   *.scores=uniform                  every key that the mask allows has the same weight
//   *.scores=temperature 2            scores divided by 2
//   decoder.3.output@5=patch          the value that the same token has in another text
//   encoder.tokens@2=Haus             token 2 of the source replaced by a piece, or by an id: #17
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "tensor/context.h"
#include "trace/trace.h"

namespace tril::trace {

struct Edit {
  enum class Action : std::uint8_t { zero, mean, scale, uniform, temperature, all, causal, window, skip, patch, token };
  std::string text;     ///< as it was given
  std::string pattern;  ///< of the points
  std::optional<std::int64_t> head, token;
  Action action = Action::zero;
  double number = 0;  ///< of scale, temperature and window
  std::string piece;  ///< of token

  /// True if it changes the tokens before the pass.
  bool of_tokens() const { return action == Action::token; }
};

/// @throws Error(usage) that says what was expected
Edit parse_edit(std::string_view text);

/// The value that `patch` takes.
struct Donor {
  const Value* value = nullptr;  ///< null: there is none
  bool of_first_tokens = false;  ///< the text has grown since: later tokens keep their own values
};

/// The value of a point after the edit. Tokens are its first dimension, but of scores, masks and weights [H, Tq, Tk].
/// @param heads  of the point's columns; 0: none
/// @throws Error(usage) if the edit does not fit the point
Tensor edited(Context& c, const Edit& edit, const Tensor& value, std::int64_t heads, const Donor& donor);

}  // namespace tril::trace
