// GPTQ: qweight I32 [in bits / 32, out], a stream of numbers down each column; qzeros I32 [groups, out bits / 32], along
// each row; scales [groups, out]; g_idx I32 [in], the group of each input. Format 1 stores zeros minus one.
// Source: AutoGPTQ's qlinear modules, GPTQModel's QuantizeConfig and convert_gptq_v1_to_v2_format_module.
#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/element.h"
#include "base/error.h"
#include "base/printable.h"
#include "kern/stored_values.h"
#include "model_io/quantized/quantized_methods.h"

namespace tril::model {
namespace {

struct GptqOptions {
  int bits = 4;
  std::int64_t group_size = -1;  // -1: one group
  bool zeros_minus_one = true;
  bool by_gptqmodel = false;  // as "meta" says
};

// "quantizer": ["gptqmodel:1.4.0"], or one text.
bool is_by_gptqmodel(const JsonObject& scheme) {
  if (!scheme.has("meta") || !scheme.json().at("meta").is_object()) return false;
  const nlohmann::json& meta = scheme.json().at("meta");
  if (!meta.contains("quantizer")) return false;
  const nlohmann::json& named = meta.at("quantizer");
  const auto is_name = [](const nlohmann::json& n) {
    return n.is_string() && n.get<std::string>().starts_with("gptqmodel");
  };
  return is_name(named) || (named.is_array() && std::ranges::any_of(named, is_name));
}

// The only supported exceptions are modules that stay unquantised.
void check_gptq_exceptions(const JsonObject& scheme) {
  const auto dynamic = scheme.find_object("dynamic");
  if (!dynamic) return;
  for (const std::string& pattern : dynamic->keys())
    if (!pattern.starts_with("-:")) dynamic->fail_at(pattern, "other options for some modules are not supported");
}

GptqOptions gptq_options(const JsonObject& scheme) {
  check_keys(scheme, {"quant_method",
                      "bits",
                      "group_size",
                      "desc_act",
                      "act_group_aware",
                      "sym",
                      "damp_percent",
                      "damp_auto_increment",
                      "true_sequential",
                      "static_groups",
                      "format",
                      "checkpoint_format",
                      "pack_dtype",
                      "model_name_or_path",
                      "model_file_base_name",
                      "is_marlin_format",
                      "lm_head",
                      "dynamic",
                      "meta",
                      "quantizer",
                      "dataset",
                      "tokenizer",
                      "backend",
                      "use_cuda_fp16",
                      "model_seqlen",
                      "block_name_to_quantize",
                      "module_name_preceding_first_block",
                      "batch_size",
                      "pad_token_id",
                      "use_exllama",
                      "max_input_length",
                      "exllama_config",
                      "disable_exllama",
                      "cache_block_outputs",
                      "modules_in_block_to_quantize",
                      "mse",
                      "rotation",
                      "parallel_packing",
                      "v2",
                      "v2_alpha",
                      "hyb_act",
                      "modules_to_not_convert"});
  check_gptq_exceptions(scheme);
  GptqOptions o;
  const std::int64_t bits = scheme.size("bits");
  if (bits != 2 && bits != 3 && bits != 4 && bits != 8)
    scheme.fail_at("bits", fmt::format("{} is not supported", bits), "supported: 2, 3, 4, 8");
  o.bits = static_cast<int>(bits);
  o.group_size = scheme.get<std::int64_t>("group_size", 128);
  if (o.group_size != -1 && o.group_size < 1)
    scheme.fail_at("group_size", fmt::format("{} is neither -1 nor above 0", o.group_size));
  if (scheme.get<bool>("is_marlin_format", false)) scheme.fail_at("is_marlin_format", "true is not supported");
  for (const char* key : {"checkpoint_format", "format"})
    if (const auto format = scheme.find<std::string>(key)) {
      if (*format != "gptq" && *format != "gptq_v2")
        scheme.fail_at(key, fmt::format("'{}' is not supported", printable(*format, 40)), "supported: gptq, gptq_v2");
      o.zeros_minus_one = *format == "gptq";
      break;
    }
  o.by_gptqmodel = is_by_gptqmodel(scheme);
  if (const auto packed = scheme.find<std::string>("pack_dtype"); packed && *packed != "int32")
    scheme.fail_at("pack_dtype", fmt::format("'{}' is not supported", printable(*packed, 40)), "supported: int32");
  if (scheme.has("rotation")) scheme.fail_at("rotation", "is not supported");
  return o;
}

struct GptqMatrix {
  const WeightView *numbers = nullptr, *zeros = nullptr, *scales = nullptr;
  std::vector<std::int32_t> group_of;  // [in]
  std::vector<bool> in_one_group;      // for each 32 inputs in turn: whether one group holds them
  std::int64_t out = 0, in = 0;
  GptqOptions options;

