// Texts as the input of a pass, and the pieces that its tokens stand for.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "model/spec/model.h"
#include "tokenizer/files/tokenizer.h"
#include "trace/pass.h"

namespace tril::trace {

struct Texts {
  std::string text;    ///< what the encoder reads; in a language model, what comes first
  std::string target;  ///< what the decoder should say; in a language model, what follows. "": nothing is given
  /// Codes of Tokenizer::languages(); "": the default of the model's directory.
  std::string source_language = {}, target_language = {};
};

class TextReader {
 public:
  /// The model must outlive it. @throws Error(usage) if the tokenizer does not fit the model
  TextReader(const model::Model& model, std::shared_ptr<const Tokenizer> tokenizer);

  /// The ids of a pass. The loss of an encoder-decoder counts the target and its end; that of a language model counts the target,
  /// or without one all tokens after the first. In an encoder-decoder without a target the decoder reads its start token alone.
  /// @throws Error(usage) for texts without a token
  Input read(const Texts& texts) const;
  /// The piece of each token: of the source if `source`, else of the decoder's tokens. A model may have more tokens than its
  /// tokenizer has pieces; such a token is its id here and in text_of(): "#50260".
  std::vector<std::string> pieces(const std::vector<std::int32_t>& ids, bool source) const;
  std::string text_of(const std::vector<std::int32_t>& ids) const;
  /// The tokens that end a text; none if there are none.
  std::vector<std::int32_t> ends() const;
  /// Replaces tokens as the edits say: those of `encoder.tokens` or `decoder.tokens`.
  /// @throws Error(usage) for a token or a piece that does not exist
  void replace_tokens(Input& input, std::span<const Edit> edits) const;

 private:
  bool has_piece(std::int32_t id, Side side = Side::target) const;
  std::int32_t id_of(const Edit& edit, Side side) const;

  const model::Model* model_;
  std::shared_ptr<const Tokenizer> tokenizer_;
};

}  // namespace tril::trace
