// Output of `tril attend` for one sentence: a page (page.h) on which the reader chooses attention, layer, head and
// token, and a picture of all of them.
#pragma once

#include <span>
#include <string>
#include <utility>
#include <vector>

#include "decode/texts/attention_maps.h"

namespace tril::train {

/// A line above the maps: {"source", "A dog runs."}.
using Fact = std::pair<std::string, std::string>;

/// @param maps  at least one, each with a layer
std::string attention_page(std::span<const Fact> facts, std::span<const search::AttentionMaps> maps);

/// SVG: for each attention, a map of the mean of all heads with its tokens, and small maps of each head, a row for each layer.
std::string attention_svg(std::span<const Fact> facts, std::span<const search::AttentionMaps> maps);

}  // namespace tril::train
