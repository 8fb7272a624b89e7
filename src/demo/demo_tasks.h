// What decoders are used for, each on text that is made on the spot and has one right answer: `tril demo NAME` trains a
// small model on it and measures it on lines that it has never seen. examples/NAME.yml is how it is trained.
//
//   translation  English -> German: cases, genders, endings of adjectives, verbs at the end and in two parts
//   reading      a passage of facts and a question -> the answer, some by way of a second fact
//   dialogue     the turns of a talk -> the next reply: what was said is to be remembered, corrected and asked for
//   summary      a record of figures -> sentences that say what leads, what is last and how many pass a mark
//   text         stories in which things change hands: a language model that keeps count
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/rng.h"
#include "demo/demo_corpus.h"

namespace tril::train {

struct DemoTask {
  std::string name;
  std::string does;  ///< "English sentences, and the same in German"
  DemoPair (*pair)(RandomSequence& random);
  std::int64_t lines;    ///< to train on
  bool is_text = false;  ///< for a language model: pairs are a beginning and what follows it, on one line
};

const std::vector<DemoTask>& demo_tasks();
/// The file of examples/ of that name, "reading.yml"; "" where there is none.
std::string_view demo_config(std::string_view file);

DemoPair translation_pair(RandomSequence& random);
DemoPair reading_pair(RandomSequence& random);
DemoPair dialogue_pair(RandomSequence& random);
DemoPair summary_pair(RandomSequence& random);
DemoPair story_pair(RandomSequence& random);

/// What a story says of how many things people have, and how much of it is so. A sentence of no known form is a
/// statement that is wrong.
struct StoryCheck {
  int statements = 0, right = 0;
};
StoryCheck check_story(std::string_view story);

}  // namespace tril::train
