#include "document/xml/xml_part.h"

#include <algorithm>
#include <charconv>

#include "document/markup/html.h"

namespace tril::document {
namespace {

constexpr char properties_sign = '\1', beside_sign = '\2', within_sign = '\3', end_sign = '\4';

std::string ranged(char sign, Range raw) {
  return sign + std::to_string(raw.begin) + "," + std::to_string(raw.end) + end_sign;
}

// Reads a number, and moves behind it and the character that ends it.
std::size_t take_number(std::string_view& codes) {
  std::size_t number = 0;
  const auto end = std::from_chars(codes.data(), codes.data() + codes.size(), number).ptr;
  codes.remove_prefix(static_cast<std::size_t>(end - codes.data()) + 1);
  return number;
}

// @param quote  around the text, if it is the value of an attribute
std::string escaped(std::string_view text, char quote) {
  std::string s;
  for (const char c : html_escaped(text))
    if (quote == '\0' || (c != quote && !(c == '\n' || c == '\r')))
      s += c;
    else
      s += c == quote ? (c == '"' ? "&quot;" : "&apos;") : " ";
  return s;
}

bool is_xml_space(char c) {
  return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

}  // namespace

std::string properties_code(std::size_t number) {
  return properties_sign + std::to_string(number) + end_sign;
}
std::string beside_runs_code(Range raw) {
  return ranged(beside_sign, raw);
}
std::string within_run_code(Range raw) {
  return ranged(within_sign, raw);
}

// Turns codes and escaped text into XML. Runs are opened when something stands in them, so none is empty.
class ParagraphWriter {
 public:
  ParagraphWriter(const XmlPart& part, const Paragraph& paragraph, std::span<const Segment> translated,
                  std::string& out)
      : part_(part), paragraph_(paragraph), names_(paragraph.names), translated_(translated), out_(out) {}

  void add(std::string_view codes) {
    while (!codes.empty()) {
      const char sign = codes[0];
      if (static_cast<unsigned char>(sign) >= 0x20 || is_xml_space(sign)) {
        const auto* const end = std::find_if(codes.begin(), codes.end(), [](char c) { return c >= '\1' && c <= '\4'; });
        const auto size = static_cast<std::size_t>(end - codes.begin());
        add_text(codes.substr(0, size));
        codes.remove_prefix(size);
        continue;
      }
      codes.remove_prefix(1);
      const std::size_t first = take_number(codes);
      if (sign == properties_sign) {
        properties_ = first;
        continue;
      }
      const Range raw{first, take_number(codes)};
      sign == beside_sign ? end_run() : begin_run();
      part_.write(raw, translated_, out_);
    }
  }

  void end_run() {
    end_text();
    if (in_run_) out_ += "</" + names_.run + ">";
    in_run_ = false;
  }

 private:
  void begin_run() {
    end_text();
    if (names_.run.empty()) return;
    if (in_run_ && run_ == properties_) return;
    end_run();
    const Range raw = properties_ < paragraph_.properties.size() ? paragraph_.properties[properties_] : Range{};
    if (names_.tagged_by_properties && raw.empty()) return;
    if (!names_.tagged_by_properties) out_ += "<" + names_.run + ">";
    out_.append(part_.bytes(), raw.begin, raw.size());
    in_run_ = true, run_ = properties_;
  }
  void add_text(std::string_view text) {
    if (!names_.run.empty() && (!in_run_ || run_ != properties_)) begin_run();
    names_.text.empty() ? out_ += text : text_ += text;
  }
  void end_text() {
    if (text_.empty()) return;
    const bool spaced = names_.says_space && (is_xml_space(text_.front()) || is_xml_space(text_.back()));
    out_ += "<" + names_.text + (spaced ? " xml:space=\"preserve\">" : ">") + text_ + "</" + names_.text + ">";
    text_.clear();
  }

  const XmlPart& part_;
  const Paragraph& paragraph_;
  const RunNames& names_;
  std::span<const Segment> translated_;
  std::string& out_;
  std::string text_;            ///< of an element that is not yet written
  std::size_t properties_ = 0;  ///< of the text that follows
  std::size_t run_ = 0;         ///< the properties of the open run
  bool in_run_ = false;
};

void XmlPart::add(Paragraph paragraph, std::vector<Segment> segments) {
  slots_.push_back({std::move(paragraph), segments_.size()});
  std::move(segments.begin(), segments.end(), std::back_inserter(segments_));
}

bool XmlPart::is_changed(const Slot& slot, std::span<const Segment> translated) const {
  for (std::size_t s = slot.first; s < slot.first + slot.paragraph.glue.size() - 1; ++s)
    if (!(translated[s] == segments_[s])) return true;
  return false;
}

void XmlPart::write(Range raw, std::span<const Segment> translated, std::string& out) const {
  std::size_t done = raw.begin;
  auto slot = std::lower_bound(slots_.begin(), slots_.end(), raw.begin,
                               [](const Slot& s, std::size_t begin) { return s.paragraph.at.begin < begin; });
  for (; slot != slots_.end() && slot->paragraph.at.begin < raw.end; ++slot) {
    const Paragraph& paragraph = slot->paragraph;
    if (paragraph.at.end > raw.end) continue;  // the paragraph around `raw`, which begins with it
    if (paragraph.at.begin < done || !is_changed(*slot, translated)) continue;
    out.append(bytes_, done, paragraph.at.begin - done);
    ParagraphWriter writer(*this, paragraph, translated, out);
    writer.add(paragraph.glue[0]);
    for (std::size_t s = 1; s < paragraph.glue.size(); ++s) {
      writer.add(rendered(translated[slot->first + s - 1],
                          [&](std::string_view text) { return escaped(text, paragraph.quote); }));
      writer.add(paragraph.glue[s]);
    }
    writer.end_run();
    done = paragraph.at.end;
  }
  out.append(bytes_, done, raw.end - done);
}

std::string XmlPart::write(std::span<const Segment> translated) const {
  std::string out;
  write({0, bytes_.size()}, translated, out);
  return out;
}

}  // namespace tril::document
