// The program on less capable processors, emulated by QEMU: it uses none of the instructions that they lack.
#include <gtest/gtest.h>
#include <unistd.h>

#include <nlohmann/json.hpp>

#include "support/run_program.h"
#include "support/soak_pairs.h"

namespace tril {
namespace {

constexpr const char* emulator = "/usr/bin/qemu-x86_64";

std::vector<double> losses(const std::string& log) {
  std::vector<double> list;
  for (const std::string& line : lines_of(log)) {
    const nlohmann::json entry = nlohmann::json::parse(line);
    if (entry.at("type") == "train") list.push_back(entry.at("loss"));
  }
  return list;
}

struct Processor {
  const char* name;             ///< as QEMU calls it
  const char* instruction_set;  ///< the best supported by tril
};

class ProcessorsTest : public ::testing::TestWithParam<Processor> {};

TEST_P(ProcessorsTest, TrainAndTranslateAsThisOneDoes) {
  if (access(emulator, X_OK) != 0)
    GTEST_SKIP() << "there is no " << emulator << " here: other processors are not tested";
#ifndef __x86_64__
  GTEST_SKIP() << "this program is for other processors";
#endif
#ifdef __AVX__
  GTEST_SKIP() << "this program is compiled for the machine at hand";
#endif
  const ScratchFolder folder;
  write_pairs(folder, 40);
  const auto train = [&](const std::string& model, const std::string& precision) {
    std::vector<std::string> args{
        "train",       "--model", folder.at(model), "--train-sets", folder.at("train.src"), folder.at("train.tgt"),
        "--precision", precision};
    std::istringstream sizes(
        "--vocab-size 30 --d-model 16 --num-heads 2 --ffn-dim 32 --enc-depth 1 --dec-depth 1 --max-tokens 200 "
        "--threads 1 --after 3u --disp-freq 1u");
    args.insert(args.end(), std::istream_iterator<std::string>(sizes), {});
    return args;
  };
  const auto there = [&](std::vector<std::string> args, const Launch& launch = {}) {
    args.insert(args.begin(), {emulator, "-cpu", GetParam().name, test::tril_program()});
    return run_words(std::move(args), launch);
  };
  for (const std::string precision : {"fp32", "bf16"}) {
    const Ran here = run_tril(train("here-" + precision, precision));
    ASSERT_EQ(here.code, 0) << here.err;
    const Ran ran = there(train("there-" + precision, precision));
    ASSERT_EQ(ran.code, 0) << "signal " << ran.signal << ": " << ran.err;
    const std::vector<double> expected = losses(file_text(folder.at("here-" + precision + "/train.jsonl"))),
                              got = losses(file_text(folder.at("there-" + precision + "/train.jsonl")));
    ASSERT_EQ(expected.size(), 3u);
    ASSERT_EQ(got.size(), 3u);
    for (std::size_t i = 0; i < 3; ++i)
      EXPECT_NEAR(got[i], expected[i], precision == "fp32" ? 1e-4 : 1e-2) << precision;
  }
  const Launch input{.input = "aa b c\n", .before = [] {
                       setenv("TRIL_INSTRUCTION_SET", GetParam().instruction_set, 1);  // an error if it does not exist
                     }};
  for (const char* precision : {"fp32", "bf16", "int8", "int4"}) {
    const Ran ran = there({"translate", "--model", folder.at("here-fp32"), "--precision", precision, "--threads", "1",
                           "--max-length", "5", "--beam-size", "2"},
                          input);
    EXPECT_EQ(ran.code, 0) << precision << ", signal " << ran.signal << ": " << ran.err;
    EXPECT_EQ(lines_of(ran.out).size(), 1u) << precision;
  }
}

INSTANTIATE_TEST_SUITE_P(Older, ProcessorsTest,
                         ::testing::Values(Processor{"Nehalem", "generic"}, Processor{"Haswell", "avx2"}),
                         [](const auto& of) { return std::string(of.param.name); });

}  // namespace
}  // namespace tril
