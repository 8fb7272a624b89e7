// Splits a text into the words that a model sees one by one: the pre-tokenizers of tokenizer_parts.h, each splitting
// the words of the one before. Words are passed on as they are found, so a long text needs no list of them.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tokenizer/pipeline/tokenizer_parts.h"

namespace tril {

/// A part of a text; `at_start`: it begins with the first character of the whole text (see normalizer.h).
struct Word {
  std::string_view text;
  bool at_start = false;
};

/// A receiver of words: any callable, by reference.
class WordSink {
 public:
  template <class Take>
  WordSink(const Take& take)  // NOLINT(google-explicit-constructor): callers pass lambdas
      : object_(&take), call_([](const void* object, Word word) { (*static_cast<const Take*>(object))(word); }) {}
  void operator()(Word word) const { call_(object_, word); }

 private:
  const void* object_;
  void (*call_)(const void*, Word);
};

/// Buffers of one step while it splits one word.
struct PreTokenizerScratch {
  struct Stretch {
    std::size_t begin, end;
    bool delimiter;
  };
  std::size_t bytes = 0;  ///< of the words of this text that it was given so far
  std::string text;
  std::vector<Stretch> stretches;
  std::vector<std::pair<std::size_t, std::size_t>> matches;
};

/// One step. Steps are const and thread-safe.
class PreTokenizer {
 public:
  virtual ~PreTokenizer() = default;
  /// Passes the words of `word`, which must not be empty, to `take`, without empty ones.
  virtual void cut(Word word, PreTokenizerScratch& scratch, const WordSink& take) const = 0;
};

class PreTokenizers {
 public:
  /// @param letters  whether a final ByteLevel step turns bytes into letters; false for a model that takes bytes
  /// @throws Error naming `where` for an invalid step: a wrong expression
  PreTokenizers(const std::vector<PreTokenizerStep>& steps, bool letters, const std::string& where);
  PreTokenizers(PreTokenizers&&) noexcept;
  ~PreTokenizers();

  /// Passes the words of `text` to `take`, without empty ones. Needs scratch of at least steps() elements.
  /// @throws Error if the words would be far longer than the text (growth.h)
  void cut(Word text, std::vector<PreTokenizerScratch>& scratch, const WordSink& take) const;
  std::size_t steps() const { return steps_.size(); }
  /// Whether words may contain invalid UTF-8: no step requires more than that.
  bool takes_bytes() const { return takes_bytes_; }

 private:
  struct Run {
    std::vector<PreTokenizerScratch>& scratch;
    const WordSink& take;
    std::size_t bytes;  // of the text
  };
  void cut(std::size_t step, Word word, const Run& run) const;

  std::vector<std::unique_ptr<const PreTokenizer>> steps_;
  std::string where_;
  bool takes_bytes_ = true;
};

}  // namespace tril