  void find_single_groups() {
    for (std::int64_t begin = 0; begin < in; begin += kInputs) {
      const auto groups = std::span(group_of).subspan(as_size(begin), as_size(std::min(kInputs, in - begin)));
      in_one_group.push_back(std::ranges::all_of(groups, [&](std::int32_t g) { return g == groups[0]; }));
    }
  }

  // Some outputs at a time: their rows are written from begin to end, while a line of the file's words is read once.
  void read(std::span<float> values) const {
    const std::vector<float> s = to_f32(*scales), z = zero_points();
    std::vector<float> levels;
    for (std::int64_t o = 0; o < out; o += kOutputs) {
      const std::int64_t width = std::min(kOutputs, out - o);
      levels.clear();
      if (options.bits <= kTabledBits)
        for (std::int64_t j = 0; j < width; ++j) append_levels(o + j, s, z, levels);
      round_to(scales->dtype, levels);
      const auto levels_of = [&](std::int64_t j) {
        return std::span<const float>(levels).subspan(levels.size() / as_size(width) * as_size(j));
      };
      for (std::int64_t begin = 0; begin < in; begin += kInputs) {
        if (options.bits == kTabledBits && in_one_group[as_size(begin / kInputs)]) {
          for (std::int64_t j = 0; j < width; ++j) look_up_words(begin, o + j, levels_of(j), values);
          continue;
        }
        for_numbers(begin, {o, o + width}, [&](std::int64_t j, std::span<const std::int32_t> q) {
          const std::span<float> row = values.subspan(as_size((o + j) * in + begin), q.size());
          if (levels.empty())
            dequantize(begin, o + j, q, s, z, row);
          else
            look_up(begin, levels_of(j), q, row);
        });
      }
    }
  }

 private:
  static constexpr std::int64_t kInputs = 32, kOutputs = 16;
  static constexpr int kTabledBits = 4;  // a group has more inputs than numbers of so many bits have values

  // What each number of `bits` bits stands for in each group of an output.
  void append_levels(std::int64_t o, const std::vector<float>& s, const std::vector<float>& z,
                     std::vector<float>& levels) const {
    for (std::int64_t at = o; at < std::ssize(s); at += out)
      for (int q = 0; q < 1 << options.bits; ++q)
        levels.push_back(element(s, at) * (static_cast<float>(q) - element(z, at)));
  }

  // Calls visit(j, numbers) with the numbers of output j of some, of the 32 inputs from `begin`: `bits` whole words of a column.
  template <class Visit>
  void for_numbers(std::int64_t begin, std::pair<std::int64_t, std::int64_t> outputs, const Visit& visit) const {
    const std::int64_t count = std::min(kInputs, in - begin), words = (count * options.bits + 31) / 32;
    const auto [first, last] = outputs;
    std::uint32_t block[8][kOutputs];
    for (std::int64_t k = 0; k < options.bits; ++k)
      for (std::int64_t j = 0; j < last - first; ++j)
        block[k][j] =
            k < words ? number_at<std::uint32_t>(*numbers, (begin * options.bits / 32 + k) * out + first + j) : 0;
    std::array<std::int32_t, kInputs> q;
    for (std::int64_t j = 0; j < last - first; ++j) {
      unpack([&](std::int64_t k) { return block[k][j]; }, options.bits, std::span(q));
      visit(j, std::span<const std::int32_t>(q).first(as_size(count)));
    }
  }

  // Up to 32 inputs of output o, from `begin`, that are in one group: four words of its column.
  void look_up_words(std::int64_t begin, std::int64_t o, std::span<const float> levels, std::span<float> values) const {
    constexpr std::int64_t in_word = 32 / kTabledBits, word = sizeof(std::uint32_t);
    const std::int64_t first = begin / in_word * out + o;
    kern::look_up_words(&levels[as_size(std::int64_t{group_of[as_size(begin)]} << kTabledBits)],
                        {.first = numbers->bytes.data() + first * word,
                         .distance = as_size(out * word),
                         .count = as_size(std::min(kInputs, in - begin) / in_word)},
                        &values[as_size(o * in + begin)]);
  }

  void look_up(std::int64_t begin, std::span<const float> levels, std::span<const std::int32_t> q,
               std::span<float> row) const {
    const std::int32_t* const groups = &group_of[as_size(begin)];
    const auto of = [&](std::int32_t g) { return levels.data() + (std::ptrdiff_t{g} << options.bits); };
    if (in_one_group[as_size(begin / kInputs)]) {
      const float* const level = of(groups[0]);
      for (std::size_t i = 0; i < q.size(); ++i) row[i] = level[q[i]];
    } else {
      for (std::size_t i = 0; i < q.size(); ++i) row[i] = of(groups[i])[q[i]];
    }
  }

