// Pickles: every supported opcode in handmade pickles, and every kind of damage.
#include "format/pickle.h"

#include <gtest/gtest.h>

#include <limits>

#include "support/error_of.h"
#include "support/pickles.h"

namespace tril {
namespace {

using testing::PickleText;

Pickle read(const std::string& text) {
  return Pickle::read(std::as_bytes(std::span(text)), "x",
                      [](std::string_view name) { return name.starts_with("good."); });
}

const PickleValue& root(const Pickle& pickle) {
  return pickle.at(pickle.root());
}

TEST(Pickle, Constants) {
  const auto integer = [](const std::string& text) { return root(read(text)).number; };
  EXPECT_EQ(root(read("N.")).kind, PickleValue::none);
  EXPECT_EQ(integer("\x88."), 1);
  EXPECT_EQ(integer("K\xff."), 255);
  EXPECT_EQ(integer(std::string("M\x00\x01.", 4)), 256);
  EXPECT_EQ(integer("J\xfe\xff\xff\xff."), -2);
  EXPECT_EQ(integer(std::string("\x8a\x00.", 3)), 0);
  EXPECT_EQ(integer("\x8a\x01\xff."), -1);
  EXPECT_EQ(integer(std::string("\x8a\x02\xff\x00.", 5)), 255);
  EXPECT_EQ(integer(PickleText().integer(std::numeric_limits<std::int64_t>::min()).raw(".").text()),
            std::numeric_limits<std::int64_t>::min());
  EXPECT_EQ(root(read("\x8a\x09\xff\xff\xff\xff\xff\xff\xff\xff\x01.")).kind, PickleValue::long_integer);
  EXPECT_EQ(root(read(std::string("G\x40\x09\x21\xfb\x54\x44\x2d\x18.", 10))).real_number, 3.141592653589793);
  const std::string text =
                        "\x8c\x03"
                        "abc.",
                    bytes = "C\x02xy.";
  EXPECT_EQ(root(read(text)).text_bytes, "abc");
  EXPECT_EQ(root(read(bytes)).kind, PickleValue::bytes);
}

TEST(Pickle, Containers) {
  const std::string text = PickleText().raw("}(").text("a").raw("](K\1K\2e").text("b").raw("K\3\x85u.").text();
  const Pickle pickle = read(text);
  ASSERT_EQ(root(pickle).kind, PickleValue::dict);
  ASSERT_EQ(root(pickle).items.size(), 4u);
  const PickleValue* const list = pickle.find(root(pickle).items[1], PickleValue::list);
  ASSERT_TRUE(list && list->items.size() == 2);
  EXPECT_EQ(pickle.at(list->items[1]).number, 2);
  EXPECT_TRUE(pickle.find(root(pickle).items[3], PickleValue::tuple));
}

TEST(Pickle, TheMemoGivesTheSameValue) {
  const Pickle pickle = read("]q\1K\7a0h\1h\1\x86.");
  ASSERT_EQ(root(pickle).items.size(), 2u);
  EXPECT_EQ(root(pickle).items[0], root(pickle).items[1]);
  EXPECT_EQ(pickle.at(root(pickle).items[0]).items.size(), 1u);
}

TEST(Pickle, CallsAreValues) {
  const Pickle pickle = read("cgood\nname\nK\1\x85R}b.");
  ASSERT_EQ(root(pickle).kind, PickleValue::call);
  EXPECT_TRUE(root(pickle).has_state);
  EXPECT_EQ(pickle.at(root(pickle).items[0]).text_bytes, "good.name");
  const std::string by_stack = "\x8c\4good\x8c\4name\x93)R.";
  const Pickle other = read(by_stack);
  EXPECT_EQ(other.at(root(other).items[0]).text_bytes, "good.name");
}

TEST(Pickle, SizeIsWhatItTook) {
  EXPECT_EQ(read("N.rest").size(), 2u);
}

TEST(Pickle, WrongOnesAreRefusedByTheirByte) {
  const auto refused = [](const std::string& text, const std::string& part) {
    const std::string error = error_of([&] { read(text); });
    EXPECT_TRUE(contains(error, part));
  };
  refused("cbad\nname\n.", "x: byte 0: refers to bad.name of Python, which is not supported");
  refused("NNcgoodness\n.", "byte 2: the name of a global has no end");
  refused("\x80\x06N.", "has protocol 6");
  refused(".", "needs a value, but the stack is empty");
  refused("(.", "needs a value, but the stack is empty");
  refused("t.", "needs a mark, but there is none");
  refused("N(Ns.", "needs a value, but the stack is empty");
  refused("]NNs.", "items are added to a list");
  refused("}(Nu.", "a key has no value");
  refused("h\1.", "the memo has no value 1");
  refused("N)R.", "calls None");
  refused("cgood\nname\nNR.", "calls with None");
  refused("I1\n.", "the opcode 0x49 is not supported");
  refused(
      "X\xff\xff\xff\xff"
      "abc.",
      "for the pickle at byte ");
  refused(
      "\x8d\xff\xff\xff\xff\xff\xff\xff\xff"
      "abc.",
      "for the pickle at byte ");
  refused("N", "for the pickle at byte ");
}

TEST(Pickle, DepthTakesNoStack) {
  std::string text = "N";
  text.append(1'000'000, '\x85');  // a tuple of a tuple of ...
  EXPECT_EQ(root(read(text + ".")).kind, PickleValue::tuple);
}

}  // namespace
}  // namespace tril
