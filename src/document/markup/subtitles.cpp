#include "document/markup/subtitles.h"

#include <algorithm>
#include <cctype>
#include <optional>

#include "base/error.h"
#include "document/markup/html.h"
#include "document/segments/html_tags.h"
#include "document/segments/segment_builder.h"
#include "document/segments/words.h"
#include "unicode/trim.h"

namespace tril::document {
namespace {

constexpr std::size_t usual_width = 42;  // characters of a line, as broadcasters have it
constexpr double longest_pause = 3;      // seconds between cues of one sentence
constexpr std::size_t most_joined = 8;   // cues of one segment

std::string escape_vtt(std::string_view text, const Slot&) {
  return html_escaped(text);
}

// "01:02:03,456" or "02:03.456" in seconds, at the start of a text.
std::optional<double> seconds_of(std::string_view text) {
  double whole = 0, part = 0, share = 1;
  std::size_t at = 0;
  int colons = 0;
  const auto digit = [&] { return at < text.size() && std::isdigit(static_cast<unsigned char>(text[at])) != 0; };
  for (;; ++at, ++colons) {
    if (!digit() || colons > 2) return std::nullopt;
    double number = 0;
    for (; digit(); ++at) number = number * 10 + (text[at] - '0');
    whole = whole * 60 + number;
    if (at >= text.size() || text[at] != ':') break;
  }
  if (colons == 0) return std::nullopt;
  if (at < text.size() && (text[at] == ',' || text[at] == '.'))
    for (++at; digit(); ++at) part = part * 10 + (text[at] - '0'), share *= 10;
  return whole + part / share;
}

struct CueTime {
  double begin, end;
};

std::optional<CueTime> cue_time(std::string_view line) {
  const std::size_t arrow = line.find("-->");
  if (arrow == std::string_view::npos) return std::nullopt;
  const auto begin = seconds_of(trim(line.substr(0, arrow))), end = seconds_of(trim(line.substr(arrow + 3)));
  if (!begin || !end) return std::nullopt;
  return CueTime{*begin, *end};
}

// The text without tags.
std::string bare_text(std::string_view text) {
  std::string s;
  for (std::size_t at = 0; at < text.size();) {
    const bool opens = text[at] == '<' || text.substr(at, 2) == "{\\";
    const std::size_t end = opens ? text.find(text[at] == '<' ? '>' : '}', at) : std::string_view::npos;
    if (end == std::string_view::npos)
      s += text[at++];
    else
      at = end + 1;
  }
  return s;
}

bool begins_with_dash(std::string_view text) {
  const std::string bare = bare_text(text);
  const std::string_view t = trim(bare);
  return t.starts_with('-') || t.starts_with("\u2013") || t.starts_with("\u2014");
}

// Whether the next cue does not go on with this sentence.
bool ends_sentence(std::string_view text) {
  const std::string bare = bare_text(text);
  std::string_view t = trim(bare);
  for (bool changed = true; changed;) {
    changed = false;
    for (const std::string_view quote : {"\"", "'", ")", "]", "\u201d", "\u2019", "\u00bb", "\u300d", "\u300f"})
      if (t.ends_with(quote)) t.remove_suffix(quote.size()), changed = true;
  }
  if (t.empty()) return true;
  for (const std::string_view mark :
       {".", "!", "?", ":", "\u2026", "\u3002", "\uff01", "\uff1f", "\u061f", "\u06d4", "\u0964", "\u266a", "]", ")"})
    if (t.ends_with(mark)) return true;
  return false;
}
bool begins_anew(std::string_view text) {
  const std::string bare = bare_text(text);
  const std::string_view t = trim(bare);
  return begins_with_dash(t) || t.starts_with("\u266a") || t.starts_with('[') || t.starts_with('(');
}

// Divides a translated segment at its cues and wraps their lines.
class CueWriting {
 public:
  CueWriting(const Segment& source, const Segment& translated, std::size_t width, std::string_view line_end)
      : source_(source), translated_(translated), width_(width), line_end_(line_end) {}

  Segment run() {
    const std::string& text = translated_.text;
    std::size_t begin = 0;
    for (std::size_t cue = 0; cue <= source_.breaks.size(); ++cue) {
      const std::size_t end = cue < source_.breaks.size() ? std::min(text.find('\n', begin), text.size()) : text.size();
      if (cue > 0) result_.text += '\n', result_.breaks.push_back(source_.breaks[cue - 1]);
      add({std::min(begin, text.size()), end});
      begin = end + 1;
    }
    return std::move(result_);
  }

