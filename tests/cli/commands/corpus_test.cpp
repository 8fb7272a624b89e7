// Several processes translate a text, by shards or in one directory: the output equals that of one process, byte for
// byte.
#include <filesystem>
#include <memory>

#include "support/corpus_program.h"

namespace tril::corpus_work {
namespace {

TEST_F(Corpus, ShardsInARowAreTheWhole) {
  const std::string text = some_lines(50) + "a dog", plain = folder->write("plain", text),
                    packed = zipped("packed.gz", text);
  std::string beginnings;
  for (int i = 0; i < 51; ++i) beginnings += i % 3 == 0 ? "the\n" : "\n";
  const std::string prefix = folder->write("prefix", beginnings);
  const std::vector<Words> ways = {
      {}, {"--json"}, {"--target-prefix", prefix}, {"--sampling", "--seed", "7", "--n-best", "2"}};
  for (const std::string& in : {plain, packed})
    for (const Words& way : ways) {
      const std::string expected = whole(in, way);
      for (const int n : {1, 4}) {
        std::string joined;
        for (int i = 1; i <= n; ++i)
          joined += whole(in, way + Words{"--shard", std::to_string(i) + "/" + std::to_string(n)});
        EXPECT_TRUE(joined == expected) << in << " " << n;
      }
    }
  const std::string few = folder->write("few", "a dog\nthe snow");  // fewer lines than shards
  std::string joined;
  for (const char* shard : {"1/3", "2/3", "3/3"}) joined += whole(few, {"--shard", shard});
  EXPECT_EQ(joined, whole(few));
  EXPECT_EQ(whole(folder->write("empty", ""), {"--shard", "2/2"}), "");
}

TEST_F(Corpus, ShardsThatCannotBeAreNamed) {
  const std::string in = folder->write("plain", some_lines(5));
  for (const char* shard : {"0/3", "4/3", "3", "1/", "/2", "a/b", "1/2/3", "-1/2", "1/0", "1/99999999999"})
    expect_error(run_tril(command({"-i", in, "--shard", shard})), 2, "--shard: expected I/N");
  expect_error(run_tril(command({"--shard", "1/2"}), "a dog\n"), 2, "--shard: standard input cannot be divided");
  EXPECT_EQ(run_tril(command({"--shard", "1/1"}), "a dog\n").code, 0);
  expect_error(run_tril(command({"-i", in, "--shard", "1/2", "--work-dir", work()})), 2,
               "choose one way to divide the text");
  const std::string few = folder->write("few", "a\n");
  expect_error(run_tril(command({"-i", in, "--shard", "1/2", "--target-prefix", few})), 2,
               "has 1 line, but the text has 5");
}

TEST_F(Corpus, ProcessesTogetherAreOneProcess) {
  const std::string text = some_lines(400), out = folder->at("out"), plain = folder->write("plain", text);
  std::string beginnings;
  for (int i = 0; i < 400; ++i) beginnings += i % 3 == 0 ? "the\n" : "\n";
  const std::string prefix = folder->write("prefix", beginnings);
  const std::vector<Words> ways = {{}, {"--json", "--target-prefix", prefix}, {"--sampling", "--n-best", "2"}};
  for (const std::string& in : {plain, zipped("packed.gz", text)})
    for (const Words& way : ways) {
      fs::remove_all(work());
      fs::remove(out);
      const Words args = together(in, out, way + Words{"--block-lines", "7"});
      Process a(args), b(args), c(args);
      EXPECT_EQ(a.wait_for(120), 0) << a.err();
      EXPECT_EQ(b.wait_for(120), 0) << b.err();
      EXPECT_EQ(c.wait_for(120), 0) << c.err();
      EXPECT_TRUE(file_text(out) == whole(in, way)) << in;
      EXPECT_FALSE(fs::exists(work() + "/blocks"));
      const auto written = fs::last_write_time(out);
      EXPECT_EQ(run_tril(args).code, 0) << "one that comes late";
      EXPECT_EQ(fs::last_write_time(out), written);
    }
  fs::remove(out);
  expect_error(run_tril(together(plain, out)), 2, "started with different options");
}

TEST_F(Corpus, TextsOfFewLines) {
  const std::string out = folder->at("out");
  for (const std::string text : {"", "a dog", "\n", "\r\n", "a dog\ntwo men",
                                 "\xef\xbb\xbf"
                                 "a dog\r\ntwo men\r\n"}) {
    fs::remove_all(work());
    fs::remove(out);
    const std::string in = folder->write("text", text);
    const Words args = together(in, out, {"--block-lines", "1"});
    std::vector<std::unique_ptr<Process>> all;
    for (int i = 0; i < 4; ++i) all.push_back(std::make_unique<Process>(args));
    for (const auto& one : all) EXPECT_EQ(one->wait_for(60), 0) << one->err();
    EXPECT_TRUE(fs::exists(out));
    EXPECT_EQ(file_text(out), whole(in)) << text;
  }
}

TEST_F(Corpus, WhatIsNotUtf8IsToldBeforeAnythingIsDone) {
  const std::string out = folder->at("out"), in = folder->write("text", some_lines(20) + "b\xff\n" + some_lines(20));
  fs::remove(out);
  expect_error(run_tril(together(in, out, {"--block-lines", "4"})), 1, "line 21: is not valid UTF-8");
  EXPECT_EQ(blocks_there(), 0);
  const Ran ran = run_tril(together(in, out, {"--block-lines", "4", "--skip-invalid"}));
  expect_error(ran, 0, "lines that are not UTF-8, treated as empty: 1");
  EXPECT_EQ(file_text(out), whole(in, {"--skip-invalid"}));
}

TEST_F(Corpus, OtherWorkIsRefused) {
  const std::string in = folder->write("text", some_lines(30)), out = folder->at("out");
  const Words few{"--block-lines", "5"};
  ASSERT_EQ(run_tril(command(Words{"-i", in, "--work-dir", work(), "--keep-blocks"} + few)).code, 0);
  EXPECT_EQ(blocks_there(), 6);
  const auto refused = [&](const Words& args, int code, const std::string& part) {
    expect_error(run_tril(args), code, part);
    EXPECT_EQ(blocks_there(), 6);
  };
  refused(together(in, out, {"--max-length", "5"}), 2, "different options: max-length was unset, now 5; pass");
  refused(together(in, out, {"--json"}), 2, "json was false, now true");
  refused(together(in, out, {"--block-lines", "6"}), 2, "started with 5");
  folder->write("text", some_lines(30, 2));
  refused(together(in, out), 1, "started with different files: input was ");
  folder->write("text", some_lines(30));
  const std::string config = model + "/generation_config.json", as_it_was = file_text(config);
  std::ofstream(config) << as_it_was << "\n";
  refused(together(in, out), 1, "started with different files: model was ");
  std::ofstream(config) << as_it_was;

  std::string joined;
  const auto manifest = nlohmann::json::parse(file_text(work() + "/manifest.json"));
  for (const auto& block : manifest["blocks"]) joined += file_text(work() + "/" + block["file"].get<std::string>());
  EXPECT_EQ(joined, whole(in));
  fs::remove(out);
  EXPECT_EQ(run_tril({"translate", "-m", model, "-b", "1", "--deterministic", "--batch-size", "5", "-i", in, "-o", out,
                      "--work-dir", work()})
                .code,
            0)
      << "blocks that were kept are put together";
  EXPECT_EQ(file_text(out), joined);
  fs::remove(out);
  expect_error(run_tril(together(in, out)), 1, "no longer exists");

  fs::create_directories(folder->at("full/of/things"));
  expect_error(run_tril(command({"-i", in, "-o", out, "--work-dir", folder->at("full")})), 1, "neither empty nor");
  expect_error(run_tril(command({"-i", in, "--work-dir", work()})), 2, "cannot share standard output");
  expect_error(run_tril(command({"-o", out, "--work-dir", work()}), "a"), 2, "standard input cannot be divided");
  expect_error(run_tril(command({"-i", in, "--block-lines", "3"})), 2, "--block-lines");
}

// The launcher's environment variables suffice.
TEST_F(Corpus, ALaunchersProcessesShareTheTextByThemselves) {
  const std::string in = folder->write("text", some_lines(300)), out = folder->at("launched");
  const auto rank = [](int r) {
    return [r] {
      setenv("OMPI_COMM_WORLD_RANK", std::to_string(r).c_str(), 1);
      setenv("OMPI_COMM_WORLD_SIZE", "3", 1);
      setenv("PMIX_NAMESPACE", "prterun-host@1/2", 1);
    };
  };
  const Words args = command({"-i", in, "-o", out});
  {
    Process a(args, rank(0)), b(args, rank(1));
    EXPECT_EQ(a.wait_for(60), 0) << a.err();
    EXPECT_EQ(b.wait_for(60), 0) << b.err();
    EXPECT_TRUE(file_text(out) == whole(in));
    EXPECT_TRUE(fs::exists(out + ".work")) << "one has not been there yet";
    Process late(args, rank(2));
    EXPECT_EQ(late.wait_for(60), 0) << late.err();
    EXPECT_TRUE(contains(late.err(), "this process translated 0"));
    EXPECT_FALSE(fs::exists(out + ".work"));
    EXPECT_TRUE(file_text(out) == whole(in));
  }
  {  // a process whose launcher was killed is still working when the same command starts again
    const auto of_job = [&](const char* job, const char* of) {
      return [=] {
        setenv("PMI_RANK", "0", 1);
        setenv("PMI_SIZE", of, 1);
        setenv("PMI_JOBID", job, 1);
      };
    };
    const std::string slow = folder->write("slow", slow_lines(8));
    const Words slowly = command({"-i", slow, "-o", out, "--block-lines", "100"});
    Process orphan(slowly, of_job("one", "9"));
    ASSERT_TRUE(stop_at_work(orphan, out + ".work/blocks")) << orphan.err();
    Process anew(slowly, of_job("two", "2"));
    for (int i = 0; i < 3000 && !fs::exists(out + ".work/blocks/000031"); ++i) pause(2);
    orphan.signal(SIGCONT);
    EXPECT_EQ(orphan.wait_for(60), 0) << orphan.err();
    EXPECT_EQ(anew.wait_for(60), 0) << anew.err();
    EXPECT_TRUE(fs::exists(out + ".work"));
    EXPECT_TRUE(file_text(out) == whole(slow));
    Process second(slowly, [&] {
      of_job("two", "2")();
      setenv("PMI_RANK", "1", 1);
    });
    EXPECT_EQ(second.wait_for(60), 0) << second.err();
    EXPECT_FALSE(fs::exists(out + ".work"));
  }
  Launch launch{.input = "a dog\n", .stdout_to = {}, .before = rank(1), .meanwhile = {}};
  expect_error(run_tril(command({}), launch), 2, "pass --input and --output");
  EXPECT_EQ(run_tril(command({"--shard", "1/1"}), launch).code, 0);
}

}  // namespace
}  // namespace tril::corpus_work
