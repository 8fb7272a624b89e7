#include "report/attention_page.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <nlohmann/json.hpp>

#include "base/element.h"
#include "base/error.h"
#include "base/printable.h"
#include "format/base64.h"
#include "format/json_text.h"
#include "report/page.h"

namespace tril::train {
namespace {

using Json = nlohmann::ordered_json;

// 65535 * weight, rounded, as two bytes each, little-endian.
std::vector<std::uint8_t> two_bytes(const std::vector<float>& weights) {
  std::vector<std::uint8_t> bytes;
  for (float w : weights) {
    const auto code = static_cast<std::uint32_t>(std::lround(65535 * std::clamp(w, 0.0f, 1.0f)));
    bytes.push_back(static_cast<std::uint8_t>(code & 255));
    bytes.push_back(static_cast<std::uint8_t>(code >> 8));
  }
  return bytes;
}

// --- the picture ---

constexpr std::string_view ground = "#ffffff", ink = "#1b1f24", soft = "#5b6573", grid_line = "#aab3bf";
constexpr int shades = 32;

// From white to a deep blue, like the page's light theme.
std::string shade(int step) {
  const double t = static_cast<double>(step) / shades;
  const auto mix = [&](double low, double high) { return static_cast<int>(std::lround(low + (high - low) * t)); };
  return fmt::format("#{:02x}{:02x}{:02x}", mix(255, 8), mix(255, 48), mix(255, 107));
}

// Escapes text for a document: no markup, no invisible characters.
std::string escaped(const std::string& text) {
  std::string out;
  for (char ch : printable(text, 4 * text.size() + 16)) switch (ch) {
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '&':
        out += "&amp;";
        break;
      case '"':
        out += "&quot;";
        break;
      default:
        out += ch;
    }
  return out;
}

std::size_t letters(const std::string& text) {
  return static_cast<std::size_t>(std::count_if(
      text.begin(), text.end(), [](char byte) { return (static_cast<unsigned char>(byte) & 0xc0) != 0x80; }));
}

double width_of(const std::vector<std::string>& tokens) {
  std::size_t most = 1;
  for (const std::string& t : tokens) most = std::max(most, letters(printable(t)));
  return 7.0 * static_cast<double>(most) + 10;
}

class Picture {
 public:
  void text(double x, double y, const std::string& words, std::string_view more, std::string_view color = ink) {
    fmt::format_to(std::back_inserter(body_), "<text x=\"{:.1f}\" y=\"{:.1f}\" fill=\"{}\" {}>{}</text>\n", x, y, color,
                   more, escaped(words));
    right_ = std::max(right_, x), bottom_ = std::max(bottom_, y);
  }

  // A map of queries by keys, and where it stands.
  struct Map {
    double x, y, cell;
    std::span<const float> weights;
    std::span<const std::uint8_t> masked;  ///< as in AttentionMaps::Layer
    std::size_t keys;
    std::string title;
  };

  // Cells of one shade form one path; cells below half a shade are background. A masked cell has a diagonal line.
  void map(const Map& m) {
    const auto& [x, y, cell, weights, masked, keys, title] = m;
    const float top = std::max(1e-9f, *std::max_element(weights.begin(), weights.end()));
    std::string lines;
    for (std::size_t i = 0; i < masked.size(); ++i) {
      const std::size_t column = i % keys, row = i / keys;
      if (masked[i] != 0)
        fmt::format_to(std::back_inserter(lines), "M{:g} {:g}l{:g} -{:g}", static_cast<double>(column) * cell,
                       static_cast<double>(row + 1) * cell, cell, cell);
    }
    std::array<std::string, shades + 1> paths;
    for (std::size_t i = 0; i < weights.size(); ++i) {
      const std::size_t column = i % keys, row = i / keys;
      const auto step = static_cast<std::size_t>(std::lround(shades * weights[i] / top));
      if (step > 0)
        fmt::format_to(std::back_inserter(paths[step]), "M{:g} {:g}h{:g}v{:g}h-{:g}z",
                       static_cast<double>(column) * cell, static_cast<double>(row) * cell, cell, cell, cell);
    }
    const std::size_t rows = weights.size() / keys;
    const double width = cell * static_cast<double>(keys), height = cell * static_cast<double>(rows);
    fmt::format_to(std::back_inserter(body_), "<g transform=\"translate({:.1f} {:.1f})\"><title>{}</title>\n", x, y,
                   escaped(title));
    for (int step = 1; step <= shades; ++step)
      if (const std::string& path = element(paths, step); !path.empty())
        fmt::format_to(std::back_inserter(body_), "<path fill=\"{}\" d=\"{}\"/>\n", shade(step), path);
    if (!lines.empty())
      fmt::format_to(std::back_inserter(body_), "<path class=\"masked\" fill=\"none\" stroke=\"{}\" d=\"{}\"/>\n",
                     grid_line, lines);
    fmt::format_to(std::back_inserter(body_),
                   "<rect width=\"{:g}\" height=\"{:g}\" fill=\"none\" stroke=\"{}\"/></g>\n", width, height,
                   grid_line);
    right_ = std::max(right_, x + width), bottom_ = std::max(bottom_, y + height);
  }

