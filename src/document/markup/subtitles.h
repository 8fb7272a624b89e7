// Subtitles: SubRip (.srt) and WebVTT (.vtt).
//
// A sentence may span several cues. These are one segment, and the translation is divided among them in proportion to their
// source text, so that every cue keeps its time. A cue with two speakers, whose lines begin with a dash, has a segment for
// each line.
#pragma once

#include <memory>
#include <string>

#include "document/segments/document.h"

namespace tril::document {

/// Translated cues are wrapped at 42 characters, or at the length of the source's longest line. Tags (<i>, <v Anna>, {\an8})
/// are marks; one that spans several cues is closed and opened again between them.
/// @throws Error if no line has the form of a cue's time
std::unique_ptr<Document> read_srt(std::string text, const std::string& where);
/// As above; notes, styles and regions are kept. @throws Error if the first line is not WEBVTT
std::unique_ptr<Document> read_vtt(std::string text, const std::string& where);

}  // namespace tril::document
