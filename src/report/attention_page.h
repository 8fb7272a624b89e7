// What `tril attend` writes of one sentence: a page (page.h) in which the reader chooses attention, layer, head and
// token, and a picture of everything at once.
#pragma once

#include <span>
#include <string>
#include <utility>
#include <vector>

#include "decode/texts/attention_maps.h"

namespace tril::train {

/// A line of what stands above the maps: {"source", "A dog runs."}.
using Fact = std::pair<std::string, std::string>;

/// @param maps  at least one, each with a layer
std::string attention_page(std::span<const Fact> facts, std::span<const search::AttentionMaps> maps);

/// SVG: of each attention the mean of all heads with its tokens, and beside it every head by layer, small.
std::string attention_svg(std::span<const Fact> facts, std::span<const search::AttentionMaps> maps);

}  // namespace tril::train
