#include "document/xml_text.h"

#include <algorithm>

#include "document/character_references.h"
#include "document/html.h"
#include "document/html_reader.h"

namespace tril::document {
namespace {

class XmlTextReader {
 public:
  XmlTextReader(const TextDocument& document, XmlRoleOf role_of, bool keeps_space)
      : places_(document.bytes()),
        role_of_(role_of),
        keeps_space_(keeps_space),
        builder_(document.bytes(),
                 {keeps_space ? LineEnds::are_text : LineEnds::break_lines, Worth::letters, &escape_markup}) {}

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
        words(at);
      else if (node.type() == pugi::node_cdata)
        cdata(at, node.value());
      else if (node.type() == pugi::node_element)
        take(node, at);
      else
        builder_.point(at);
    }
  }

  void words(Range at) {
    std::size_t done = at.begin;
    const auto plain = [&](std::size_t end) {
      if (done < end) builder_.plain({done, end});
    };
    for (std::size_t place = at.begin; place < at.end;) {
      const std::string_view rest = places_.text({place, at.end});
      const auto known = rest[0] == '&' ? character_reference(rest) : std::nullopt;
      const std::size_t other = rest[0] == '&' && !known ? other_reference(rest) : 0;
      if (!known && other == 0) {
        ++place;
        continue;
      }
      plain(place);
      const Range raw{place, place + (known ? known->bytes : other)};
      known ? builder_.character(raw, known->text) : builder_.point(raw);
      done = place = raw.end;
    }
    plain(at.end);
  }

  // One piece, so that no translation begins within it.
  void cdata(Range at, std::string text) {
    if (!keeps_space_)
      for (const char end : {'\n', '\r'}) std::replace(text.begin(), text.end(), end, ' ');
    builder_.character(at, text, false);
  }

  void take(const pugi::xml_node& element, Range at) {
    const XmlRole role = role_of_(element);
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

  XmlPlaces places_;
  XmlRoleOf role_of_;
  bool keeps_space_;
  SegmentBuilder builder_;
  std::vector<SlottedSegment> segments_;
};

}  // namespace

std::vector<SlottedSegment> xml_segments(const TextDocument& document, const pugi::xml_node& element, XmlRoleOf role_of,
                                         bool keeps_space) {
  return XmlTextReader(document, role_of, keeps_space).run(element);
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
    slot.finish = [before, after](const std::string& text) { return before + text + after; };
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
