// tril translate --watch DIR: documents that appear or change are translated once, and failures end only their document.
#include <csignal>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <thread>

#include "support/contains.h"
#include "support/translate.h"

namespace tril::watch_documents_test {
namespace {

namespace fs = std::filesystem;

class WatchDocuments : public Translate {
 protected:
  // Waits for a condition, a minute at most.
  static bool wait_for(const std::function<bool()>& condition) {
    for (int i = 0; i < 6000; ++i) {
      if (condition()) return true;
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    return false;
  }
  static bool appears(const std::string& path) {
    return wait_for([&] { return fs::exists(path); });
  }
  // The program in a directory, until `meanwhile` has returned.
  static Ran watch(const std::string& directory, const std::vector<std::string>& more,
                   const std::function<void()>& meanwhile) {
    Launch launch;
    launch.meanwhile = [&](pid_t child) {
      meanwhile();
      kill(child, SIGINT);
    };
    std::vector<std::string> args{"translate", "--model", model, "--watch", directory, "--to", "de", "-b", "1"};
    args.insert(args.end(), more.begin(), more.end());
    return run_tril(args, launch);
  }

  ScratchFolder docs;
};

TEST_F(WatchDocuments, EachDocumentIsTranslatedOnce) {
  docs.write("before.txt", "a dog\n");
  docs.write("ignored.exe", "x");
  docs.write("kept.txt", "two men\n");
  docs.write("kept.de.txt", "meins\n");
  docs.write("kept.fr.txt", "deux hommes\n");
  const Ran ran = watch(docs.at(""), {"--json"}, [&] {
    EXPECT_TRUE(appears(docs.at("before.de.txt")));
    docs.write("bad.srt", "no cue\n");
    docs.write("page.html", "<p>a <b>dog</b></p>");
    EXPECT_TRUE(appears(docs.at("page.de.html")));
    docs.write("before.txt", "the red ball\n");
    const std::string ball = lines_of(translate({"-b", "1"}, "the red ball\n").out).at(0) + "\n";
    EXPECT_TRUE(wait_for([&] { return file_text(docs.at("before.de.txt")) == ball; }));
  });
  EXPECT_EQ(ran.code, 0) << ran.err;
  EXPECT_TRUE(contains(ran.err, "bad.srt", "-->"));
  std::vector<std::string> told;
  for (const std::string& line : lines_of(ran.out)) {
    const auto json = nlohmann::json::parse(line);
    told.push_back(fs::path(json["document"].get<std::string>()).filename().string());
    EXPECT_EQ(json.contains("error"), told.back() == "bad.srt") << line;
    if (!json.contains("error")) {
      EXPECT_EQ(json["sentences"], 1) << line;
    }
  }
  std::sort(told.begin(), told.end());
  EXPECT_EQ(told, (std::vector<std::string>{"bad.srt", "before.txt", "before.txt", "page.html"}));
  EXPECT_EQ(file_text(docs.at("kept.de.txt")), "meins\n");
  std::size_t files = 0;
  for ([[maybe_unused]] const auto& entry : fs::directory_iterator(docs.at(""))) ++files;
  EXPECT_EQ(files, 9u) << "no translation of a translation, and no .part";
}

TEST_F(WatchDocuments, TranslationsGoToAnotherDirectoryAndAStoppedOneIsContinued) {
  std::string many;
  for (int i = 0; i < 4000; ++i) many += text;
  docs.write("long.txt", many);
  const ScratchFolder out;
  const std::string part = out.at("long.de.txt.part");
  const Ran stopped = watch(docs.at(""), {"-o", out.at("")}, [&] {
    EXPECT_TRUE(wait_for([&] {
      std::error_code error;
      return fs::exists(part) && fs::file_size(part, error) > 20'000;
    }));
  });
  EXPECT_EQ(stopped.code, 0) << stopped.err;
  ASSERT_TRUE(fs::exists(part)) << stopped.err;
  const Ran again = watch(docs.at(""), {"-o", out.at("")}, [&] { EXPECT_TRUE(appears(out.at("long.de.txt"))); });
  EXPECT_TRUE(contains(again.err, "continued after sentence")) << again.err;
  EXPECT_EQ(lines_of(file_text(out.at("long.de.txt"))).size(), 16'000u);
}

TEST_F(WatchDocuments, MistakesAreNamed) {
  const auto fails = [&](std::vector<std::string> args) {
    const Ran ran = translate(std::move(args), "");
    EXPECT_EQ(ran.code, 2) << ran.err;
    return ran.err;
  };
  EXPECT_TRUE(contains(fails({"--watch", docs.at("none"), "--to", "de"}), "--watch", "none"));
  EXPECT_TRUE(contains(fails({"--watch", docs.at(""), "-o", docs.at("none"), "--to", "de"}), "--output", "none"));
  EXPECT_TRUE(contains(fails({"--watch", docs.at("")}), "--to"));
  EXPECT_TRUE(contains(fails({"--watch", docs.at(""), "--to", "de", "--split", "lines"}), "--split"));
  EXPECT_TRUE(contains(fails({"--to", "de"}), "--to"));
  EXPECT_TRUE(contains(fails({"--columns", "1"}), "--columns"));
}

}  // namespace
}  // namespace tril::watch_documents_test
