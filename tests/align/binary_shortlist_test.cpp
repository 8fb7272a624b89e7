// Marian's binary shortlists: their content, and the files that are refused.
#include "align/binary_shortlist.h"

#include <gtest/gtest.h>

#include <cstring>

#include "base/error.h"
#include "support/error_of.h"
#include "support/raw_number.h"
#include "support/raw_shortlist.h"

namespace tril {
namespace {

using test::raw;
using test::raw_shortlist;
using test::RawShortlist;

BinaryShortlist read(const std::string& bytes, const ShortlistSizes& sizes) {
  return read_binary_shortlist(std::as_bytes(std::span(bytes)), "lex.bin", sizes);
}

std::vector<std::int32_t> targets(const BinaryShortlist& l, std::size_t source) {
  std::vector<std::int32_t> found;
  for (const auto& e : l.table.of_source[source]) found.push_back(e.target);
  return found;
}

const RawShortlist good{.offsets = {0, 2, 2, 5}, .words = {4, 1, 0, 3, 5}};

TEST(BinaryShortlist, HasAListForEachSourceWord) {
  const BinaryShortlist own = read(raw_shortlist(good), {.source = 4, .target = 6});
  EXPECT_EQ(own.first, 2);
  EXPECT_EQ(own.best, 3);
  EXPECT_EQ(targets(own, 0), (std::vector<std::int32_t>{4, 1}));
  EXPECT_EQ(targets(own, 1), (std::vector<std::int32_t>{}));
  EXPECT_EQ(targets(own, 2), (std::vector<std::int32_t>{0, 3, 5}));
  EXPECT_EQ(targets(own, 3), (std::vector<std::int32_t>{}));
  // With one vocabulary, a source word may be copied.
  const BinaryShortlist shared = read(raw_shortlist(good), {.source = 6, .target = 6, .shared = true});
  EXPECT_EQ(targets(shared, 0), (std::vector<std::int32_t>{4, 1, 0}));
  EXPECT_EQ(targets(shared, 5), (std::vector<std::int32_t>{5}));
  EXPECT_EQ(shared.best, 4);
}

// What `marian-conv --shortlist FILE 1 2 0` of Marian 1.12.42 writes for "a a 0.5", "b b 0.7", "a b 0.2", where a is 2 and b 3.
TEST(BinaryShortlist, TheChecksumIsMarians) {
  const std::string bytes = raw_shortlist({.first = 1, .best = 2, .offsets = {0, 0, 0, 1, 3}, .words = {2, 2, 3}});
  EXPECT_EQ(bytes.substr(8, 8), raw(std::uint64_t{0x857c10aaa7f3c21f}));
  EXPECT_EQ(targets(read(bytes, {.source = 4, .target = 4}), 3), (std::vector<std::int32_t>{2, 3}));

  std::string damaged = raw_shortlist(good);
  damaged[damaged.size() - 9] = 7;
  EXPECT_NE(error_of([&] { read(damaged, {.source = 4, .target = 6}); }).find("checksum"), std::string::npos);
}

TEST(BinaryShortlist, WhatDoesNotFitIsRefused) {
  const auto refused = [](const std::string& bytes, const std::string& part,
                          const ShortlistSizes& sizes = {4, 6, false}) {
    const std::string text = error_of([&] { read(bytes, sizes); });
    EXPECT_NE(text.find(part), std::string::npos) << text;
    EXPECT_NE(text.find("lex.bin"), std::string::npos) << text;
  };
  refused("", "expected 8 bytes for the magic number at byte 0");
  refused(std::string(48, 'x'), "not a binary shortlist");
  refused(raw_shortlist(good) + "x", "should hold 4 offsets");
  RawShortlist list = good;
  list.offsets = {0, 5, 2, 5};
  refused(raw_shortlist(list), "the list of word 1 goes from 5 to 2");
  list.offsets = {0, 2, 2, ~std::uint64_t{0}};
  refused(raw_shortlist(list), "the list of word 2");
  refused(raw_shortlist(good), "has the target word 5", {4, 5, false});
  refused(raw_shortlist(good), "has the source word 2", {2, 6, false});
  std::string huge = raw_shortlist(good);
  huge.replace(32, 8, raw(~std::uint64_t{0}));
  refused(huge, "should hold");
  const std::string whole = raw_shortlist(good);
  for (std::size_t length = 0; length < whole.size(); ++length) refused(whole.substr(0, length), "");
}

}  // namespace
}  // namespace tril