  void dequantize(std::int64_t begin, std::int64_t o, std::span<const std::int32_t> q, const std::vector<float>& s,
                  const std::vector<float>& z, std::span<float> row) const {
    for (std::int64_t i = 0; i < std::ssize(q); ++i) {
      const std::int64_t at = element(group_of, begin + i) * out + o;
      element(row, i) = element(s, at) * (static_cast<float>(element(q, i)) - element(z, at));
    }
    round_to(scales->dtype, row);
  }

  // What GPTQModel adds to the three words that 32 numbers of 3 bits fill, and subtracts from them when it writes. In the first and the
  // third it is not one for each number; as it is the same both ways, the zeros are those that it began with.
  static constexpr std::array<std::uint32_t, 3> kAddedTo3Bits{0x24924924u, 0x92492492u, 0x49249249u};

  // Format 1 subtracts one from each zero: AutoGPTQ before it packs them, GPTQModel from whole words, with a carry between numbers.
  std::vector<float> zero_points() const {
    const std::int64_t groups = scales->shape[0], words = zeros->shape[1];
    const std::uint32_t mask = (1u << options.bits) - 1u;
    const bool in_words = 32 % options.bits == 0 || options.by_gptqmodel;
    const auto added_to_word = [&](std::int64_t k) {
      if (!options.zeros_minus_one || !in_words) return 0u;
      return 32 % options.bits == 0 ? 0xffffffffu / mask : element(kAddedTo3Bits, k % 3);
    };
    const std::uint32_t added_to_number = options.zeros_minus_one && !in_words ? 1 : 0;
    std::vector<float> z;
    z.reserve(static_cast<std::size_t>(groups * out));
    for (std::int64_t g = 0; g < groups; ++g)
      for (std::int64_t o = 0; o < out; ++o) {
        const auto word = [&](std::int64_t k) {
          return number_at<std::uint32_t>(*zeros, g * words + k) + added_to_word(k);
        };
        z.push_back(static_cast<float>((packed_number(word, o, options.bits) + added_to_number) & mask));
      }
    return z;
  }
};

std::vector<std::int32_t> groups_of_inputs(QuantizedTensors& tensors, const std::string& module, const GptqMatrix& m) {
  const std::int64_t groups = m.scales->shape[0];
  const WeightView* const given = tensors.find_part(module + ".g_idx");
  if (given && given->elements() > 0) {
    std::vector<std::int32_t> list = to_i32(tensors.part(given->name, StoredType::i32, {m.in}));
    for (const std::int32_t g : list)
      if (g < 0 || g >= groups)
        tensors.fail_at(given->name, fmt::format("has the group {}, but there are {}", g, groups));
    return list;
  }
  const std::int64_t width = m.options.group_size == -1 ? m.in : m.options.group_size;
  if ((m.in - 1) / width + 1 != groups)
    tensors.fail_at(m.scales->name, fmt::format("has {} groups, but {} inputs in groups of {}", groups, m.in, width));
  std::vector<std::int32_t> list;
  for (std::int64_t i = 0; i < m.in; ++i) list.push_back(static_cast<std::int32_t>(i / width));
  return list;
}

}  // namespace

void read_gptq(const JsonObject& scheme, QuantizedTensors& tensors) {
  const GptqOptions options = gptq_options(scheme);
  for (const std::string& module : tensors.names_before(".qweight")) {
    auto m = std::make_shared<GptqMatrix>();
    m->options = options;
    m->numbers = &tensors.part(module + ".qweight");
    m->zeros = &tensors.part(module + ".qzeros");
    m->scales = &tensors.part(module + ".scales");
    tensors.check_matrix(*m->numbers), tensors.check_matrix(*m->scales);
    const std::int64_t words = m->numbers->shape[0];
    m->out = m->scales->shape[1];
    m->in = words * 32 / options.bits;
    tensors.part(m->numbers->name, StoredType::i32, {words, m->out});
    tensors.part(m->zeros->name, StoredType::i32, {m->scales->shape[0], (m->out * options.bits + 31) / 32});
    if (words * 32 % options.bits != 0 || !is_floating(m->scales->dtype))
      tensors.fail_at(m->numbers->name,
                      fmt::format("has {} words, which do not hold numbers of {} bits, or scales of type {}", words,
                                  options.bits, m->scales->type_name()));
    m->group_of = groups_of_inputs(tensors, module, *m);
    m->find_single_groups();
    tensors.add(module + ".weight", {m->out, m->in}, *m->numbers, [m](std::span<float> out) { m->read(out); });
  }
}

}  // namespace tril::model
