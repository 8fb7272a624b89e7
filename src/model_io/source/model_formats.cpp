#include "model_io/source/model_formats.h"

#include "model_io/ctranslate2/ctranslate2_model_reader.h"
#include "model_io/gguf/gguf_model_reader.h"
#include "model_io/marian/marian_model_reader.h"
#include "model_io/source/directory_reader.h"

namespace tril::model {

std::span<const ModelFormat> model_formats() {
  static constexpr ModelFormat list[]{
      {.name = "GGUF",
       .paths = "`model.gguf`",
       .sentence = "llama.cpp's file: configuration, weights and vocabulary in one",
       .open = open_gguf},
      {.name = "CTranslate2",
       .paths = "a directory with `model.bin`, an `.argosmodel`",
       .sentence = "CTranslate2's models, and the packages of Argos Translate and LibreTranslate",
       .open = open_ctranslate2},
      {.name = "Marian",
       .paths = "`model.npz`, `model.bin`, an OPUS-MT `.zip`, a directory of these",
       .sentence = "the Marian toolkit's own files, with their vocabularies beside them",
       .open = open_marian},
      {.name = "Hugging Face",
       .paths = "a directory with `config.json`",
       .sentence = "weights in safetensors or PyTorch's files, in one file or in shards",
       .open = open_directory},
  };
  return list;
}

}  // namespace tril::model
