// tril's internals, for programs that train a decoder, run it step by step, or look inside. Link tril::train, in a project that adds
// this one's sources, and include this file, or the single headers that it lists. All of it is unstable: names and arguments change
// with any commit, and nothing here is installed. Programs that only use models include tril.h.
//
// The nouns, in the order in which one meets them:
//   Arena, Context   memory and kernels of one thread's computation; the first argument of everything
//   Tensor           shape, type, shared memory; host_copy() and Context::upload() are the way out and in
//   Rows             a ragged batch: which of N tokens belong together, and where each row begins in its sequence
//   Tape, Grads      set a tape in the context and what follows is recorded; Tape::backward() walks back
//   nn::Parameters   a model's weights by name: allocate(), then initialise(seed) or model::load(), then refresh()
//   model::Model     encode() -> Memory, decode() -> hidden states, logits(); the families stand below
//   nn::KvCache      keys and values of tokens seen, for decoding step by step
//   Tokenizer        text <-> ids; train_marian_tokenizer() learns one
//   Segment          segments_of() splits a text into what is translated and the white space between
//   search           Translator, SplitTranslator: texts -> translations; Generator: prompts -> what follows; Session: ids -> hypotheses
//   train            Optimizer and Workers for a loop of one's own, Trainer for a whole run with checkpoints
//
// Translating with a model directory, whole:
//   const auto m = tril::model::load("model");
//   tril::search::Translator translator(*m, tril::load_tokenizer("model"), {...});
//   translator.translate(texts);
//
// Whatever is wrong is thrown as tril::Error, which says where, what was expected, what came and what to try. The
// programs in examples/ are lessons in this interface.
#pragma once

#include "base/error.h"
#include "base/progress.h"
#include "base/rng.h"
#include "base/rows.h"
#include "base/version.h"
#include "corpus/corpus.h"
#include "corpus/vocabulary.h"
#include "decode/batches/score.h"
#include "decode/texts/generator.h"
#include "decode/texts/split_translator.h"
#include "decode/texts/text_score.h"
#include "decode/texts/translator.h"
#include "metrics/bleu.h"
#include "metrics/chrf.h"
#include "model/families/linear_decoder.h"
#include "model/families/marian.h"
#include "model/lessons/full_transformer.h"
#include "model/lessons/padded_decoder.h"
#include "model/lessons/tiny_decoder.h"
#include "model/spec/learned_position_decoder.h"
#include "model/spec/masks.h"
#include "model/spec/tied_decoder.h"
#include "model_io/contents/generation_config.h"
#include "model_io/source/registry.h"
#include "nn/blocks.h"
#include "nn/positions.h"
#include "ops/ops.h"
#include "tensor/context.h"
#include "tensor/observer.h"
#include "tokenizer/files/tokenizer.h"
#include "train/distributed/workers.h"
#include "train/loop/build_model.h"
#include "train/loop/trainer.h"
#include "train/optim/optimizer.h"
#include "train/optim/schedule.h"
#include "unicode/segments.h"