  void widen(double right) { right_ = std::max(right_, right); }
  double bottom() const { return bottom_; }

  std::string svg() const {
    const double width = std::ceil(right_) + 20, height = std::ceil(bottom_) + 20;
    return fmt::format(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0:g}\" height=\"{1:g}\" viewBox=\"0 0 {0:g} {1:g}\" "
        "font-family=\"system-ui, 'DejaVu Sans', sans-serif\" font-size=\"12\">\n<rect width=\"100%\" height=\"100%\" "
        "fill=\"{2}\"/>\n{3}</svg>\n",
        width, height, ground, body_);
  }

 private:
  std::string body_;
  double right_ = 0, bottom_ = 0;
};

struct Titles {
  std::string_view map, rows, columns;
};

Titles titles_of(search::AttentionMaps::Kind kind) {
  switch (kind) {
    case search::AttentionMaps::Kind::cross:
      return {"Cross-attention", "target", "source"};
    case search::AttentionMaps::Kind::encoder:
      return {"Encoder self-attention", "source", "source"};
    case search::AttentionMaps::Kind::decoder:
      return {"Decoder self-attention", "target", "reads"};
    case search::AttentionMaps::Kind::self:
      break;
  }
  return {"Self-attention", "token", "reads"};
}

std::vector<float> mean_of_heads(const search::AttentionMaps& maps) {
  const std::size_t size = maps.queries.size() * maps.keys.size();
  std::vector<float> mean(size, 0.0f);
  for (const search::AttentionMaps::Layer& l : maps.layers)  // each layer has the same weight, as on the page
    for (std::size_t i = 0; i < l.weights.size(); ++i)
      mean[i % size] += l.weights[i] / static_cast<float>(l.heads) / static_cast<float>(maps.layers.size());
  return mean;
}

// The pairs that every layer masks; empty if there are none.
std::vector<std::uint8_t> masked_everywhere(const search::AttentionMaps& maps) {
  std::vector<std::uint8_t> masked = maps.layers.front().masked;
  for (const search::AttentionMaps::Layer& l : maps.layers)
    for (std::size_t i = 0; i < masked.size(); ++i)
      masked[i] = masked[i] != 0 && !l.masked.empty() && l.masked[i] != 0 ? 1 : 0;
  if (std::find(masked.begin(), masked.end(), 1) == masked.end()) masked.clear();
  return masked;
}

// The number in "layers.3.", counted from 1, else the position in the list.
std::string layer_title(const std::string& name, std::size_t index) {
  const std::string mark = "layers.";
  const std::size_t at = name.find(mark);
  const std::size_t number =
      at == std::string::npos ? index : static_cast<std::size_t>(std::stoul(name.substr(at + mark.size())));
  return fmt::format("layer {}", number + 1);
}

// Draws one attention from the height `y` on.
void draw(Picture& p, const search::AttentionMaps& maps, double y) {
  const Titles titles = titles_of(maps.kind);
  const std::size_t queries = maps.queries.size(), keys = maps.keys.size(), size = queries * keys;
  const double cell = std::clamp(420.0 / static_cast<double>(std::max(queries, keys)), 12.0, 24.0);
  const double left = 40 + width_of(maps.queries), slant = width_of(maps.keys);
  p.text(20, y + 20, std::string(titles.map), "font-size=\"16\" font-weight=\"600\"");
  const double top = y + 50 + 0.85 * slant;
  p.text(left + cell * static_cast<double>(keys) / 2, y + 42, std::string(titles.columns), "text-anchor=\"middle\"",
         soft);
  p.text(20, top - 8, std::string(titles.rows), "", soft);
  for (std::size_t k = 0; k < keys; ++k) {
    const double x = left + cell * (static_cast<double>(k) + 0.5) + 3;
    p.text(x, top - 6, maps.keys[k], fmt::format("transform=\"rotate(-55 {:.1f} {:.1f})\"", x, top - 6));
  }
  for (std::size_t q = 0; q < queries; ++q)
    p.text(left - 6, top + cell * (static_cast<double>(q) + 0.5) + 4, maps.queries[q], "text-anchor=\"end\"");
  const std::vector<float> mean = mean_of_heads(maps);
  const std::vector<std::uint8_t> masked = masked_everywhere(maps);
  p.map({left, top, cell, mean, masked, keys, "mean of all layers and heads"});
  p.text(left, top + cell * static_cast<double>(queries) + 18,
         fmt::format("mean of all layers and heads{}", masked.empty() ? "" : "; hatched: masked"), "", soft);

  // The heads are on the right, a row for each layer.
  const double small = std::clamp(90.0 / static_cast<double>(std::max(queries, keys)), 1.0, 6.0);
  const double column = std::max(60.0, small * static_cast<double>(keys)) + 14,
               row = std::max(30.0, small * static_cast<double>(queries)) + 14,
               first = left + cell * static_cast<double>(keys) + 0.6 * slant + 90;
  std::int64_t most = 0;
  for (std::size_t l = 0; l < maps.layers.size(); ++l) {
    const search::AttentionMaps::Layer& layer = maps.layers[l];
    const std::string of = layer_title(layer.name, l);
    const double at = top + row * static_cast<double>(l);
    p.text(first - 10, at + row / 2 - 3, of, "text-anchor=\"end\"", soft);
    for (std::int64_t h = 0; h < layer.heads; ++h) {
      const double x = first + column * static_cast<double>(h);
      if (h >= most) p.text(x, top - 8, fmt::format("head {}", h + 1), "", soft), most = h + 1;
      p.map({x, at, small, std::span(layer.weights).subspan(static_cast<std::size_t>(h) * size, size), layer.masked,
             keys, fmt::format("{}, head {}", of, h + 1)});
    }
  }
  p.widen(first + column * static_cast<double>(most));
}

}  // namespace

