// tril as a library: open a model, translate, generate, tokenise, score, look inside.
//
//   tril::Model model = tril::Model::open("Helsinki-NLP/opus-mt-en-de", {{"pull", true}});
//   tril::Translator translator(model, {{"beam-size", 6}});
//   std::string text = translator.translate("A dog runs.");
//
// Everything wrong is thrown as tril::Error. Link tril::tril (CMake) or `pkg-config --cflags --libs tril`. docs/cpp.md has more.
#pragma once

#include <tril/alignment.h>
#include <tril/error.h>
#include <tril/generate.h>
#include <tril/model.h>
#include <tril/options.h>
#include <tril/score.h>
#include <tril/stop_reason.h>
#include <tril/tokenize.h>
#include <tril/trace.h>
#include <tril/translate.h>
#include <tril/version.h>
