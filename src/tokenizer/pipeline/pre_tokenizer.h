// Cuts a text into the words that a model sees one by one: the pre-tokenizers of tokenizer_parts.h, each cutting the
// words of the one before. Words are handed on as they are found, so a long text needs no list of them.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tokenizer/pipeline/tokenizer_parts.h"

namespace tril {

/// A part of a text; `at_start`: its first character is the first of the whole text (see normalizer.h).
struct Word {
  std::string_view text;
  bool at_start = false;
};

/// Whoever takes words: any callable, by reference.
class WordSink {
 public:
  template <class Take>
  WordSink(const Take& take)  // NOLINT(google-explicit-constructor): made where it is passed
      : object_(&take), call_([](const void* object, Word word) { (*static_cast<const Take*>(object))(word); }) {}
  void operator()(Word word) const { call_(object_, word); }

 private:
  const void* object_;
  void (*call_)(const void*, Word);
};

/// What one step needs for itself while it cuts one word.
struct PreTokenizerScratch {
  struct Stretch {
    std::size_t begin, end;
    bool delimiter;
  };
  std::string text;
  std::vector<Stretch> stretches;
  std::vector<std::pair<std::size_t, std::size_t>> matches;
};

/// One step. Steps are const and may be used by many threads at once.
class PreTokenizer {
 public:
  virtual ~PreTokenizer() = default;
  /// Hands the words of `word`, which is not empty, to `take`; empty ones are not handed on.
  virtual void cut(Word word, PreTokenizerScratch& scratch, const WordSink& take) const = 0;
};

class PreTokenizers {
 public:
  /// @param letters  whether a ByteLevel step at the end turns bytes into letters; a model that takes bytes wants none
  /// @throws Error naming `where` for a step that cannot be: a wrong expression
  PreTokenizers(const std::vector<PreTokenizerStep>& steps, bool letters, const std::string& where);
  PreTokenizers(PreTokenizers&&) noexcept;
  ~PreTokenizers();

  /// Hands the words of `text` to `take`, none of them empty. Needs scratch of at least steps() elements.
  void cut(Word text, std::vector<PreTokenizerScratch>& scratch, const WordSink& take) const {
    cut(0, text, scratch, take);
  }
  std::size_t steps() const { return steps_.size(); }
  /// Whether words may hold bytes that are no UTF-8: no step looks at characters in a way that needs more.
  bool takes_bytes() const { return takes_bytes_; }

 private:
  void cut(std::size_t step, Word word, std::vector<PreTokenizerScratch>& scratch, const WordSink& take) const;

  std::vector<std::unique_ptr<const PreTokenizer>> steps_;
  bool takes_bytes_ = true;
};

}  // namespace tril
