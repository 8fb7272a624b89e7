// tril learn: the course of docs/learn/: its chapters, the check of an exercise's answer, the pictures.
#include <fmt/format.h>

#include <memory>

#include "base/error.h"
#include "base/streams.h"
#include "cli/commands/commands.h"
#include "cli/io/ending_signal.h"
#include "cli/io/standard_output.h"
#include "learn/chapters.h"
#include "learn/exercises.h"
#include "learn/pictures.h"

namespace tril::cli {
namespace {

using learn::Language;

struct LearnOptions {
  std::optional<std::int64_t> chapter;
  std::int64_t exercise = 0;
  std::vector<std::string> answer;
  std::string language = "en", output, curves;

  Language spoken() const { return language == "zh" ? Language::chinese : Language::english; }
};

void add_language(Fields& f, LearnOptions& o) {
  f.add("language", &o.language, "language of the course: English or Chinese").choices({"en", "zh"});
}

Field& add_chapter(Fields& f, LearnOptions& o) {
  return f.add("chapter", &o.chapter, "number of the chapter")
      .value_name("CHAPTER")
      .positional()
      .at_least(1)
      .at_most(static_cast<double>(learn::chapters().size()));
}

std::string page_of(const learn::Chapter& c, Language l) {
  return fmt::format("docs/learn/{}{}", l == Language::chinese ? "zh/" : "", c.file);
}

std::string list_of_chapters(Language l) {
  std::string text;
  for (const learn::Chapter& c : learn::chapters())
    text += fmt::format("{:>3}  {}\n     {}\n", c.number, c.title.in(l), c.question.in(l));
  return text;
}

std::string exercises_of(const learn::Chapter& c, Language l) {
  std::string text = fmt::format("{}. {}\n{}\n{}\n", c.number, c.title.in(l), c.question.in(l), page_of(c, l));
  for (const int number : {1, 2}) {
    const learn::Exercise e = learn::exercise(c.number, number);
    text += fmt::format("\n{}.{}  {}\n      tril learn check {} {} {}\n", c.number, number, e.task.in(l), c.number,
                        number, e.problem_of_file ? "FILE" : "...");
  }
  return text;
}

int print_chapters(const LearnOptions& o) {
  write_stdout(o.chapter ? exercises_of(learn::chapter(static_cast<int>(*o.chapter)), o.spoken())
                         : list_of_chapters(o.spoken()));
  return exit_success;
}

int check_exercise(const LearnOptions& o) {
  const bool in_english = o.spoken() == Language::english;
  const learn::Exercise e = learn::exercise(static_cast<int>(*o.chapter), static_cast<int>(o.exercise));
  const learn::Verdict v = learn::check_answer(e, o.answer, o.spoken());
  if (v.is_right) {
    write_stdout(in_english ? "right\n" : "正确\n");
    return exit_success;
  }
  write_stdout(fmt::format("{}{}\n", in_english ? "not yet: " : "还不对：", v.text));
  return exit_failure;
}

int draw(const LearnOptions& o) {
  const EndingSignal ending;
  if (*o.chapter == learn::chapter_of_curves && o.curves.empty())
    fail_usage("--curves", fmt::format("chapter {} draws curves that were measured", *o.chapter),
               "give --curves FILE, the output of example_training_tricks");
  const std::string svg = learn::picture(static_cast<int>(*o.chapter), o.spoken(),
                                         o.curves.empty() ? std::vector<learn::Curve>{} : learn::read_curves(o.curves));
  if (o.output.empty()) {
    write_stdout(svg);
    return exit_success;
  }
  OutputFile file(o.output);
  file.write(svg);
  file.commit();
  return exit_success;
}

}  // namespace

void add_learn(App& app) {
  auto o = std::make_shared<LearnOptions>();
  Fields f;
  add_chapter(f, *o);
  add_language(f, *o);
  app.add({.name = "learn",
           .summary = "list the chapters of the course on decoders, or the exercises of one",
           .description =
               "The course is in docs/learn/, in English and Chinese: fourteen short chapters, from ids to a whole "
               "decoder, its training, and what came after it. Each has two exercises.",
           .examples = {{"tril learn", "the chapters"},
                        {"tril learn 3", "the exercises of chapter 3"},
                        {"tril learn 3 --language zh", "the same in Chinese"}},
           .fields = f,
           .apply_preset = {},
           .run = [o](const Invocation&) { return print_chapters(*o); }});
}

void add_learn_check(App& app) {
  auto o = std::make_shared<LearnOptions>();
  Fields f;
  add_chapter(f, *o).required();
  f.add("exercise", &o->exercise, "number of the exercise")
      .value_name("EXERCISE")
      .positional()
      .required()
      .at_least(1)
      .at_most(2);
  f.add("answer", &o->answer, "the answer: numbers, or the name of a file")
      .value_name("ANSWER")
      .positional()
      .required();
  add_language(f, *o);
  app.add({.name = "learn check",
           .summary = "check the answer to an exercise of the course",
           .description =
               "The program computes the right answer. A wrong one is explained, if the error is a known one. Numbers "
               "need two digits after the point. Exits with 1 for a wrong answer.",
           .examples = {{"tril learn check 10 1 0.5", "the first exercise of chapter 10"},
                        {"tril learn check 9 2 config.json", "an answer that is a file"},
                        {"tril learn check 11 1 -0.5 0.25 0.25", "three numbers"}},
           .fields = f,
           .apply_preset = {},
           .run = [o](const Invocation&) { return check_exercise(*o); }});
}

void add_learn_draw(App& app) {
  auto o = std::make_shared<LearnOptions>();
  Fields f;
  add_chapter(f, *o).required();
  f.add("curves", &o->curves, "measured losses, for chapter 12: the output of example_training_tricks")
      .value_name("FILE");
  f.add("output", &o->output, "output file; unset: standard output").letter('o').value_name("FILE");
  add_language(f, *o);
  app.add({.name = "learn draw",
           .summary = "draw the picture of a chapter of the course, as SVG",
           .description = "The numbers of a picture are computed when it is drawn.",
           .examples = {{"tril learn draw 3 -o head.svg", "one head with all its numbers"}},
           .fields = f,
           .outputs = {"output"},
           .apply_preset = {},
           .run = [o](const Invocation&) { return draw(*o); }});
}

}  // namespace tril::cli
