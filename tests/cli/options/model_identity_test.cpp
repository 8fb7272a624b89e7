// The identity of a model changes with any byte of its files.
#include "cli/options/model_identity.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "support/file_text.h"
#include "support/paths.h"
#include "support/temporary.h"

namespace tril::cli {
namespace {

TEST(ModelIdentity, SeesEveryPartOfASplitGguf) {
  const TemporaryDirectory directory;
  const std::filesystem::path golden = test::test_dir() + "/golden/gguf";
  const std::string names[] = {"parts-00001-of-00003.gguf", "parts-00002-of-00003.gguf", "parts-00003-of-00003.gguf"};
  for (const std::string& name : names) std::filesystem::copy_file(golden / name, directory.path(name));
  DecodingOptions o;
  o.model = directory.path(names[0]);
  const std::string before = model_identity(o), same = directory_identity(o.model);
  EXPECT_EQ(model_identity(o), before);
  std::string last = file_text(directory.path(names[2]));
  last.back() = static_cast<char>(last.back() + 1);  // a value of its tensor
  directory.write(names[2], last);
  EXPECT_NE(model_identity(o), before);
  EXPECT_NE(directory_identity(o.model), same);
}

}  // namespace
}  // namespace tril::cli
