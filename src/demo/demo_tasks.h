// Typical tasks for decoders, each on synthetic text with one right answer: `tril demo NAME` trains a small model and
// measures it on lines that it has never seen. examples/NAME.yml is the training configuration.
//
//   translation  English -> German: cases, genders, adjective endings, verbs at the end and in two parts
//   reading      a passage of facts and a question -> the answer, sometimes by way of a second fact
//   dialogue     the turns of a conversation -> the next reply, which must remember, correct and ask for details
//   summary      a record of figures -> sentences that say what leads, what is last and how many pass a mark
//   chinese      Chinese numbers, dates and times -> digits
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
  std::int64_t lines;    ///< for training
  bool is_text = false;  ///< for a language model: a pair is a beginning and its continuation, on one line
};

const std::vector<DemoTask>& demo_tasks();
/// The file of that name in examples/, such as "reading.yml"; "" if there is none.
std::string_view demo_config(std::string_view file);

DemoPair translation_pair(RandomSequence& random);
DemoPair reading_pair(RandomSequence& random);
DemoPair dialogue_pair(RandomSequence& random);
DemoPair summary_pair(RandomSequence& random);
DemoPair story_pair(RandomSequence& random);
DemoPair chinese_pair(RandomSequence& random);
/// From 0 to 99,999,999: 三万零五十.
std::string chinese_number(int n);

/// How many statements a story makes about what people have, and how many are right. A sentence of unknown form counts
/// as a wrong statement.
struct StoryCheck {
  int statements = 0, right = 0;
};
StoryCheck check_story(std::string_view story);

}  // namespace tril::train
