#include "text/align_corpus.h"

#include <memory>

#include "base/streams.h"
#include "text/pair_reader.h"

namespace tril {

AlignmentCounts align_corpus(const CorpusOptions& corpus, const std::vector<std::string>& files,
                             const WordAlignerOptions& options, const Tokenizer* tokenizer,
                             const std::function<void()>& on_iteration) {
  std::vector<std::unique_ptr<OutputFile>> outputs;  // opened first: whether they can be written is told at once
  for (const std::string& file : files) outputs.push_back(std::make_unique<OutputFile>(file));
  ParallelWords text;
  std::vector<std::size_t> sets;  // of each pair
  PairReader reader(corpus);
  for (PairText pair; reader.next(pair);) {
    if (!pair.valid) pair.source.clear(), pair.target.clear();
    if (tokenizer)
      text.add(words_as_counted(pair.source, *tokenizer, Side::source),
               words_as_counted(pair.target, *tokenizer, Side::target));
    else
      text.add(pair.source, pair.target);
    sets.push_back(pair.set);
  }
  const std::vector<Alignment> alignments = align_words(text, options, on_iteration);
  AlignmentCounts counts{static_cast<std::int64_t>(alignments.size())};
  for (std::size_t p = 0; p < alignments.size(); ++p) {
    counts.points += static_cast<std::int64_t>(alignments[p].size());
    outputs[sets[p]]->write(to_text(alignments[p]) + "\n");
  }
  for (const auto& output : outputs) output->commit();
  return counts;
}

}  // namespace tril
