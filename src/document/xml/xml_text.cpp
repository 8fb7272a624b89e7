#include "document/xml/xml_text.h"

#include <algorithm>

#include "document/markup/html.h"
#include "document/segments/character_references.h"

namespace tril::document {
namespace {

class XmlTextReader {
 public:
  XmlTextReader(const TextDocument& document, const XmlTextStyle& style)
      : bytes_(document.bytes()),
        places_(bytes_),
        style_(style),
        builder_(bytes_,
                 {style.keeps_space ? LineEnds::are_text : LineEnds::break_lines, Worth::letters, style.escape}) {}

  std::vector<SlottedSegment> run(const pugi::xml_node& element) {
    inside(element);
    end();
    return std::move(segments_);
  }

 private:
  void end() {
    if (auto segment = builder_.take()) segments_.push_back(std::move(*segment));
  }

  void inside(const pugi::xml_node& element) {
    for (const pugi::xml_node node : element.children()) {
      const Range at = places_.whole(node);
      if (builder_.is_full()) end();
      if (node.type() == pugi::node_pcdata)
        style_.words(builder_, bytes_, at);
      else if (node.type() == pugi::node_cdata)
        cdata(at, node.value());
      else if (node.type() == pugi::node_element)
        take(node, at);
      else
        builder_.point(at);
    }
  }

  void cdata(Range at, std::string text) {
    if (style_.cdata_words) {
      end();
      style_.cdata_words(builder_, bytes_, {at.begin + 9, at.end - 3});
      auto segment = builder_.take();
      if (!segment) return;
      segment->slot.escape = style_.cdata_escape;
      segments_.push_back(std::move(*segment));
      return;
    }
    // One piece, so that no translation begins within it.
    if (!style_.keeps_space)
      for (const char end : {'\n', '\r'}) std::replace(text.begin(), text.end(), end, ' ');
    builder_.character(at, text, false);
  }

  void take(const pugi::xml_node& element, Range at) {
    const XmlRole role = style_.role_of(element);
    const Range open = places_.open_tag(element), close{places_.content(element).end, at.end};
    const bool alone = open == at;
    switch (role.kind) {
      case XmlRole::pair:
        if (alone) return builder_.point(at);
        builder_.open(open, element.name());
        inside(element);
        return builder_.close(close, element.name());
      case XmlRole::begins:
        return builder_.open(at, role.name);
      case XmlRole::ends:
        return builder_.close(at, role.name);
      case XmlRole::fixed:
        return builder_.fixed(at, xml_text_of(element), false);
      case XmlRole::boundary:
        end();
        inside(element);
        return end();
      case XmlRole::point:
        return builder_.point(at);
    }
  }

  std::string_view bytes_;
  XmlPlaces places_;
  const XmlTextStyle& style_;
  SegmentBuilder builder_;
  std::vector<SlottedSegment> segments_;
};

}  // namespace

void add_xml_words(SegmentBuilder& builder, std::string_view bytes, Range at) {
  std::size_t done = at.begin;
  const auto plain = [&](std::size_t end) {
    if (done < end) builder.plain({done, end});
  };
  for (std::size_t place = at.begin; place < at.end;) {
    const std::string_view rest = bytes.substr(place, at.end - place);
    const auto known = rest[0] == '&' ? character_reference(rest) : std::nullopt;
    const std::size_t other = rest[0] == '&' && !known ? other_reference(rest) : 0;
    if (!known && other == 0) {
      ++place;
      continue;
    }
    plain(place);
    const Range raw{place, place + (known ? known->bytes : other)};
    known ? builder.character(raw, known->text) : builder.point(raw);
    done = place = raw.end;
  }
  plain(at.end);
}

std::vector<SlottedSegment> xml_segments(const TextDocument& document, const pugi::xml_node& element,
                                         const XmlTextStyle& style) {
  return XmlTextReader(document, style).run(element);
}

void add_copy(TextDocument& document, std::vector<SlottedSegment> segments, XmlCopy copy) {
  const std::string_view bytes = document.bytes();
  std::string before = std::move(copy.before);
  std::size_t done = copy.content.begin;
  for (std::size_t s = 0; s < segments.size(); ++s) {
    Slot& slot = segments[s].slot;
    before += bytes.substr(done, slot.at.begin - done);
    done = slot.at.end;
    std::string after;
    if (s + 1 == segments.size()) after = std::string(bytes.substr(done, copy.content.end - done)) + copy.after;
    slot.finish = [before, after, own = std::move(slot.finish)](std::string text) {
      return before + (own ? own(std::move(text)) : text) + after;
    };
    slot.at = s == 0 ? copy.at : Range{copy.at.end, copy.at.end};
    slot.always = true;
    document.add(std::move(slot), std::move(segments[s].segment));
    before.clear();
  }
}

std::string xml_text_of(const pugi::xml_node& element) {
  std::string text;
  for (const pugi::xml_node node : element.children()) {
    if (node.type() == pugi::node_pcdata) text += html_unescaped(node.value());
    if (node.type() == pugi::node_cdata) text += node.value();
    if (node.type() == pugi::node_element) text += xml_text_of(node);
  }
  return text;
}

}  // namespace tril::document