std::string attention_page(std::span<const Fact> facts, std::span<const search::AttentionMaps> maps) {
  check(!maps.empty(), "attention_page", "no maps");
  Json data{{"facts", Json::array()}, {"maps", Json::array()}};
  for (const auto& [name, text] : facts) data["facts"].push_back({name, text});
  for (const search::AttentionMaps& m : maps) {
    check(!m.layers.empty(), "attention_page", "an attention without layers");
    Json layers = Json::array();
    for (const search::AttentionMaps::Layer& l : m.layers) {
      layers.push_back({{"name", l.name}, {"heads", l.heads}, {"weights", to_base64(two_bytes(l.weights))}});
      if (!l.masked.empty()) layers.back()["masked"] = to_base64(l.masked_bits());
    }
    data["maps"].push_back({{"kind", name_of(m.kind)}, {"queries", m.queries}, {"keys", m.keys}, {"layers", layers}});
  }
  return assembled_page("attention_page.html", {"page.css", "attention_page.css"},
                        {"text.js", "maps.js", "attention_page.js"}, json_text(data));
}

std::string attention_svg(std::span<const Fact> facts, std::span<const search::AttentionMaps> maps) {
  Picture p;
  double y = 24;
  for (const auto& [name, text] : facts) {
    p.text(20, y, name, "", soft);
    p.text(110, y, text, "");
    p.widen(110 + 6.6 * static_cast<double>(letters(text)));
    y += 18;
  }
  for (const search::AttentionMaps& m : maps) {
    draw(p, m, y);
    y = p.bottom() + 24;
  }
  return p.svg();
}

}  // namespace tril::train
