// The glossaries of a server: owners, limits, files that survive a restart, and use by many threads.
#include "terms/glossary_store.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <set>
#include <thread>

#include "support/temporary.h"
#include "terms/glossary_library.h"

namespace tril::terms::store_test {
namespace {

Glossary glossary(const std::string& name, const std::string& target = "Hund",
                  const LanguagePair& pair = {"en", "de"}) {
  return {name, pair, {{"dog", target}, {"NASA", "NASA", Match::ignore_case}}, {}};
}

const Viewer anna{owner_of_key("anna's key")}, bert{owner_of_key("bert's key")}, admin{owner_of_key("root"), true};

TEST(GlossaryStore, EachKeySeesItsOwn) {
  GlossaryStore store;
  const std::string id = store.add(glossary("animals"), anna, true)->id;
  EXPECT_EQ(store.list(anna).size(), 1u);
  EXPECT_EQ(store.list(bert).size(), 0u);
  EXPECT_EQ(store.list(admin).size(), 1u);
  EXPECT_EQ(store.find(id, bert), nullptr);
  EXPECT_FALSE(store.remove(id, bert));
  EXPECT_TRUE(store.remove(id, admin));
  EXPECT_EQ(store.list(anna).size(), 0u);
  EXPECT_EQ(owner_of_key("a").size(), 32u);
  EXPECT_EQ(owner_of_key(""), "");
}

TEST(GlossaryStore, GlossariesSurviveARestart) {
  const TemporaryDirectory folder;
  const std::string directory = folder.path("glossaries");
  std::string id;
  {
    GlossaryStore store(directory);
    id = store.add(glossary("animals"), anna, true)->id;
    store.remove(store.add(glossary("gone"), anna, true)->id, anna);
    EXPECT_EQ(store.add(glossary("animals", "Hündchen"), anna, true)->id, id) << "it is replaced";
    EXPECT_NE(store.add(glossary("animals", "Köter"), anna, false)->id, id) << "names need not be unique";
  }
  folder.write("glossaries/broken.json", "{");
  const GlossaryStore again(directory);
  ASSERT_EQ(again.list(anna).size(), 2u);
  const StoredGlossaryPtr one = again.find(id, anna);
  ASSERT_TRUE(one);
  EXPECT_EQ(one->glossary.name, "animals");
  EXPECT_EQ(one->glossary.entries.at(0).target, "Hündchen");
  EXPECT_EQ(one->glossary.entries.at(1).match, Match::ignore_case);
  EXPECT_EQ(one->glossary.languages.target, "de");
  EXPECT_GT(one->created, 1'600'000'000);
  ASSERT_EQ(again.notes().size(), 1u);
  EXPECT_TRUE(contains(again.notes()[0], "broken.json"));
  EXPECT_EQ(again.list(bert).size(), 0u);
}

TEST(GlossaryStore, GroupsKeepTheirId) {
  const TemporaryDirectory folder;
  const std::string directory = folder.path("glossaries");
  std::string first, french;
  {
    GlossaryStore store(directory);
    first = store.add(glossary("animals"), anna, false)->id;
    french = store.add(glossary("animals", "chien", {"en", "fr"}), anna, true, first)->id;
    EXPECT_NE(french, first);
    EXPECT_EQ(store.add(glossary("renamed", "toutou", {"en", "fr"}), anna, true, first)->id, french) << "same pair";
    EXPECT_EQ(store.add(glossary("renamed", "chien", {"en", "fr"}), anna, true)->group, first) << "same name and pair";
    const auto rename = [](Glossary& g) { g.name = "beasts"; };
    EXPECT_EQ(store.change(french, bert, rename), nullptr);
    EXPECT_EQ(store.change(french, anna, rename)->glossary.name, "beasts");
    EXPECT_TRUE(
        contains(error_of([&] { store.change(french, anna, [](Glossary& g) { g.entries.clear(); }); }), "none"));
    EXPECT_TRUE(store.remove(first, anna));
  }
  const GlossaryStore again(directory);
  const StoredGlossaryPtr one = again.find(french, anna);
  ASSERT_TRUE(one);
  EXPECT_EQ(one->group_id(), first);
  EXPECT_EQ(one->glossary.name, "beasts");
  EXPECT_EQ(one->glossary.entries.at(0).target, "chien");
}

std::set<std::string> files_in(const std::string& directory) {
  std::set<std::string> names;
  for (const auto& file : std::filesystem::directory_iterator(directory))
    if (file.path().extension() == ".json") names.insert(file.path().stem().string());
  return names;
}

// A group is one file, so that no kill can leave a part of a change.
TEST(GlossaryStore, AGroupIsOneFile) {
  const TemporaryDirectory folder;
  const std::string directory = folder.path("glossaries");
  std::string group, single;
  {
    GlossaryStore store(directory);
    single = store.add(glossary("alone"), anna, true)->id;
    const GlossaryStore::Group made =
        store.add_group({glossary("animals"), glossary("animals", "chien", {"en", "fr"})}, anna);
    ASSERT_EQ(made.size(), 2u);
    group = made[0]->id;
    EXPECT_EQ(made[1]->group_id(), group);
    EXPECT_EQ(files_in(directory), (std::set<std::string>{single, group}));
    // Nothing of a group is kept if one of it is refused.
    EXPECT_TRUE(contains(error_of([&] {
                           store.add_group({glossary("x"), {"x", {"en", "fr"}, {}, {}}}, anna);
                         }),
                         "none"));
    EXPECT_EQ(store.list(anna).size(), 3u);
    // All are renamed, and one is added, at once.
    const auto edit = [](std::vector<Glossary>& list) {
      for (Glossary& one : list) one.name = "beasts";
      list.push_back(glossary("beasts", "perro", {"en", "es"}));
    };
    EXPECT_TRUE(store.change_group(group, bert, edit).empty());
    const GlossaryStore::Group changed = store.change_group(group, anna, edit);
    ASSERT_EQ(changed.size(), 3u);
    for (const StoredGlossaryPtr& one : made) {
      ASSERT_TRUE(store.find(one->id, anna));
      EXPECT_EQ(store.find(one->id, anna)->glossary.entries.at(0).target, one->glossary.entries.at(0).target);
    }
    EXPECT_EQ(files_in(directory), (std::set<std::string>{single, group}));
    EXPECT_TRUE(store.remove(group, anna)) << "the first one, whose id is that of the group";
    EXPECT_EQ(files_in(directory), (std::set<std::string>{single, group}));
  }
  {
    GlossaryStore again(directory);
    EXPECT_TRUE(again.notes().empty());
    ASSERT_EQ(again.list(anna).size(), 3u);
    for (const StoredGlossaryPtr& one : again.list(anna))
      if (one->id != single) {
        EXPECT_EQ(one->group_id(), group);
        EXPECT_EQ(one->glossary.name, "beasts");
      }
    EXPECT_FALSE(again.remove_group(group, bert));
    EXPECT_TRUE(again.remove_group(group, admin));
    EXPECT_FALSE(again.remove_group(group, anna));
    EXPECT_EQ(files_in(directory), std::set<std::string>{single});
  }
  EXPECT_EQ(GlossaryStore(directory).list(anna).size(), 1u);
}

// Each glossary of a group once had a file of its own. They are read, and become one file with the first change. A kill behind the
// writing of this file leaves some of them, which do not count any more.
TEST(GlossaryStore, GroupsOfSeveralFilesAreRead) {
  const TemporaryDirectory folder;
  const std::string directory = folder.path("glossaries");
  std::filesystem::create_directory(directory);
  const auto id = [](int n) { return fmt::format("00000000-0000-4000-8000-00000000000{}", n); };
  const auto old_file = [&](int n, const std::string& target) {
    return fmt::format(R"({{"id": "{}", "name": "animals", "owner": "{}", "created": 170000000{}, "source": "en", )"
                       R"("target": "{}"{}, "entries": [["dog", "x"]]}})",
                       id(n), anna.owner, n, target, n == 1 ? "" : fmt::format(R"(, "group": "{}")", id(1)));
  };
  const char* const targets[] = {"de", "fr", "es"};
  for (int n = 1; n <= 3; ++n) folder.write("glossaries/" + id(n) + ".json", old_file(n, targets[n - 1]));
  {
    GlossaryStore store(directory);
    EXPECT_TRUE(store.notes().empty());
    EXPECT_EQ(store.list(anna).size(), 3u);
    EXPECT_TRUE(store.remove(id(2), anna));
    EXPECT_EQ(files_in(directory), std::set<std::string>{id(1)});
  }
  folder.write("glossaries/" + id(2) + ".json", old_file(2, "fr"));
  GlossaryStore again(directory);
  EXPECT_EQ(again.list(anna).size(), 2u);
  EXPECT_EQ(again.find(id(2), anna), nullptr);
  EXPECT_EQ(files_in(directory), std::set<std::string>{id(1)});
}

TEST(GlossaryStore, LimitsAreKept) {
  GlossaryStore store("", {.most_glossaries = 2, .most_entries = 3, .most_bytes = 60});
  const auto error = [&](const Glossary& g) { return error_of([&] { store.add(g, anna, true); }); };
  EXPECT_TRUE(contains(error(glossary("")), "name"));
  EXPECT_TRUE(contains(error(glossary("a\nb")), "name"));
  EXPECT_TRUE(contains(error(glossary("a", "b", {"en", "xx"})), "target", "xx"));
  EXPECT_TRUE(contains(error({"a", {"en", "de"}, {}, {}}), "entries"));
  EXPECT_TRUE(contains(error({"a", {"en", "de"}, {{"a", "b\tc"}}, {}}), "entries", "tab"));
  EXPECT_TRUE(
      contains(error({"a", {"en", "de"}, {{"a", "b"}, {"c", "d"}, {"e", "f"}, {"g", "h"}}, {}}), "entries", "4", "3"));
  EXPECT_TRUE(contains(error(glossary("a", std::string(55, 'x'))), "60 bytes"));
  store.add(glossary("a"), anna, true);
  store.add(glossary("b"), anna, true);
  EXPECT_TRUE(contains(error(glossary("c")), "no more"));
  EXPECT_EQ(error(glossary("b", "Köter")), "") << "replacing takes no room";
}

TEST(GlossaryLibrary, NamesAndPairsAreChecked) {
  GlossaryLibrary library;
  library.add("house", read_term_table("en,de,fr\nhouse,Haus,maison\n", TableFormat::csv, "house.csv"));
  EXPECT_TRUE(contains(error_of([&] { library.add("x", read_term_table("a\tb\n", TableFormat::tsv, "x.tsv")); }),
                       "x.tsv", "languages"));
  library.store().add(glossary("animals"), anna, true);
  const auto targets = [&](const std::vector<std::string>& names, const LanguagePair& pair, const Viewer& viewer) {
    std::string list;
    const auto matcher = library.matcher({names, pair, Match::ignore_case}, viewer);
    if (!matcher) return std::string("none");
    for (const FoundTerm& one : matcher->find("the dog in the House"))
      list += matcher->entries()[one.entry].target + ";";
    return list;
  };
  const auto error = [&](const std::vector<std::string>& names, const LanguagePair& pair, const Viewer& viewer) {
    return error_of([&] { targets(names, pair, viewer); });
  };
  EXPECT_EQ(targets({}, {"en", "de"}, anna), "none");
  EXPECT_EQ(targets({"house", "animals"}, {"en-GB", "de"}, anna), "Hund;Haus;");
  EXPECT_EQ(targets({"house"}, {"en", "fr"}, bert), "maison;");
  EXPECT_EQ(targets({library.store().list(anna)[0]->id}, {"", ""}, anna), "Hund;");
  EXPECT_TRUE(contains(error({"animals"}, {"en", "de"}, bert), "glossary", "animals", "house"));
  EXPECT_TRUE(contains(error({"animal"}, {"en", "de"}, anna), "animals"));
  EXPECT_TRUE(contains(error({"animals"}, {"en", "fr"}, anna), "en to de", "en to fr"));
  EXPECT_TRUE(contains(error({"house"}, {"en", "ja"}, anna), "glossary", "house", "ja"));
  library.store().add(glossary("animals"), anna, false);
  EXPECT_TRUE(contains(error({"animals"}, {"en", "de"}, anna), "2", "id"));
}

TEST(GlossaryLibrary, UploadsDuringUse) {
  const TemporaryDirectory folder;
  GlossaryLibrary library(std::make_unique<GlossaryStore>(folder.path("g")));
  library.store().add(glossary("animals", "T0"), anna, true);
  std::vector<std::thread> threads;
  threads.emplace_back([&] {
    for (int i = 1; i < 60; ++i) library.store().add(glossary("animals", fmt::format("T{}", i)), anna, true);
  });
  threads.emplace_back([&] {
    for (int i = 0; i < 30; ++i) library.store().remove(library.store().add(glossary("other"), bert, true)->id, bert);
  });
  for (int t = 0; t < 2; ++t)
    threads.emplace_back([&] {
      int last = 0;
      for (int i = 0; i < 300; ++i) {
        const auto matcher = library.matcher({{"animals"}, {"en", "de"}, Match::exact}, anna);
        const int now = std::stoi(matcher->entries().at(0).target.substr(1));
        EXPECT_GE(now, last);
        last = now;
      }
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(library.matcher({{"animals"}, {"en", "de"}, Match::exact}, anna)->entries().at(0).target, "T59");
}

}  // namespace
}  // namespace tril::terms::store_test
