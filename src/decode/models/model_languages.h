// The languages of a model that translates one pair of languages.
#pragma once

#include "model_io/source/model_source.h"
#include "tokenizer/files/tokenizer.h"

namespace tril {

/// The languages that the model's files state. If they state none, and the vocabulary has no languages to choose from: those in
/// the name of the directory, the file or the hub's repository (language/name_pair.h), with a message. "": not known.
/// @param source  a model with an encoder
StatedLanguages model_languages(const model::ModelSource& source);

}  // namespace tril
