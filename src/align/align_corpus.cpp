#include "align/align_corpus.h"

#include <memory>

#include "base/streams.h"
#include "corpus/pair_reader.h"

namespace tril {

AlignmentCounts align_corpus(const CorpusOptions& corpus, const std::vector<std::string>& files,
                             const WordAlignerOptions& options, const Tokenizer* tokenizer,
                             const std::function<void()>& on_iteration) {
  std::vector<std::unique_ptr<OutputFile>> outputs;  // opened first: an unwritable file is reported at once
  outputs.reserve(files.size());
  for (const std::string& file : files) outputs.push_back(std::make_unique<OutputFile>(file));
  ParallelWords text;
  std::vector<std::size_t> sets;  // of each pair
  AlignmentCounts counts;
  PairReader reader(corpus);
  for (PairText pair; reader.next(pair);) {
    if (!pair.valid) {
      if (++counts.invalid == 1) counts.first_invalid = place_of(corpus, pair);
      pair.source.clear(), pair.target.clear();
    }
    const bool fits = tokenizer ? text.add(words_as_counted(pair.source, *tokenizer, Side::source),
                                           words_as_counted(pair.target, *tokenizer, Side::target))
                                : text.add(pair.source, pair.target);
    if (!fits && ++counts.too_long == 1) counts.first_too_long = place_of(corpus, pair);
    sets.push_back(pair.set);
  }
  const std::vector<Alignment> alignments = align_words(text, options, on_iteration);
  counts.pairs = std::ssize(alignments);
  for (std::size_t p = 0; p < alignments.size(); ++p) {
    counts.points += std::ssize(alignments[p]);
    outputs[sets[p]]->write(to_text(alignments[p]) + "\n");
  }
  for (const auto& output : outputs) output->commit();
  return counts;
}

}  // namespace tril
