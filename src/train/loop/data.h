// Derives what corpus/ reads from training options: corpora, and the sources of a vocabulary.
#pragma once

#include "corpus/corpus.h"
#include "corpus/lm_corpus.h"
#include "corpus/vocabulary.h"
#include "train/loop/fine_tune.h"
#include "train/loop/options.h"

namespace tril::train {

/// The endless, shuffled stream of `train_sets`: of pairs, or of one text's blocks for a language model.
/// @param state  where to resume; default: the start
std::unique_ptr<BatchStream> training_stream(const TrainOptions& options,
                                             const std::shared_ptr<const Tokenizer>& tokenizer,
                                             const CorpusState& state = {});
/// The batches of `valid_sets`.
/// @param statistics  counts of pairs used and left out; unchanged for a language model, which uses its whole text
std::vector<Batch> validation_batches(const TrainOptions& options, const std::shared_ptr<const Tokenizer>& tokenizer,
                                      CorpusStatistics* statistics = nullptr);

/// The files of `train_sets`: tab-separated files, or alternating source and target files.
void set_files(CorpusOptions& c, const std::vector<std::string>& sets, bool tsv);
/// The stream of pairs.
CorpusOptions training_corpus(const TrainOptions& options);
/// The same, without alignments if they are learned (`guided_alignment` learn): their files may not exist yet.
CorpusOptions given_corpus(const TrainOptions& options);
/// The files for learned alignments (`guided_alignment` learn): one for each corpus, in the model's directory.
std::vector<std::string> learned_alignments(const TrainOptions& options);
/// `valid_sets` once, in the order of the files, with the full length that the model's positions allow.
CorpusOptions validation_corpus(const TrainOptions& options);
/// The blocks of a text: a stream of `train_sets`, or one pass over `valid_sets`.
LmCorpusOptions training_text(const TrainOptions& options);
LmCorpusOptions validation_text(const TrainOptions& options);
/// The text from which `vocab_size` pieces are learned: the training sets.
VocabularyRequest vocabulary_request(const TrainOptions& options);
VocabularyOptions vocabulary_options(const TrainOptions& options);

/// The tokenizer of a new run: the initial model's; or read from `vocab`, a model's directory or a SentencePiece file; or
/// learned from the training sets.
std::shared_ptr<const Tokenizer> make_tokenizer(const TrainOptions& options, const InitialModel& initial);

/// Opens every file that a run reads. @throws Error naming the first that is missing or unreadable
void check_input_files(const TrainOptions& options);

/// Reads the pairs of all sets once, before anything is learned from them. @throws Error for the first unreadable pair,
/// or for files that do not match
void check_texts(const TrainOptions& options);
/// Makes a first batch as in training. @throws Error if the files have nothing to train on
void check_first_batch(const TrainOptions& options, const std::shared_ptr<const Tokenizer>& tokenizer);

}  // namespace tril::train
