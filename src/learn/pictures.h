// The pictures of the chapters, drawn from the engine's numbers: `tril learn draw N`.
#pragma once

#include <string>
#include <vector>

#include "learn/drawing.h"
#include "learn/language.h"

namespace tril::learn {

/// A loss curve of chapter 12: its name, and a loss for each recorded update.
struct Curve {
  std::string name;
  std::vector<Point> points;
};

constexpr int chapter_of_curves = 12;  ///< the one whose picture shows curves that were measured

/// SVG. @param curves  for chapter_of_curves, and for no other. @throws Error(usage)
std::string picture(int chapter, Language l, const std::vector<Curve>& curves = {});

/// Reads lines "name <tab> update <tab> loss" (examples/training_tricks.cpp). @throws Error naming the line
std::vector<Curve> read_curves(const std::string& path);

// By chapters; called by picture().
std::string picture_of_ids(Language l);
std::string picture_of_positions(Language l);
std::string picture_of_a_head(Language l);
std::string picture_of_the_mask(Language l);
std::string picture_of_heads(Language l);
std::string picture_of_residuals(Language l);
std::string picture_of_feed_forward(Language l);
std::string picture_of_cross_attention(Language l);
std::string picture_of_the_decoder(Language l);
std::string picture_of_the_loss(Language l);
std::string picture_of_gradients(Language l);
std::string picture_of_training(Language l, const std::vector<Curve>& curves);
std::string picture_of_decoding(Language l);
std::string picture_of_changes(Language l);

}  // namespace tril::learn
