// Marian's own files: what Marian computes with them, whatever form they come in, and what is refused by name.
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "format/npz_file.h"
#include "model_io/contents/stored_weight.h"
#include "model_io/exports/marian_export.h"
#include "model_io/source/model_source.h"
#include "model_io/source/registry.h"
#include "support/file_text.h"
#include "support/paths.h"
#include "support/raw_marian_bin.h"
#include "support/raw_zip.h"
#include "support/temporary.h"

namespace tril::model::marian_files_test {
namespace {

using testing::raw_zip;
using testing::RawMember;
namespace fs = std::filesystem;

fs::path golden(const std::string& name) {
  return fs::path(test::test_dir()) / "golden/marian" / name;
}

nlohmann::json expected(const std::string& name) {
  return nlohmann::json::parse(file_text(golden(name) / "expected.json"));
}

// A copy of a golden directory.
void copy_to(const TemporaryDirectory& to, const std::string& name) {
  for (const auto& entry : fs::directory_iterator(golden(name)))
    fs::copy_file(entry.path(), to.path(entry.path().filename().string()));
}

// The npz with another model.yml of the same length: `from` becomes `to`, and blanks at its end go or come.
std::string with_option(std::string npz, const std::string& from, const std::string& to) {
  const std::size_t at = npz.find(from);
  EXPECT_NE(at, npz.npos) << from;
  npz.replace(at, from.size(), to);
  const std::size_t end = npz.find('\0', at);  // padding stands there
  if (to.size() > from.size())
    npz.erase(end, to.size() - from.size());
  else
    npz.insert(end, from.size() - to.size(), '\0');
  return npz;
}

void expect_option_refused(const std::string& from, const std::string& to, const std::string& part) {
  const TemporaryDirectory directory;
  copy_to(directory, "spm");
  directory.write("model.npz", with_option(file_text(golden("spm") / "model.npz"), from, to));
  const std::string text = error_of([&] { make(ModelSource::open(directory.path())); });
  EXPECT_TRUE(contains(text, part));
  EXPECT_TRUE(contains(text, "special:model.yml"));
}

class MarianModels : public ::testing::TestWithParam<const char*> {};

// log p(target | source) of each pair.
std::vector<double> scores(const ModelSource& source, const nlohmann::json& pairs,
                           nn::Precision precision = nn::Precision::fp32) {
  const auto m = load(source, precision);
  const auto tokenizer = source.tokenizer();
  std::vector<double> found;
  for (std::size_t i = 0; i < pairs["sources"].size(); ++i) {
    Arena arena;
    Context c(arena);
    std::vector<std::int32_t> ids = tokenizer->encode(pairs["sources"][i].get<std::string>(), Side::source);
    for (std::int32_t id : tokenizer->frame(Side::source).suffix) ids.push_back(id);
    std::vector<std::int32_t> labels = tokenizer->encode(pairs["targets"][i].get<std::string>(), Side::target);
    std::vector<std::int32_t> inputs{m->special_ids().decoder_start};
    inputs.insert(inputs.end(), labels.begin(), labels.end());
    labels.push_back(m->special_ids().eos);
    const auto rows = [](const auto& v) { return Rows::rectangle(1, static_cast<std::int64_t>(v.size())); };
    const Memory memory = m->encode(c, ids, rows(ids));
    const std::vector<float> values =
        host_copy<float>(logits(c, *m, m->decode(c, {.ids = inputs, .rows = rows(inputs), .memory = &memory})));
    const std::size_t V = values.size() / labels.size();
    double sum = 0;
    for (std::size_t t = 0; t < labels.size(); ++t) {
      double all = 0;
      for (std::size_t v = 0; v < V; ++v) all += std::exp(static_cast<double>(values[t * V + v]));
      sum += static_cast<double>(values[t * V + static_cast<std::size_t>(labels[t])]) - std::log(all);
    }
    found.push_back(sum);
  }
  return found;
}

TEST_P(MarianModels, GiveMariansScores) {
  const nlohmann::json pairs = expected(GetParam());
  const std::vector<double> found = scores(ModelSource::open(golden(GetParam())), pairs);
  for (std::size_t i = 0; i < found.size(); ++i) {
    const double marian = pairs["scores"][i];
    // Marian sums in float32, its exponentials and gelu are approximations: the largest difference of these is 1e-5.
    EXPECT_NEAR(found[i], marian, 5e-5 * std::max(1.0, std::abs(marian))) << pairs["sources"][i];
  }
}

INSTANTIATE_TEST_SUITE_P(All, MarianModels, ::testing::Values("spm", "opus", "pre_norm", "student", "words"));

TEST(MarianFiles, AVocabularyOfWordsIsSplitAtSpacesAlone) {
  const auto t = ModelSource::open(golden("words")).tokenizer();
  const auto source = [&](const char* word) { return t->find(word, Side::source).value(); };
  const std::int32_t unk = t->special(Side::source).unk, eos = t->special(Side::source).eos;
  EXPECT_EQ(t->encode(" the  dog\tsees </s> a zebra. "),
            (std::vector<std::int32_t>{source("the"), unk, eos, source("a"), unk}));
  const std::string text = "Der alte hund findet ein alte hengst.";
  EXPECT_EQ(t->decode(t->encode(text, Side::target)), text);
  EXPECT_FALSE(t->shared_vocabulary());
  const TemporaryDirectory directory;
  save_tokenizer(*t, directory.path());
  const auto again = load_tokenizer(directory.path());
  EXPECT_EQ(again->encode(text, Side::target), t->encode(text, Side::target));
  EXPECT_EQ(again->special(Side::target).pad, t->special(Side::target).pad);
}

// marian-decoder prints "<unk>" where a model with allow-unk translates to the unknown word.
TEST(MarianFiles, UnknownWordsOfAVocabularyOfWordsAreDecodedAsMarianDoes) {
  const auto t = ModelSource::open(golden("words")).tokenizer();
  const SpecialIds& ids = t->special(Side::target);
  const std::int32_t old = t->find("alte", Side::target).value();
  EXPECT_EQ(t->decode(std::vector<std::int32_t>{ids.pad, old, ids.unk, old, ids.eos}, Side::target), "alte <unk> alte");
  EXPECT_EQ(t->encode("the " + t->piece(t->special(Side::source).pad, Side::source)),
            (std::vector<std::int32_t>{t->find("the", Side::source).value(), t->special(Side::source).unk}));
}

// DefaultVocab's rule for the ids 0 and 1 of vocabularies of Nematus.
TEST(MarianFiles, TheFirstIdsOfAVocabularyMayHaveTheNamesOfNematus) {
  const auto special_ids = [](const std::string& first_lines, std::string& problem) {
    const TemporaryDirectory directory;
    copy_to(directory, "words");
    const fs::path path = directory.path("source.vocab.yml");
    std::string text = file_text(path);
    const std::string usual = "</s>: 0\n<unk>: 1\n";
    EXPECT_TRUE(text.starts_with(usual)) << text;
    directory.write("source.vocab.yml", first_lines + text.substr(usual.size()));
    SpecialIds ids;
    problem = error_of([&] { ids = ModelSource::open(directory.path()).tokenizer()->special(Side::source); });
    return std::pair(ids.eos, ids.unk);
  };
  std::string problem;
  for (const char* lines : {"eos: 0\nUNK: 1\n", "eos: 0\n<unk>: 1\n", "UNK: 1\n", "</s>: 0\n", ""}) {
    EXPECT_EQ(special_ids(lines, problem), std::pair(0, 1)) << lines;
    EXPECT_EQ(problem, "") << lines;
  }
  special_ids("other: 0\nUNK: 1\n", problem);
  EXPECT_TRUE(contains(problem, "source.vocab.yml", "has no \"</s>\"")) << problem;
  special_ids("eos: 0\nUNK: 1\n</s>: 2\n", problem);
  EXPECT_TRUE(contains(problem, "source.vocab.yml", "\"</s>\" has the id 2", "id 0")) << problem;
}

TEST(MarianFiles, PiecesOfSubwordNmtNeedItsCodes) {
  const TemporaryDirectory directory, saved;
  copy_to(directory, "words");
  directory.write("source.vocab.yml", "</s>: 0\n<unk>: 1\nth@@: 2\ne: 3\nbook: 4\n");
  const auto tokenizer = [&] { return ModelSource::open(directory.path()).tokenizer(); };
  EXPECT_TRUE(contains(error_of([&] { tokenizer(); }), "source.vocab.yml", "@@", "source.bpe", "bpe.codes"));
  directory.write("source.bpe", "#version: 0.2\nt h\nb o\nbo o\nboo k</w>\n");
  const auto expect_split = [](const Tokenizer& t) {
    EXPECT_EQ(t.encode("the book thx"), (std::vector<std::int32_t>{2, 3, 4, 2, 1}));
    EXPECT_EQ(t.decode(std::vector<std::int32_t>{2, 3, 4}, Side::source), "the book");
  };
  expect_split(*tokenizer());
  save_tokenizer(*tokenizer(), saved.path());
  expect_split(*load_tokenizer(saved.path()));
  fs::rename(directory.path("source.bpe"), directory.path("bpe.codes"));
  expect_split(*tokenizer());
}

using Values = std::vector<float>;
Values values_of(const fs::path& path) {
  const auto m = load(ModelSource::open(path));
  return host_copy<float>(m->parameters().flat());
}

TEST(MarianFiles, AnNpzAndAnArchiveAreTheDirectory) {
  for (const char* name : {"spm", "opus"}) {
    const TemporaryDirectory directory;
    std::vector<RawMember> members;
    std::string npz;
    for (const auto& entry : fs::directory_iterator(golden(name))) {
      const std::string file = entry.path().filename().string();
      if (file.ends_with(".npz")) npz = file;
      members.push_back({"opus-2020/" + file, file_text(entry.path()), members.size() % 2 == 0});
    }
    const std::string zip = directory.write("opus-2020.zip", raw_zip(members));
    const Values values = values_of(golden(name));
    EXPECT_EQ(values_of(golden(name) / npz), values);
    EXPECT_EQ(values_of(zip), values);
    const std::string text = expected(name)["sources"][0];
    EXPECT_EQ(ModelSource::open(zip).tokenizer()->encode(text),
              ModelSource::open(golden(name)).tokenizer()->encode(text));
  }
}

// What marian-conv makes of an .npz: float32, or intgemm8 for matrices of products, and for Bergamot of embeddings.
std::string converted(const fs::path& npz, bool int8) {
  const NpzFile file = NpzFile::open(npz.string());
  std::vector<testing::RawBinTensor> tensors;
  for (const WeightView& t : file.tensors()) {
    const std::vector<std::int32_t> shape(t.shape.begin(), t.shape.end());
    const std::string bytes(reinterpret_cast<const char*>(t.bytes.data()), t.bytes.size());
    const bool embeds = t.name.find("Wemb") != t.name.npos;
    if (!int8 || !(embeds || t.name.find("_W") + 4 > t.name.size())) {
      tensors.push_back({t.name, t.dtype == StoredType::f32 ? 0x404u : 0x101u, shape, bytes});
      continue;
    }
    std::vector<float> values = to_f32(t);
    if (!embeds) values = transposed_values(values, t.shape[0], t.shape[1]);
    float most = 0;
    for (const float v : values) most = std::max(most, std::abs(v));
    std::string stored;
    for (const float v : values) stored += static_cast<char>(std::lround(v * 127 / most));
    tensors.push_back({t.name, 0x4101, shape, stored + test::raw(127 / most)});
    tensors.push_back({t.name + "_QuantMultA", 0x404, {1}, test::raw(20.0f)});
  }
  return testing::raw_marian_bin(tensors, 3);
}

TEST(MarianFiles, ABinInFloatsIsTheNpz) {
  for (const char* name : {"spm", "pre_norm"}) {
    const TemporaryDirectory directory;
    copy_to(directory, name);
    fs::remove(directory.path("model.npz"));
    const std::string bin = directory.write("model.bin", converted(golden(name) / "model.npz", false));
    const ModelSource source = ModelSource::open(directory.path());
    EXPECT_EQ(source.stored_precision(), nn::Precision::fp32);
    const Values values = values_of(golden(name));
    EXPECT_EQ(values_of(directory.path()), values);
    EXPECT_EQ(values_of(bin), values);
    const std::string zip = directory.write(
        "x.zip", raw_zip({{"model.bin", file_text(bin), true}, {"vocab.spm", file_text(golden("spm") / "vocab.spm")}}));
    if (name == std::string("spm")) {
      const ModelSource packed = ModelSource::open(zip);
      for (int twice = 0; twice < 2; ++twice) EXPECT_EQ(host_copy<float>(load(packed)->parameters().flat()), values);
    }
  }
}

TEST(MarianFiles, IntgemmsNumbersAreServedAsTheyAre) {
  for (const char* name : {"spm", "pre_norm"}) {
    const TemporaryDirectory directory;
    copy_to(directory, name);
    fs::remove(directory.path("model.npz"));
    directory.write("model.bin", converted(golden(name) / "model.npz", true));
    directory.write("lex.bin", test::raw(0xF11A48D5013417F5u));  // no weights
    const ModelSource source = ModelSource::open(directory.path());
    EXPECT_EQ(source.stored_precision(), nn::Precision::int8);
    const WeightView& q = source.weights().at("model.encoder.layers.0.self_attn.q_proj.weight");
    EXPECT_EQ(q.dtype, StoredType::i8);
    EXPECT_EQ(host_copy<float>(load(source)->parameters().flat()), values_of(directory.path()))
        << "read twice from one source";

    // The matrix of the .npz, rounded to 1/127 of its largest value.
    const NpzFile npz = NpzFile::open((golden(name) / "model.npz").string());
    const WeightView& stored = *npz.find("encoder_l1_self_Wq");
    std::vector<float> expected_values = transposed_values(to_f32(stored), stored.shape[0], stored.shape[1]);
    float most = 0;
    for (const float v : expected_values) most = std::max(most, std::abs(v));
    const float scale = 1 / (127 / most);
    for (float& v : expected_values) v = scale * static_cast<float>(std::lround(v * 127 / most));
    EXPECT_EQ(host_copy<float>(load(source)->parameters().find(q.name)->value), expected_values);

    // With 8 bits a product rounds activations, too: to 1/127 of the largest of a token.
    const nlohmann::json pairs = expected(name);
    const std::vector<double> in_floats = scores(source, pairs), served = scores(source, pairs, nn::Precision::int8);
    for (std::size_t i = 0; i < served.size(); ++i)
      EXPECT_NEAR(served[i], in_floats[i], 0.05 * std::max(4.0, std::abs(in_floats[i]))) << i;
  }
}

// What marian-conv itself wrote.
TEST(MarianFiles, TheBinsOfAStudentAreItsNpz) {
  const fs::path student = golden("student");
  EXPECT_EQ(values_of(student / "model.bin"), values_of(student / "model.npz"));
  const ModelSource int8 = ModelSource::open(student / "model.int8.bin");
  EXPECT_EQ(int8.stored_precision(), nn::Precision::int8);
  const WeightView& rounded = int8.weights().at("model.decoder.layers.1.ssru.in_proj.weight");
  EXPECT_EQ(rounded.dtype, StoredType::i8);
  const auto m = load(int8), exact = load(ModelSource::open(student));
  const Values got = host_copy<float>(m->parameters().find(rounded.name)->value),
               want = host_copy<float>(exact->parameters().find(rounded.name)->value);
  float most = 0;
  for (const float v : want) most = std::max(most, std::abs(v));
  for (std::size_t i = 0; i < want.size(); ++i) ASSERT_NEAR(got[i], want[i], most / 127 * 0.501f);
}

TEST(MarianFiles, DecoderYmlGivesTheDefaultsOfGeneration) {
  const GenerationConfig g = ModelSource::open(golden("opus")).generation();
  EXPECT_EQ(g.search.beam_size, 6);
  EXPECT_EQ(g.search.length_penalty, 1);
  EXPECT_EQ(g.eos_token_ids, std::vector<std::int32_t>{0});
  EXPECT_EQ(g.bad_words_ids.size(), 2u) << "padding and the unknown token never come";
  EXPECT_TRUE(g.not_obeyed.empty());

  const TemporaryDirectory directory;
  copy_to(directory, "spm");
  directory.write("decoder.yml", "allow-unk: true\nword-penalty: 0.5\nbeam-size: 0\n");
  const std::string text = error_of([&] { ModelSource::open(directory.path()).generation(); });
  EXPECT_TRUE(contains(text, "decoder.yml: beam-size"));
  directory.write("decoder.yml", "allow-unk: true\nword-penalty: 0.5\n");
  const GenerationConfig other = ModelSource::open(directory.path()).generation();
  EXPECT_EQ(other.bad_words_ids.size(), 1u);
  EXPECT_EQ(other.not_obeyed, std::vector<std::string>{"word_penalty 0.5"});
}

TEST(MarianFiles, ASavedModelIsTheSameModel) {
  for (const char* name : {"spm", "opus", "pre_norm", "student"}) {
    const TemporaryDirectory directory;
    const auto source = ModelSource::open(golden(name));
    save(*load(source), directory.path());
    source.copy_companions(directory.path());
    const nlohmann::json pairs = expected(name);
    EXPECT_EQ(scores(ModelSource::open(directory.path()), pairs), scores(source, pairs)) << name;
  }
}

// The arrays are Marian's own, bit for bit, and the vocabulary is the same.
TEST(MarianFiles, AnExportedModelIsMariansOwn) {
  for (const char* name : {"spm", "opus", "pre_norm", "student"}) {
    const TemporaryDirectory directory;
    const auto source = ModelSource::open(golden(name));
    const std::string npz = directory.path("x.npz");
    export_marian(*load(source), *source.tokenizer(), source.published_generation(), npz);
    const fs::path own =
        golden(name) / (name == std::string("opus") ? "opus.model1.npz.best-perplexity.npz" : "model.npz");
    const NpzFile written = NpzFile::open(npz), marian = NpzFile::open(own.string());
    ASSERT_EQ(written.tensors().size(), marian.tensors().size()) << name;
    for (const WeightView& t : marian.tensors()) {
      const WeightView* const same = written.find(t.name);
      ASSERT_TRUE(same) << name << ": " << t.name;
      if (t.name.starts_with("special:")) continue;
      EXPECT_EQ(same->shape, t.shape) << t.name;
      EXPECT_TRUE(std::equal(same->bytes.begin(), same->bytes.end(), t.bytes.begin(), t.bytes.end())) << t.name;
    }
    const ModelSource again = ModelSource::open(npz);
    const nlohmann::json pairs = expected(name);
    EXPECT_EQ(scores(again, pairs), scores(source, pairs)) << name;
    EXPECT_EQ(again.generation().search.beam_size, source.generation().search.beam_size.value_or(6)) << name;
  }
}

TEST(MarianFiles, WhatMarianDoesNotComputeIsNotExported) {
  const TemporaryDirectory directory;
  const auto source = ModelSource::open(golden("spm"));
  const auto other = make(ModelSource::open(fs::path(test::test_dir()) / "golden/hf/marian"));
  const std::string npz = directory.path("x.npz");
  const std::string text = error_of([&] { export_marian(*other, *source.tokenizer(), {}, npz); });
  EXPECT_TRUE(contains(text, "positions and norms differ"));
  EXPECT_FALSE(fs::exists(npz));
}

TEST(MarianFiles, ADecoderThatDoesNotBeginWithZerosIsNotExported) {
  const TemporaryDirectory directory;
  const std::string npz = directory.path("x.npz");
  for (const char* name : {"spm", "opus"}) {
    const auto source = ModelSource::open(golden(name));
    const auto m = load(source);
    const bool shared = m->parameters().find("model.shared.weight");
    const std::string table = shared ? "model.shared.weight" : "model.decoder.embed_tokens.weight";
    Tensor value = m->parameters().find(table)->value;
    std::vector<float> values = host_copy<float>(value);
    values[static_cast<std::size_t>(m->special_ids().pad * m->d_model()) + 1] = 0.25f;
    host_write<float>(value, values);
    const std::string text = error_of([&] { export_marian(*m, *source.tokenizer(), {}, npz); });
    EXPECT_NE(text.find(table + ": the row of the padding token"), std::string::npos) << text;
    EXPECT_FALSE(fs::exists(npz));
  }
}

TEST(MarianFiles, OptionsThatAreNotComputedAreRefusedByName) {
  expect_option_refused("transformer-decoder-autoreg: self-attention", "transformer-decoder-autoreg: average-attention",
                        "transformer-decoder-autoreg: average-attention is not supported");
  expect_option_refused("transformer-decoder-autoreg: self-attention", "transformer-decoder-autoreg: rnn",
                        "dec-cell: is not supported with transformer-decoder-autoreg: rnn");
  expect_option_refused("type: transformer\n", "type: s2s\n", "type: s2s is not supported");
  expect_option_refused("transformer-postprocess: dan", "transformer-postprocess: nda", "transformer-postprocess");
  expect_option_refused("transformer-postprocess: dan", "transformer-postprocess: dhn", "the step 'h'");
  expect_option_refused("transformer-no-bias: false", "transformer-no-bias: true", "transformer-no-bias");
  expect_option_refused("transformer-ffn-activation: swish", "transformer-ffn-activation: tanh",
                        "transformer-ffn-activation");
  expect_option_refused("right-left: false", "right-left: true", "right-left");
  expect_option_refused("dim-emb: 16", "dim-emb: 15", "dim-emb");
  expect_option_refused("enc-depth: 2", "enc-depth: -2", "enc-depth");
  expect_option_refused("dim-vocabs:\n  - 64\n  - 64\n", "dim-vocabs: [64, 1000000]\n", "dim-vocabs");
  expect_option_refused("dim-vocabs:\n  - 64\n  - 64\n", "dim-vocabs: [9999999, 9999999]\n", "dim-vocabs");
}

TEST(MarianFiles, WeightsThatAreMissingOrLeftOverAreNamed) {
  const TemporaryDirectory directory;
  copy_to(directory, "spm");
  const std::string npz = file_text(golden("spm") / "model.npz");
  const auto error_with = [&](const std::string& from, const std::string& to) {
    directory.write("model.npz", with_option(npz, from, to));
    return error_of([&] { load(ModelSource::open(directory.path())); });
  };
  EXPECT_TRUE(contains(error_with("enc-depth: 2", "enc-depth: 3"), "encoder_l3_"));
  EXPECT_TRUE(contains(error_with("enc-depth: 2", "enc-depth: 1"), "encoder_l2_"));
  EXPECT_TRUE(contains(error_with("transformer-dim-ffn: 24", "transformer-dim-ffn: 25"), "_ffn_"));
  EXPECT_TRUE(contains(error_with("dim-emb: 16", "dim-emb: 18"), "model.npz: "));
}

TEST(MarianFiles, FilesThatAreMissingOrManyAreNamed) {
  const auto error_of_files = [](const std::vector<std::string>& without, const std::vector<std::string>& with) {
    const TemporaryDirectory directory;
    copy_to(directory, "opus");
    for (const std::string& name : without) fs::remove(directory.path(name));
    for (const std::string& name : with) directory.write(name, "x");
    return error_of([&] { ModelSource::open(directory.path()).tokenizer(); });
  };
  EXPECT_TRUE(contains(error_of_files({"source.spm"}, {}), "source.spm and target.spm"));
  EXPECT_TRUE(
      contains(error_of_files({"source.spm", "target.spm"}, {}), "opus.vocab.yml", "source.spm and target.spm"));
  EXPECT_TRUE(contains(error_of_files({"source.spm", "target.spm"}, {"source.bpe"}), "source.bpe: line 1", "'x'"));
  EXPECT_TRUE(contains(error_of_files({"source.spm", "target.spm"}, {"source.bpe", "preprocess.sh"}), "preprocess.sh",
                       "Moses"));
  EXPECT_TRUE(contains(error_of_files({"opus.vocab.yml"}, {}), "lacks the vocabulary opus.vocab.yml"));
  EXPECT_TRUE(contains(error_of_files({"decoder.yml"}, {"other.npz"}), "holds 2 files of weights"));
  EXPECT_TRUE(
      contains(error_of_files({"opus.vocab.yml", "decoder.yml", "source.spm", "target.spm"}, {}), "no vocabulary"));

  const TemporaryDirectory directory;
  copy_to(directory, "opus");
  directory.write("decoder.yml", "models: [a.npz, b.npz]\n");
  EXPECT_TRUE(contains(error_of([&] { ModelSource::open(directory.path()); }), "names 2 models"));
}

TEST(MarianFiles, ArchivesThatLeadOutsideAreRefused) {
  const TemporaryDirectory directory;
  const auto refused = [&](const std::vector<RawMember>& members, const std::string& part) {
    const std::string path = directory.write("x.zip", raw_zip(members));
    const std::string text = error_of([&] { ModelSource::open(path); });
    EXPECT_TRUE(contains(text, part));
  };
  const std::string npz = file_text(golden("spm") / "model.npz");
  refused({{"../model.npz", npz}}, "leads out of the archive");
  refused({{"/model.npz", npz}}, "leads out of the archive");
  refused({{"a/model.npz", npz}, {"b/model.npz", npz}}, "the second file called model.npz");
  refused({{"README.md", "x"}}, "holds 0 files of weights");
  refused({{"model.npz", std::string(std::size_t{1} << 22, '\0'), true}}, "expected at most");
  refused({{"model.npz", npz.substr(0, npz.size() / 2)}}, "x.zip: model.npz");
}

}  // namespace
}  // namespace tril::model::marian_files_test
