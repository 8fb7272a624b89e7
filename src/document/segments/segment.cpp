#include "document/segments/segment.h"

#include <algorithm>
#include <tuple>

#include "base/as_size.h"

namespace tril::document {
namespace {

// The marks directly in the text, and in each mark, in the order in which they are written.
std::vector<std::vector<std::size_t>> children_of(const Segment& segment) {
  std::vector<std::vector<std::size_t>> children(segment.marks.size() + 1);
  for (std::size_t m = 0; m < segment.marks.size(); ++m) children[as_size(segment.marks[m].parent + 1)].push_back(m);
  const auto key = [&](std::size_t m) { return std::tuple{segment.marks[m].at.begin, segment.marks[m].at.end, m}; };
  for (auto& list : children)
    std::sort(list.begin(), list.end(), [&](std::size_t a, std::size_t b) { return key(a) < key(b); });
  return children;
}

void add_as_written(const std::vector<std::vector<std::size_t>>& children, std::size_t node,
                    std::vector<std::size_t>& order) {
  for (const std::size_t m : children[node]) {
    order.push_back(m);
    add_as_written(children, m + 1, order);
  }
}

// Writes a segment's bytes. Marks are nested at most most_nested_marks deep, so that recursion is bounded.
class Rendering {
 public:
  Rendering(const Segment& segment, const std::function<std::string(std::string_view)>& escape)
      : segment_(segment), escape_(escape), children_(children_of(segment)) {}

  std::string run() {
    inside(0, {0, segment_.text.size()});
    return std::move(out_);
  }

 private:
  void inside(std::size_t node, Range at) {
    std::size_t done = at.begin;
    for (const std::size_t m : children_[node]) {
      const Mark& mark = segment_.marks[m];
      text(done, mark.at.begin);
      out_ += mark.open;
      if (mark.kind == MarkKind::pair) inside(m + 1, mark.at);
      out_ += mark.close;
      done = mark.at.end;
    }
    text(done, at.end);
  }

  void text(std::size_t begin, std::size_t end) {
    std::string_view rest = std::string_view(segment_.text).substr(begin, end - begin);
    if (!segment_.breaks.empty()) {
      for (std::size_t line = rest.find('\n'); line != std::string_view::npos; line = rest.find('\n')) {
        out_ += escape_(rest.substr(0, line));
        out_ += next_break_ < segment_.breaks.size() ? segment_.breaks[next_break_++] : "\n";
        rest.remove_prefix(line + 1);
      }
    }
    out_ += escape_(rest);
  }

  const Segment& segment_;
  const std::function<std::string(std::string_view)>& escape_;
  std::vector<std::vector<std::size_t>> children_;  ///< of the text, and of each mark
  std::size_t next_break_ = 0;
  std::string out_;
};

}  // namespace

bool operator==(const Segment& a, const Segment& b) {
  const auto same = [](const Mark& x, const Mark& y) {
    return x.kind == y.kind && x.at == y.at && x.open == y.open && x.close == y.close && x.parent == y.parent;
  };
  return a.text == b.text && a.breaks == b.breaks &&
         std::equal(a.marks.begin(), a.marks.end(), b.marks.begin(), b.marks.end(), same);
}

std::vector<std::size_t> marks_as_written(const Segment& segment) {
  std::vector<std::size_t> order;
  add_as_written(children_of(segment), 0, order);
  return order;
}

std::string rendered(const Segment& segment, const std::function<std::string(std::string_view)>& escape) {
  return Rendering(segment, escape).run();
}

}  // namespace tril::document
