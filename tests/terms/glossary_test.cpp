// Glossary files: TSV, CSV and TBX, their languages, and errors in them.
#include "terms/glossary.h"

#include <gtest/gtest.h>

#include "support/rounds.h"
#include "support/temporary.h"

namespace tril::terms::glossary_test {
namespace {

std::string text_of(const Glossary& glossary) {
  std::string text;
  for (const Entry& e : glossary.entries)
    text += e.source + ">" + e.target + (e.match ? ":" + std::string(name_of(*e.match)) : "") + ";";
  return text;
}

Glossary read(std::string_view bytes, TableFormat format, const LanguagePair& pair = {}) {
  return glossary_of(read_term_table(bytes, format, "g"), pair);
}

std::string entries(std::string_view bytes, TableFormat format, const LanguagePair& pair = {}) {
  return text_of(read(bytes, format, pair));
}

std::string wrong(std::string_view bytes, TableFormat format, const LanguagePair& pair = {}) {
  return error_of([&] { read(bytes, format, pair); });
}

TEST(Glossary, TsvHasEntriesAndComments) {
  EXPECT_EQ(entries("\xef\xbb\xbf# animals\r\ndog\tHund\r\n\r\n cat \t Katze \n", TableFormat::tsv),
            "dog>Hund;cat>Katze;");
  EXPECT_EQ(entries("source\ttarget\tmatch\nIT\tEDV\tcase\nGo\tGo\tExact\ndog\tHund\t\n", TableFormat::tsv),
            "IT>EDV:case;Go>Go:exact;dog>Hund;");
  EXPECT_EQ(entries("", TableFormat::tsv), "");
  EXPECT_TRUE(contains(wrong("dog\tHund\ncat Katze\n", TableFormat::tsv), "g: line 2", "2 columns", "tab"));
  EXPECT_TRUE(contains(wrong("dog\tHund\tx\n", TableFormat::tsv), "g: line 1", "found 3"));
  EXPECT_TRUE(contains(wrong("dog\t \n", TableFormat::tsv), "g: line 1", "empty"));
  EXPECT_TRUE(contains(wrong("a\tb\ndog\t\xff\n", TableFormat::tsv), "g: line 2", "UTF-8"));
  EXPECT_TRUE(contains(wrong("dog\tHu\x01nd\n", TableFormat::tsv), "g: line 1", "control"));
  EXPECT_TRUE(contains(wrong("dog\t" + std::string(1025, 'x') + "\n", TableFormat::tsv), "1025 bytes", "memory"));
  EXPECT_TRUE(
      contains(wrong("source\ttarget\tmatch\ndog\tHund\tfuzzy\n", TableFormat::tsv), "line 2", "fuzzy", "stem"));
}

TEST(Glossary, DeeplsFormHasNoHeaderAndNoComments) {
  const TermTable table =
      read_term_table("#1\tNr. 1\nno\tit\n", TableFormat::tsv, "g", {.header = false, .comments = false});
  EXPECT_EQ(text_of(glossary_of(table, {"no", "it"})), "#1>Nr. 1;no>it;");
  EXPECT_EQ(entries("Hello,Guten Tag,EN,DE\n\"a, b\",c,en,de\n", TableFormat::csv, {"en-US", "de"}),
            "Hello>Guten Tag;a, b>c;");
  EXPECT_TRUE(contains(wrong("Hello,Guten Tag,EN,DE\na,b,en,fr\n", TableFormat::csv), "line 2", "fr", "DE"));
  EXPECT_TRUE(contains(wrong("Hello,Guten Tag,EN,DE\n", TableFormat::csv, {"fr", "de"}), "fr", "EN, DE"));
}

TEST(Glossary, CsvIsThatOfRfc4180) {
  EXPECT_EQ(entries("\"dog\",\"Hund\"\r\n\"the \"\"big\"\" one\",\"der, große\"\r\n", TableFormat::csv),
            "dog>Hund;the \"big\" one>der, große;");
  EXPECT_TRUE(contains(wrong("dog,\"Hund\n", TableFormat::csv), "line 1", "not closed"));
  EXPECT_TRUE(contains(wrong("a,b\ndog,\"Hund\"x\n", TableFormat::csv), "line 2", "quoted"));
  EXPECT_TRUE(contains(wrong("dog,Hu\"nd\n", TableFormat::csv), "line 1", "quotation mark"));
  EXPECT_TRUE(contains(wrong("dog;Hund\n", TableFormat::csv), "line 1", "comma"));
  EXPECT_TRUE(contains(wrong("\"a\nb\",c\nd\n", TableFormat::csv), "line 1", "line end"));
}

TEST(Glossary, ColumnsAreLanguages) {
  const char* const table = "en,de,pt-BR,note\ndog,Hund,cachorro,x\ncat,Katze,,\n,Maus,rato,\n";
  EXPECT_EQ(entries(table, TableFormat::csv, {"en", "de"}), "dog>Hund;cat>Katze;");
  EXPECT_EQ(entries(table, TableFormat::csv, {"de", "pt"}), "Hund>cachorro;Maus>rato;");
  EXPECT_EQ(read(table, TableFormat::csv, {"en", "pt"}).notes.size(), 1u);
  EXPECT_TRUE(contains(read(table, TableFormat::csv, {"en", "pt"}).notes[0], "lines 3, 4"));
  EXPECT_TRUE(contains(wrong(table, TableFormat::csv, {"en", "fr"}), "fr", "en, de, pt-BR"));
  EXPECT_TRUE(contains(wrong(table, TableFormat::csv), "several languages"));
  EXPECT_TRUE(contains(wrong(table, TableFormat::csv, {"en", "en"}), "from en into en"));
  EXPECT_EQ(entries("target\tsource\nHund\tdog\n", TableFormat::tsv, {"en", "de"}), "dog>Hund;");
  EXPECT_EQ(entries("en\tde\ndog\tHund\n", TableFormat::tsv, {"de", "en"}), "Hund>dog;");
  EXPECT_EQ(entries("en\tde\ndog\tHund\n", TableFormat::tsv), "dog>Hund;");
  EXPECT_TRUE(contains(wrong("en\ten\na\tb\n", TableFormat::tsv), "line 1", "en"));
  // An entry that looks like a header is not lost silently.
  EXPECT_TRUE(contains(wrong("no\tit\nyes\tsì\n", TableFormat::tsv, {"en", "it"}), "source", "target"));
}

TEST(Glossary, ContradictionsAndRepetitionsAreTold) {
  EXPECT_TRUE(
      contains(wrong("dog\tHund\na\tb\ndog\tKöter\n", TableFormat::tsv), "g: line 3", "Hund", "Köter", "line 1"));
  EXPECT_TRUE(contains(wrong("e\u0301\ta\n\u00e9\tb\n", TableFormat::tsv), "line 2")) << "equal after normalisation";
  const Glossary twice = read("dog\tHund\ndog\tHund\n", TableFormat::tsv);
  EXPECT_EQ(text_of(twice), "dog>Hund;");
  EXPECT_TRUE(contains(twice.notes.at(0), "duplicate", "line 2"));
}

TEST(Glossary, TheFirstOfSeveralIsRight) {
  const Glossary a = read("dog\tHund\n", TableFormat::tsv), b = read("dog\tKöter\ncat\tKatze\n", TableFormat::tsv);
  const std::array<const Glossary*, 2> both{&a, &b};
  std::size_t left_out = 0;
  const std::vector<Entry> all = merged_entries(both, left_out);
  EXPECT_EQ(all.size(), 2u);
  EXPECT_EQ(all[0].target, "Hund");
  EXPECT_EQ(left_out, 1u);
}

constexpr const char* martif = R"(<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE martif SYSTEM "TBXBasiccoreStructV02.dtd">
<martif type="TBX-Basic" xml:lang="en"><martifHeader><fileDesc/></martifHeader><text><body>
<termEntry id="c1"><descrip type="definition">an animal</descrip>
  <langSet xml:lang="en"><tig><term>dog</term></tig><tig><term>hound</term>
    <termNote type="administrativeStatus">deprecatedTerm-admn-sts</termNote></tig></langSet>
  <langSet xml:lang="de"><ntig><termGrp><term>Köter</term>
      <termNote type="administrativeStatus">admittedTerm-admn-sts</termNote></termGrp></ntig>
    <tig><term>der
      <hi>Hund</hi></term><termNote type="administrativeStatus">preferredTerm-admn-sts</termNote></tig></langSet>
</termEntry>
<termEntry><langSet xml:lang="en"><tig><term>bank</term></tig></langSet><langSet xml:lang="de"><tig><term>Bank</term></tig></langSet></termEntry>
<termEntry><langSet xml:lang="en"><tig><term>bank</term></tig></langSet><langSet xml:lang="de"><tig><term>Ufer</term></tig></langSet></termEntry>
<termEntry><langSet xml:lang="en"><tig><term>cat</term></tig></langSet></termEntry>
</body></text></martif>)";

TEST(Glossary, TbxOfVersion2) {
  const Glossary g = read(martif, TableFormat::tbx, {"en", "de"});
  EXPECT_EQ(text_of(g), "dog>der Hund;hound>der Hund;");
  ASSERT_EQ(g.notes.size(), 2u);
  EXPECT_TRUE(contains(g.notes[0], "different translations", "line 13"));
  EXPECT_TRUE(contains(g.notes[1], "both languages", "line 14"));
  EXPECT_EQ(entries(martif, TableFormat::tbx, {"de", "en"}), "Köter>dog;der Hund>dog;Bank>bank;Ufer>bank;");
}

TEST(Glossary, TbxOfVersion3InBothStyles) {
  EXPECT_EQ(
      entries(
          R"(<tbx xmlns="urn:iso:std:iso:30042:ed-2" style="dca" type="TBX-Min" xml:lang="en"><tbxHeader/><text><body>
<conceptEntry id="1"><langSec xml:lang="en"><termSec><term>dog</term></termSec></langSec><langSec xml:lang="de"><termSec>
<term>Hund</term><termNote type="administrativeStatus">preferredTerm-admn-sts</termNote></termSec></langSec></conceptEntry>
</body></text></tbx>)",
          TableFormat::tbx, {"en", "de"}),
      "dog>Hund;");
  const auto dct = [](const std::string& status) {
    return R"(<tbx style="dct" type="TBX-Min" xmlns:min="http://www.tbxinfo.net/ns/min"><text><body><conceptEntry>
<langSec xml:lang="en"><termSec><term>dog</term></termSec></langSec><langSec xml:lang="de"><termSec><term>Hund</term></termSec>
<termSec><term>Köter</term><min:administrativeStatus>)" +
           status + "</min:administrativeStatus></termSec></langSec></conceptEntry></body></text></tbx>";
  };
  EXPECT_EQ(entries(dct("preferredTerm-admn-sts"), TableFormat::tbx, {"en", "de"}), "dog>Köter;");
  EXPECT_EQ(entries(dct("supersededTerm"), TableFormat::tbx, {"en", "de"}), "dog>Hund;");
  EXPECT_TRUE(contains(wrong(dct("shouted"), TableFormat::tbx), "g: line 3", "shouted", "preferredTerm"));
}