 private:
  void add(Range cue) {
    std::string text = translated_.text.substr(cue.begin, std::max(cue.end, cue.begin) - cue.begin);
    std::replace(text.begin(), text.end(), '\n', ' ');
    const std::size_t from = result_.text.size();
    const std::vector<Mark>& marks = translated_.marks;
    std::vector<std::int32_t> number(marks.size(), -1);
    for (std::size_t m = 0; m < marks.size(); ++m) {
      const Range at = marks[m].at;
      const bool first_part = at.begin >= cue.begin && at.begin <= cue.end && !taken(m);
      const Range part{std::max(at.begin, cue.begin), std::min(at.end, cue.end)};
      if (part.begin >= part.end && !(at.empty() && first_part)) continue;
      done_.push_back(m);
      Mark mark = marks[m];
      mark.at = {part.begin - cue.begin + from, part.end - cue.begin + from};
      mark.parent = mark.parent < 0 ? -1 : number[static_cast<std::size_t>(mark.parent)];
      number[m] = static_cast<std::int32_t>(result_.marks.size());
      result_.marks.push_back(std::move(mark));
    }
    wrap(text);
    result_.text += text;
  }
  bool taken(std::size_t mark) const { return std::find(done_.begin(), done_.end(), mark) != done_.end(); }

  // Lines of about the same length.
  void wrap(std::string& text) {
    const std::size_t length = characters_in(text);
    const std::size_t lines = (length + width_ - 1) / width_;
    std::size_t last = 0;
    for (std::size_t line = 1; line < lines; ++line) {
      const std::size_t wanted = line * text.size() / lines;
      const std::size_t after = text.find(' ', wanted), before = text.rfind(' ', wanted);
      std::size_t place = after;
      if (before != std::string::npos && before > last &&
          (after == std::string::npos || wanted - before <= after - wanted))
        place = before;
      if (place == std::string::npos || place <= last) continue;
      text[place] = '\n';
      result_.breaks.emplace_back(line_end_);
      last = place;
    }
  }

  const Segment& source_;
  const Segment& translated_;
  std::size_t width_;
  std::string_view line_end_;
  Segment result_;
  std::vector<std::size_t> done_;  ///< marks that have a part
};

class SubtitleDocument final : public Document {
 public:
  SubtitleDocument(std::string text, bool is_vtt)
      : file_(std::move(text)),
        bytes_(file_.bytes()),
        is_vtt_(is_vtt),
        tags_(bytes_),
        builder_(file_, {LineEnds::break_lines, Worth::letters, is_vtt ? &escape_vtt : nullptr}) {
    line_end_ = bytes_.find("\r\n") != std::string_view::npos ? "\r\n" : "\n";
  }

  /// @return whether there is a cue
  bool read() {
    std::optional<CueTime> time;
    std::vector<Range> lines;
    bool any = false;
    for (std::size_t at = 0; at < bytes_.size();) {
      const std::size_t end = std::min(bytes_.find('\n', at), bytes_.size());
      const Range line{at, end > at && bytes_[end - 1] == '\r' ? end - 1 : end};
      const std::string_view text = bytes_.substr(line.begin, line.size());
      at = end + 1;
      if (time && is_blank(text)) {
        cue(*time, lines);
        time.reset(), lines.clear();
      } else if (time) {
        lines.push_back(line);
      } else {
        time = cue_time(text);
        any = any || time;
      }
    }
    if (time) cue(*time, lines);
    end_segment();
    segments_ = file_.segments();
    for (Segment& s : segments_) s.keeps_breaks = true;
    return any;
  }

  std::string write(std::span<const Segment> translated) const override {
    std::vector<Segment> list;
    for (std::size_t s = 0; s < segments_.size(); ++s)
      list.push_back(translated[s] == segments_[s]
                         ? file_.segments()[s]
                         : CueWriting(segments_[s], translated[s], widths_[s], line_end_).run());
    return file_.write(list);
  }

 private:
  void end_segment() {
    const std::size_t before = file_.segments().size();
    builder_.end();
    if (file_.segments().size() > before) widths_.push_back(width_);
    width_ = usual_width, joined_ = 0;
    last_end_.reset();
  }

