#include "tokenizer/pipeline/piece_decoder.h"

#include <algorithm>
#include <array>

#include "tokenizer/pipeline/growth.h"
#include "unicode/characters.h"
#include "unicode/trim.h"

namespace tril {
namespace {

using List = std::vector<std::string>;

// Converts letters back to bytes; a piece with other characters stays unchanged.
List from_letters(const List& pieces, bool drop_invalid) {
  std::string bytes;
  for (const std::string& piece : pieces) {
    const std::size_t before = bytes.size();
    for (std::size_t at = 0; at < piece.size();) {
      const Character c = character_at(piece, at);
      const int byte = byte_of_letter(c.code);
      if (byte < 0) {
        bytes.resize(before);
        bytes += piece;
        break;
      }
      bytes += static_cast<char>(byte);
      at += c.length;
    }
  }
  return {drop_invalid ? without_invalid_utf8(bytes) : valid_utf8(bytes)};
}

List from_metaspace(List pieces, const DecodeMetaspace& how) {
  for (std::size_t i = 0; i < pieces.size(); ++i)
    replace_all(pieces[i], how.mark, i == 0 && how.prepend != PrependScheme::never ? "" : " ");
  return pieces;
}

int hex(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

// A run of byte pieces becomes characters, with U+FFFD for invalid bytes only: one broken byte does not affect the characters
// around it, so that a streamed text need not be revised. The `tokenizers` library would write U+FFFD for the whole run.
List from_bytes(List pieces) {
  List out;
  std::string bytes;
  const auto flush = [&] {
    if (!bytes.empty()) out.push_back(valid_utf8(bytes));
    bytes.clear();
  };
  for (std::string& piece : pieces) {
    if (const int byte = byte_of_piece(piece); byte >= 0) {
      bytes += static_cast<char>(byte);
      continue;
    }
    flush();
    out.push_back(std::move(piece));
  }
  flush();
  return out;
}

List fused(const List& pieces) {
  std::string text;
  for (const std::string& piece : pieces) text += piece;
  return {std::move(text)};
}

List stripped(List pieces, const StripPiece& how) {
  for (std::string& piece : pieces) {
    std::string_view text = piece;
    for (std::size_t n = 0; n < how.start && text.starts_with(how.character); ++n)
      text.remove_prefix(how.character.size());
    for (std::size_t n = 0; n < how.stop && text.ends_with(how.character); ++n)
      text.remove_suffix(how.character.size());
    piece = std::string(text);
  }
  return pieces;
}

List from_wordpiece(List pieces, const DecodeWordPiece& how) {
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    std::string& piece = pieces[i];
    if (i > 0 && piece.starts_with(how.prefix))
      piece.erase(0, how.prefix.size());
    else if (i > 0)
      piece.insert(0, 1, ' ');
    if (!how.cleanup) continue;
    replace_all(piece, " do not", " don't");
    clean_up_spaces(piece);
  }
  return pieces;
}

List without_suffix(List pieces, const DecodeSuffix& how) {
  for (std::size_t i = 0; i < pieces.size(); ++i)
    if (!how.suffix.empty()) replace_all(pieces[i], how.suffix, i + 1 == pieces.size() ? "" : " ");
  return pieces;
}

// Every match replaced, until there are more than `most` bytes.
std::string replaced(std::string_view text, const ReplaceText& how, const Regex* regex, std::size_t most) {
  std::vector<std::pair<std::size_t, std::size_t>> matches;
  if (regex) {
    regex->find_all(text, matches);
  } else {
    const std::string& wanted = how.pattern.text;
    for (std::size_t at = text.find(wanted); at != text.npos; at = text.find(wanted, at + wanted.size()))
      matches.emplace_back(at, at + wanted.size());
  }
  std::string out;
  std::size_t at = 0;
  for (const auto& [begin, end] : matches) {
    out.append(text.substr(at, begin - at)).append(how.content);
    if (out.size() > most) return out;
    at = end;
  }
  return out.append(text.substr(at));
}

}  // namespace

int byte_of_piece(std::string_view piece) {
  if (piece.size() != 6 || !piece.starts_with("<0x") || piece.back() != '>') return -1;
  const int high = hex(piece[3]), low = hex(piece[4]);
  return high < 0 || low < 0 ? -1 : high * 16 + low;
}

void replace_all(std::string& text, std::string_view from, std::string_view to) {
  std::size_t at = text.find(from);
  if (at == text.npos) return;
  std::string out;
  std::size_t done = 0;
  for (; at != text.npos; at = text.find(from, done)) {
    out.append(text, done, at - done).append(to);
    done = at + from.size();
  }
  text = out.append(text, done);
}

void clean_up_spaces(std::string& text) {
  constexpr std::array<std::array<std::string_view, 2>, 10> rules = {{{" .", "."},
                                                                      {" ?", "?"},
                                                                      {" !", "!"},
                                                                      {" ,", ","},
                                                                      {" ' ", "'"},
                                                                      {" n't", "n't"},
                                                                      {" 'm", "'m"},
                                                                      {" 's", "'s"},
                                                                      {" 've", "'ve"},
                                                                      {" 're", "'re"}}};
  for (const auto& [from, to] : rules) replace_all(text, from, to);
}

PieceDecoder::PieceDecoder(const std::vector<DecoderStep>& steps, const std::string& where)
    : steps_(steps), where_(where) {
  for (const DecoderStep& step : steps) {
    regex_of_.push_back(regexes_.size());
    const auto* replace = std::get_if<ReplaceText>(&step);
    if (replace && (replace->pattern.regex || replace->pattern.text.empty()))
      regexes_.emplace_back(replace->pattern.text, where);
  }
  regex_of_.push_back(regexes_.size());
}

std::string PieceDecoder::decode(List pieces) const {
  if (steps_.empty()) {
    std::string text;
    for (std::size_t i = 0; i < pieces.size(); ++i) text.append(i == 0 ? "" : " ").append(pieces[i]);
    return text;
  }
  std::size_t bytes = 0;
  for (const std::string& piece : pieces) bytes += piece.size();
  for (std::size_t i = 0; i < steps_.size(); ++i) {
    struct Apply {
      List& pieces;
      const Regex* regex;
      const std::string& where;
      std::size_t bytes;  // of all pieces before the first step
      List operator()(const DecodeByteLevel& s) const { return from_letters(pieces, s.drop_invalid); }
      List operator()(const DecodeMetaspace& s) const { return from_metaspace(std::move(pieces), s); }
      List operator()(const DecodeByteFallback&) const { return from_bytes(std::move(pieces)); }
      List operator()(const FusePieces&) const { return fused(pieces); }
      List operator()(const StripPiece& s) const { return stripped(std::move(pieces), s); }
      List operator()(const DecodeWordPiece& s) const { return from_wordpiece(std::move(pieces), s); }
      List operator()(const DecodeSuffix& s) const { return without_suffix(std::move(pieces), s); }
      List operator()(const ReplaceText& s) const {
        std::size_t now = 0;
        for (std::string& piece : pieces) {
          piece = replaced(piece, s, regex, most_grown(bytes));
          now += piece.size();
          if (now > most_grown(bytes)) refuse_growth(where, "the decoders", bytes);
        }
        return std::move(pieces);
      }
    };
    const Regex* const regex = regex_of_[i] < regex_of_[i + 1] ? &regexes_[regex_of_[i]] : nullptr;
    pieces = std::visit(Apply{pieces, regex, where_, bytes}, steps_[i]);
  }
  return fused(pieces).front();
}

}  // namespace tril