TEST(Glossary, WhatIsNotTbxIsRefused) {
  EXPECT_TRUE(contains(wrong("<tmx/>", TableFormat::tbx), "g", "<tmx>", "martif"));
  EXPECT_TRUE(contains(wrong("<tbx style=\"own\"/>", TableFormat::tbx), "own", "dct"));
  EXPECT_TRUE(contains(wrong("<tbx", TableFormat::tbx), "g"));
  EXPECT_TRUE(contains(wrong("<martif><text><body><termEntry><langSet><tig><term>a</term></tig></langSet></termEntry></"
                             "body></text></martif>",
                             TableFormat::tbx),
                       "line 1", "xml:lang"));
  EXPECT_TRUE(contains(
      wrong(
          "<martif><text><body>\n<termEntry><langSet xml:lang='en'><tig/></langSet></termEntry></body></text></martif>",
          TableFormat::tbx),
      "line 2", "no term"));
  EXPECT_NE(wrong("<!DOCTYPE a [<!ENTITY x \"y\">]><martif>&x;</martif>", TableFormat::tbx), "");
}

TEST(Glossary, FormatsAreKnownByNames) {
  const TemporaryDirectory folder;
  EXPECT_EQ(read_term_table(folder.write("a.TSV", "dog\tHund\n")).concepts.size(), 1u);
  EXPECT_TRUE(contains(error_of([&] { read_term_table(folder.write("a.xlsx", "")); }), "a.xlsx", ".tsv, .csv or .tbx"));
  EXPECT_NE(error_of([&] { read_term_table(folder.path("none.csv")); }), "");
}

// Damaged files give an Error or a glossary, and nothing else.
TEST(Glossary, DamagedFilesAreReadOrRefused) {
  test::rounds(2000, [](RandomSequence& random) {
    static const std::array<std::string, 3> files{"en\tde\tmatch\ndog\tHund\texact\n# x\ncat\tKatze\t\n",
                                                  "a,\"b \"\"c\"\"\nd\"\r\ne,f\r\n", martif};
    const std::size_t which = random.below(3);
    std::string bytes = files[which];
    for (std::uint64_t n = 1 + random.below(4); n > 0; --n) {
      const std::size_t at = random.below(bytes.size());
      if (random.below(2) == 0)
        bytes[at] = static_cast<char>(random.below(256));
      else
        bytes.erase(at, 1 + random.below(20));
      if (bytes.empty()) bytes = "x";
    }
    try {
      read(bytes, static_cast<TableFormat>(which), {"en", "de"});
    } catch (const Error& e) {
      EXPECT_FALSE(e.message().empty());
    }
  });
}

}  // namespace
}  // namespace tril::terms::glossary_test