  void cue(const CueTime& time, const std::vector<Range>& lines) {
    if (lines.empty()) return;
    const auto text_of = [&](Range r) { return bytes_.substr(r.begin, r.size()); };
    const std::string_view all = bytes_.substr(lines.front().begin, lines.back().end - lines.front().begin);
    const bool dialogue = lines.size() > 1 && begins_with_dash(text_of(lines[1]));
    const bool goes_on = last_end_ && time.begin - last_time_ < longest_pause && joined_ < most_joined && !dialogue &&
                         !begins_anew(all) && !builder_.is_full();
    if (goes_on)
      builder_.line_break({*last_end_, lines.front().begin});
    else
      end_segment();
    for (std::size_t l = 0; l < lines.size(); ++l) {
      if (l > 0 && dialogue && begins_with_dash(text_of(lines[l])))
        end_segment();
      else if (l > 0)
        builder_.character({lines[l - 1].end, lines[l].begin}, " ", false);
      width_ = std::max(width_, characters_in(bare_text(text_of(lines[l]))));
      words(lines[l]);
    }
    ++joined_;
    last_end_ = lines.back().end, last_time_ = time.end;
    if (dialogue || ends_sentence(all)) end_segment();
  }

  // The bytes of the tag at `at`; 0: none.
  std::size_t tag_size(std::size_t at, std::size_t end) const {
    const std::string_view rest = bytes_.substr(at, end - at);
    const bool tag =
        rest[0] == '<' && rest.size() > 2 && (std::isalnum(static_cast<unsigned char>(rest[1])) != 0 || rest[1] == '/');
    if (!tag && !rest.starts_with("{\\")) return 0;
    const std::size_t close = rest.find(tag ? '>' : '}');
    return close == std::string_view::npos ? 0 : close + 1;
  }
  void words(Range line) {
    std::size_t done = line.begin;
    const auto plain = [&](std::size_t end) {
      if (done < end) builder_.plain({done, end});
    };
    for (std::size_t at = line.begin; at < line.end;) {
      const std::size_t size = bytes_[at] == '<' || bytes_[at] == '{' ? tag_size(at, line.end) : 0;
      if (size > 0) {
        plain(at);
        mark({at, at + size});
        done = at += size;
        continue;
      }
      const std::string_view rest = bytes_.substr(at, line.end - at);
      bool known = false;
      if (is_vtt_)
        for (const auto& [name, text] : {std::pair<std::string_view, std::string_view>{"&amp;", "&"},
                                         {"&lt;", "<"},
                                         {"&gt;", ">"},
                                         {"&nbsp;", "\u00a0"}})
          if (!known && rest.starts_with(name)) {
            plain(at);
            builder_.character({at, at + name.size()}, text);
            done = at += name.size();
            known = true;
          }
      if (!known) ++at;
    }
    plain(line.end);
  }
  void mark(Range raw) {
    const auto tag = tags_.at(raw.begin);
    if (!tag || tag->size != raw.size() || tag->name.empty() || tag->alone) return builder_.point(raw);
    const std::string name = tag->name.substr(0, tag->name.find('.'));  // <c.yellow>
    tag->closing ? builder_.close(raw, name) : builder_.open(raw, name);
  }

  TextDocument file_;
  std::string_view bytes_;
  bool is_vtt_;
  HtmlTags tags_;
  SegmentBuilder builder_;
  std::string line_end_;
  std::vector<std::size_t> widths_;  ///< of each segment: the most characters of a line
  std::size_t width_ = usual_width, joined_ = 0;
  std::optional<std::size_t> last_end_;  ///< of the text of the cue before, if a sentence may go on
  double last_time_ = 0;
};

}  // namespace

std::unique_ptr<Document> read_srt(std::string text, const std::string& where) {
  auto document = std::make_unique<SubtitleDocument>(std::move(text), false);
  if (!document->read())
    fail(where, "no line has the form of a cue's time", "a SubRip file has lines like 00:00:01,000 --> 00:00:02,500");
  return document;
}

std::unique_ptr<Document> read_vtt(std::string text, const std::string& where) {
  std::string_view begin = text;
  if (begin.starts_with("\xef\xbb\xbf")) begin.remove_prefix(3);
  if (!begin.starts_with("WEBVTT")) fail(where, "its first line is not WEBVTT", "a SubRip file has the extension .srt");
  auto document = std::make_unique<SubtitleDocument>(std::move(text), true);
  document->read();
  return document;
}

}  // namespace tril::document
