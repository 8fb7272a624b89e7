// From training options to what corpus/ reads: corpora, and the sources of a vocabulary.
#pragma once

#include "corpus/corpus.h"
#include "corpus/lm_corpus.h"
#include "corpus/vocabulary.h"
#include "train/loop/options.h"

namespace tril::train {

/// The endless, shuffled stream of `train_sets`: of pairs, or of one text's blocks for a language model.
/// @param state  where to go on; by default at the start
std::unique_ptr<BatchStream> training_stream(const TrainOptions& options,
                                             const std::shared_ptr<const Tokenizer>& tokenizer,
                                             const CorpusState& state = {});
/// The batches of `valid_sets`.
/// @param statistics  what became of the pairs; of a language model's text, of which nothing is left out, untouched
std::vector<Batch> validation_batches(const TrainOptions& options, const std::shared_ptr<const Tokenizer>& tokenizer,
                                      CorpusStatistics* statistics = nullptr);

/// The files of `train_sets`: tab-separated ones, or source and target by turns.
void set_files(CorpusOptions& c, const std::vector<std::string>& sets, bool tsv);
/// The stream of pairs.
CorpusOptions training_corpus(const TrainOptions& options);
/// The same without alignments that are yet to be learned.
CorpusOptions given_corpus(const TrainOptions& options);
/// Where those go that `guided_alignment` learn asks for: a file for each corpus, in the model's directory.
std::vector<std::string> learned_alignments(const TrainOptions& options);
/// `valid_sets` once, in the files' order, nothing left out for its length as far as the model's positions allow.
CorpusOptions validation_corpus(const TrainOptions& options);
/// The stream of a text's blocks; of `train_sets`, or, in one pass, of `valid_sets`.
LmCorpusOptions training_text(const TrainOptions& options);
LmCorpusOptions validation_text(const TrainOptions& options);
/// Text from which `vocab_size` pieces are learned: the training sets.
VocabularyRequest vocabulary_request(const TrainOptions& options);
/// What stands in front of the sources of each set ("" for nothing); empty where there are no tags.
std::vector<std::string> tags_of(const DataOptions& d);
VocabularyOptions vocabulary_options(const TrainOptions& options);

/// The tokenizer of a run that begins: of `vocab`, a model's directory or a SentencePiece file, else one that is
/// learned from the training sets.
std::shared_ptr<const Tokenizer> make_tokenizer(const TrainOptions& options);

/// Opens every file that a run reads. @throws Error that names the first that is missing or unreadable
void check_input_files(const TrainOptions& options);

/// Reads the pairs of all sets once, before anything is learned from them. @throws Error for the first that cannot be read,
/// and for files that do not go together
void check_texts(const TrainOptions& options);
/// Makes a first batch as training does. @throws Error where nothing in the files can be trained with
void check_first_batch(const TrainOptions& options, const std::shared_ptr<const Tokenizer>& tokenizer);

}  // namespace tril::train
