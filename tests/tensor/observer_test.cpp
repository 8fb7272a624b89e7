// Lines of code as text, wherever tril was built.
#include "tensor/observer.h"

#include <gtest/gtest.h>

namespace tril {
namespace {

SourceLine this_line(SourceLine at = {__builtin_FILE(), __builtin_LINE()}) {
  return at;
}

TEST(SourceLine, NamesAFileBelowTheSources) {
  EXPECT_EQ((SourceLine{"/home/anna/tril/src/nn/attention.cpp", 221}.text()), "src/nn/attention.cpp:221");
  EXPECT_EQ((SourceLine{"/usr/src/tril/src/nn/attention.cpp", 1}.text()), "src/nn/attention.cpp:1");
  EXPECT_EQ((SourceLine{"../src/nn/attention.cpp", 1}.text()), "src/nn/attention.cpp:1");
  EXPECT_EQ((SourceLine{"/usr/src/tril/build/include-roots/model_spec/model/spec/stack.h", 58}.text()),
            "src/model/spec/stack.h:58");
  EXPECT_EQ((SourceLine{"src/nn/attention.cpp", 7}.text()), "src/nn/attention.cpp:7");
  EXPECT_EQ(SourceLine{}.text(), "");
  const SourceLine here = this_line();
  EXPECT_EQ(here.line, __LINE__ - 1) << "that of the caller";
  EXPECT_NE(here.text().find("observer_test.cpp:"), std::string::npos);
}

}  // namespace
}  // namespace tril
