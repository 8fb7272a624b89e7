// What is packed besides the program: the bill of materials, the terms of what is inside the module of Python, what its source
// archive says of itself, and its declared options.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <regex>
#include <set>

#include "base/version.h"
#include "cli/commands/eval_options.h"
#include "cli/serving/serve_options.h"
#include "support/contains.h"
#include "support/paths.h"
#include "support/run_program.h"
#include "train/loop/options.h"

namespace tril::packaging_test {
namespace {

namespace fs = std::filesystem;

const std::string source = fs::path(test::test_dir()).parent_path().string();

// Folders as scripts/archives/sources.sh and a build leave them, with what the script reads.
struct Built {
  Built() {
    write("sources/onednn/debian/changelog", "onednn (3.7.2+ds-2) unstable; urgency=medium\n");
    write("sources/sentencepiece/third_party/protobuf-lite/google/protobuf/port_def.inc",
          "#define PROTOBUF_VERSION 3014000\n");
    write("sources/sentencepiece/third_party/darts_clone/darts.h", "#define DARTS_VERSION \"0.32\"\n");
    write("sources/sentencepiece/third_party/absl/LICENSE", "");
    write("sources/sentencepiece/third_party/esaxx/LICENSE", "");
    write("build/CMakeCache.txt", "TRIL_NANOBIND_3.9:INTERNAL=2.9.1\nTRIL_NANOBIND_3.12:INTERNAL=3.1.0\n");
    write("debian/CMakeCache.txt", "TRIL_NANOBIND_3.11:INTERNAL=3.1.0\n");
    fs::create_symlink(test::tril_program(), folder.at("build/tril"));
  }
  void write(const std::string& name, const std::string& text) const {
    fs::create_directories(fs::path(folder.at(name)).parent_path());
    folder.write(name, text);
  }
  Ran bill() const {
    return run_words({"/usr/bin/env", "python3", source + "/scripts/packages/make_sbom.py", folder.at("build"),
                      folder.at("sources"), folder.at("debian")});
  }
  ScratchFolder folder;
};

TEST(BillOfMaterials, ListsWhatIsInside) {
  if (std::system("python3 --version >/dev/null 2>&1 && dpkg-query -W libcld2-dev >/dev/null 2>&1") != 0)
    GTEST_SKIP() << "needs python3 and Debian's packages";
  const Built built;
  const Ran ran = built.bill();
  ASSERT_EQ(ran.code, 0) << ran.err;
  const nlohmann::json bill = nlohmann::json::parse(ran.out);
  EXPECT_EQ(bill["metadata"]["component"]["version"], version);
  std::map<std::string, std::string> versions, uses;
  std::set<std::string> references;
  for (const nlohmann::json& part : bill["components"]) {
    versions[part["name"]] = part.value("version", "");
    for (const nlohmann::json& property : part["properties"]) {
      if (property["name"] == "use")
        uses[part["name"].get<std::string>() + " " + versions[part["name"]]] = property["value"];
    }
    EXPECT_TRUE(references.insert(part["bom-ref"]).second) << part["bom-ref"] << " stands there twice";
  }
  EXPECT_EQ(versions["protobuf-lite"], "3.14.0");
  EXPECT_EQ(versions["darts_clone"], "0.32");
  EXPECT_EQ(uses["nanobind 2.9.1"], "static, in the module of Python alone (3.9)");
  EXPECT_EQ(uses["nanobind 3.1.0"], "static, in the module of Python alone (3.11, 3.12)");
  EXPECT_EQ(versions["onednn"], "3.7.2+ds-2");
  for (const char* name : {"absl", "esaxx", "robin-map", "libc6", "libicu-dev", "nlohmann-json3-dev"})
    EXPECT_TRUE(versions.contains(name)) << name;
  EXPECT_EQ(built.bill().out, ran.out) << "the same inputs give the same bytes";

  built.write("build/CMakeCache.txt", ""), built.write("debian/CMakeCache.txt", "");
  EXPECT_EQ(built.bill().out.find("nanobind"), std::string::npos);
  built.write("sources/sentencepiece/third_party/zstd/zstd.h", "");
  const Ran unknown = built.bill();
  EXPECT_EQ(unknown.code, 1);
  EXPECT_TRUE(contains(unknown.err, "zstd", "BROUGHT_ALONG")) << unknown.err;
}

TEST(TermsOfThePythonModule, AreFoundWithoutPip) {
  if (std::system("cmake --version >/dev/null 2>&1") != 0) GTEST_SKIP() << "no cmake";
  const Built built;
  const auto gather = [&] {
    return run_words({"/usr/bin/env", "cmake", "-D", "NB_DIR=" + built.folder.at("nanobind"), "-D",
                      "Python_EXECUTABLE=/bin/false", "-D", "TERMS=" + built.folder.at("terms"), "-P",
                      source + "/python/terms.cmake"});
  };
  if (!fs::exists("/usr/share/doc/nanobind-dev/copyright")) {
    const Ran without = gather();
    EXPECT_NE(without.code, 0);
    EXPECT_TRUE(contains(without.err, "terms", built.folder.at("nanobind"))) << without.err;
  }
  built.write("nanobind/LICENSE", "nanobind's terms\n");
  built.write("nanobind/ext/robin_map/include/tsl/robin_hash.h",
              "/**\n * MIT License\n *\n * Permission is hereby granted, free of charge\n */\n#ifndef TSL\n");
  const Ran ran = gather();
  ASSERT_EQ(ran.code, 0) << ran.err;
  EXPECT_EQ(file_text(built.folder.at("terms/nanobind")), "nanobind's terms\n");
  EXPECT_EQ(file_text(built.folder.at("terms/robin-map")),
            "MIT License\n\nPermission is hereby granted, free of charge\n");

  built.write("nanobind/ext/robin_map/include/tsl/robin_hash.h", "#ifndef TSL\n/* */");
  EXPECT_NE(gather().code, 0) << "a file without its terms";
}

// What a package index shows, and what it refuses an archive without.
TEST(SourceArchiveOfPython, DescribesItself) {
  const std::string needs =
      "python3 -c 'import tomllib' 2>/dev/null && git -C '" + source + "' rev-parse >/dev/null 2>&1";
  if (std::system(needs.c_str()) != 0) GTEST_SKIP() << "needs Python 3.11, and a checkout of git";
  const ScratchFolder folder;
  const Ran made = run_words({"/bin/sh", source + "/scripts/make_sdist.sh", folder.at("")});
  ASSERT_EQ(made.code, 0) << made.err;
  const std::string name = "tril-" + std::string(version);
  const Ran read = run_words({"/usr/bin/env", "tar", "-xzOf", folder.at(name + ".tar.gz"), name + "/PKG-INFO"});
  ASSERT_EQ(read.code, 0) << read.err;
  EXPECT_TRUE(contains(read.out, "\nVersion: " + std::string(version) + "\n", "\nSummary: ", "\nRequires-Python: >=3",
                       "\nRequires-Dist: numpy\n", "\nDescription-Content-Type: text/markdown\n\n# tril",
                       file_text(source + "/python/README.md")));
}

// The options of a class of python/tril/_options.py, which make_options.py writes.
std::vector<std::string> declared_options(const std::string& of_class) {
  const std::string text = file_text(source + "/python/tril/_options.py");
  const std::size_t begin = text.find("\nclass " + of_class + "(");
  const std::string body = begin == text.npos ? "" : text.substr(begin + 1, text.find("\nclass ", begin + 1) - begin);
  std::vector<std::string> names;
  const std::regex member("\n    ([a-z0-9_]+): [^\n]+\n    \"\"\"");
  for (std::sregex_iterator it(body.begin(), body.end(), member), end; it != end; ++it) names.push_back((*it)[1]);
  return names;
}

std::vector<std::string> in_python(const Fields& fields) {
  std::vector<std::string> names;
  for (std::string name : fields.names()) {
    std::replace(name.begin(), name.end(), '-', '_');
    if (name != "model") names.push_back(name);
  }
  return names;
}

// With the module of Python, python/tests compares types and texts, too.
TEST(OptionsOfThePythonPackage, AreThoseOfTheProgram) {
  cli::ServeOptions serve;
  train::TrainOptions train;
  cli::EvalOptions eval;
  Fields scores;
  cli::add_score_fields(scores, eval);
  const char* hint =
      "python python/tools/make_options.py python/tril/_options.py writes them anew, with a built module";
  EXPECT_EQ(declared_options("ServeOptions"), in_python(fields_of(serve))) << hint;
  EXPECT_EQ(declared_options("TrainOptions"), in_python(fields_of(train))) << hint;
  EXPECT_EQ(declared_options("EvaluateOptions"), in_python(scores)) << hint;
}

}  // namespace
}  // namespace tril::packaging_test
