// Reads the header from the parser's events: only valid content is accepted and kept, so a hostile header costs no
// more memory than a small multiple of its size, and no recursion.
#include "format/safetensors_header.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>

#include "base/error.h"
#include "base/printable.h"

namespace tril::detail {
namespace {

constexpr std::uint64_t kMostHeaderBytes = 100'000'000;  // the format's limit
// Far more than any model has; they bound a header's cost by its own size and a constant.
constexpr std::size_t kMostDimensions = 16, kMostTensors = 250'000, kMostTexts = 10'000;
constexpr std::string_view kTypes = "F64, F32, F16, BF16, F8_E4M3, F8_E8M0, I64, I32, I16, I8, U8, BOOL";

bool find_type(std::string_view name, StoredType& type) {
  for (int t = 0; t <= static_cast<int>(StoredType::boolean); ++t) {
    type = static_cast<StoredType>(t);
    if (name_of(type) == name) return true;
  }
  return false;
}

class HeaderReader {
  using Json = nlohmann::json;

 public:
  HeaderReader(const std::string& path, std::span<const std::byte> data, std::vector<WeightView>& tensors,
               Metadata& metadata)
      : path_(path), data_(data), tensors_(tensors), metadata_(metadata) {}

  bool null() { unexpected("null"); }
  bool boolean(bool) { unexpected("true or false"); }
  // A negative number: others are unsigned.
  bool number_integer(std::int64_t value) { unexpected(fmt::format("the number {}", value)); }
  bool number_float(double, const std::string& text) { unexpected(fmt::format("the number {}", printable(text, 40))); }
  bool binary(Json::binary_t&) { unexpected("a binary value"); }

  bool number_unsigned(std::uint64_t value) {
    if (state_ == State::shape) {
      if (value > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()))
        unexpected(fmt::format("the dimension {}", value));
      if (tensor_.shape.size() == kMostDimensions) unexpected(fmt::format("more than {} dimensions", kMostDimensions));
      tensor_.shape.push_back(static_cast<std::int64_t>(value));
    } else if (state_ == State::offsets && offset_count_ < 2) {
      offsets_[offset_count_++] = value;
    } else {
      unexpected(fmt::format("the number {}", value));
    }
    return true;
  }

  bool string(std::string& value) {
    if (state_ == State::metadata) {
      if (metadata_.size() == kMostTexts)
        fail(fmt::format("{}: __metadata__", path_), fmt::format("has more than {} entries", kMostTexts));
      metadata_.emplace_back(std::move(key_), std::move(value));
    } else if (state_ == State::tensor && key_ == "dtype") {
      if (!find_type(value, tensor_.dtype))
        fail(where(), fmt::format("has the dtype {}, which is not supported", printable(value, 40)),
             fmt::format("supported dtypes: {}", kTypes));
      seen_ |= kDtype;
    } else {
      unexpected(fmt::format("the string \"{}\"", printable(value, 40)));
    }
    return true;
  }

  bool key(std::string& name) {
    if (state_ == State::tensor) {
      const unsigned bit = name == "dtype" ? kDtype : name == "shape" ? kShape : name == "data_offsets" ? kOffsets : 0;
      if (bit == 0)
        fail(where(), fmt::format("has the key \"{}\"", printable(name)), "expected dtype, shape, data_offsets");
      if (seen_ & bit) fail(where(), fmt::format("has {} twice", name));
    }
    key_ = std::move(name);
    return true;
  }

  bool start_object(std::size_t) {
    if (state_ == State::outside) {
      state_ = State::top;
    } else if (state_ == State::top && key_ == "__metadata__") {
      if (has_metadata_) fail(path_, "has __metadata__ twice");
      has_metadata_ = true;
      state_ = State::metadata;
    } else if (state_ == State::top) {
      if (tensors_.size() == kMostTensors) fail(path_, fmt::format("has more than {} tensors", kMostTensors));
      tensor_ = WeightView{};
      tensor_.name = std::move(key_);
      seen_ = 0;
      state_ = State::tensor;
    } else {
      unexpected("an object");
    }
    return true;
  }

  bool end_object() {
    if (state_ == State::tensor) finish_tensor();
    state_ = state_ == State::top ? State::outside : State::top;
    return true;
  }

  bool start_array(std::size_t) {
    if (state_ == State::tensor && key_ == "shape") {
      state_ = State::shape;
      seen_ |= kShape;
    } else if (state_ == State::tensor && key_ == "data_offsets") {
      state_ = State::offsets;
      seen_ |= kOffsets;
      offset_count_ = 0;
    } else {
      unexpected("an array");
    }
    return true;
  }

  bool end_array() {
    if (state_ == State::offsets && offset_count_ != 2) fail(where(), "needs two data_offsets, begin and end");
    state_ = State::tensor;
    return true;
  }

  bool parse_error(std::size_t position, const std::string&, const nlohmann::detail::exception& error) {
    std::string_view reason = error.what();
    if (const std::size_t after = reason.find(": "); after != reason.npos) reason.remove_prefix(after + 2);
    fail(path_, fmt::format("its header is not valid JSON at byte {}: {}", position, printable(reason, 200)),
         "the file is damaged: download it again");
  }

 private:
  enum class State { outside, top, metadata, tensor, shape, offsets };
  static constexpr unsigned kDtype = 1, kShape = 2, kOffsets = 4;

  std::string where() const { return fmt::format("{}: {}", path_, printable(tensor_.name)); }

  [[noreturn]] void unexpected(const std::string& what) const {
    switch (state_) {
      case State::outside:
        fail(path_, fmt::format("its header is {}, expected an object", what));
      case State::top:
        fail(fmt::format("{}: {}", path_, printable(key_)), fmt::format("is {}, expected an object", what));
      case State::metadata:
        fail(fmt::format("{}: __metadata__", path_), fmt::format("{} is {}, expected a string", printable(key_), what));
      case State::tensor:
        fail(where(), fmt::format("its {} is {}, expected {}", key_, what, key_ == "dtype" ? "a string" : "an array"));
      case State::shape:
        fail(where(), fmt::format("its shape contains {}, expected non-negative integers", what));
      case State::offsets:
        fail(where(), fmt::format("its data_offsets contain {}, expected two non-negative integers", what));
    }
    fail(path_, what);
  }

  void finish_tensor() {
    if (seen_ != (kDtype | kShape | kOffsets)) fail(where(), "needs dtype, shape and data_offsets");
    const std::optional<std::uint64_t> bytes = bytes_of_shape(tensor_.dtype, tensor_.shape);
    if (!bytes)
      fail(where(),
           fmt::format("its shape [{}] has more values than 64 bits can count", fmt::join(tensor_.shape, ", ")));
    const auto [begin, end] = std::pair(offsets_[0], offsets_[1]);
    if (begin > end || end > data_.size())
      fail(where(), fmt::format("lies at bytes {} to {} of the data, which has {} bytes", begin, end, data_.size()),
           "the file is truncated or damaged: download it again");
    if (end - begin != *bytes)
      fail(where(), fmt::format("has {} bytes, but its shape [{}] of {} needs {}", end - begin,
                                fmt::join(tensor_.shape, ", "), name_of(tensor_.dtype), *bytes));
    tensor_.bytes = data_.subspan(begin, *bytes);
    tensor_.shape.shrink_to_fit();
    tensors_.push_back(std::move(tensor_));
  }

  const std::string path_;
  std::span<const std::byte> data_;
  std::vector<WeightView>& tensors_;
  Metadata& metadata_;

  State state_ = State::outside;
  std::string key_;
  WeightView tensor_;
  std::uint64_t offsets_[2] = {0, 0};
  int offset_count_ = 0;
  unsigned seen_ = 0;
  bool has_metadata_ = false;
};

// Every byte of the data belongs to exactly one tensor.
void check_no_gap_no_overlap(const std::string& path, std::span<const std::byte> data,
                             std::vector<WeightView>& tensors) {
  const auto begin = [&](const WeightView& t) { return static_cast<std::uint64_t>(t.bytes.data() - data.data()); };
  std::sort(tensors.begin(), tensors.end(), [&](const WeightView& a, const WeightView& b) {
    return std::pair(begin(a), a.bytes.size()) < std::pair(begin(b), b.bytes.size());
  });
  std::uint64_t reached = 0;
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    const WeightView& t = tensors[i];
    if (begin(t) < reached)
      fail(fmt::format("{}: {}", path, printable(t.name)),
           fmt::format("overlaps {} at byte {} of the data", printable(tensors[i - 1].name), begin(t)));
    if (begin(t) > reached)
      fail(path, fmt::format("bytes {} to {} of the data belong to no tensor", reached, begin(t)));
    reached += t.bytes.size();
  }
  if (reached != data.size())
    fail(path, fmt::format("bytes {} to {} of the data belong to no tensor", reached, data.size()),
         "the file is damaged or has data appended: download it again");
}

template <class List, class NameOf>
void sort_and_check_names(const std::string& path, List& list, NameOf name) {
  std::sort(list.begin(), list.end(), [&](const auto& a, const auto& b) { return name(a) < name(b); });
  const auto twice =
      std::adjacent_find(list.begin(), list.end(), [&](const auto& a, const auto& b) { return name(a) == name(b); });
  if (twice != list.end()) fail(path, fmt::format("has {} twice", printable(name(*twice))));
}

}  // namespace

void read_safetensors_header(const MappedFile& file, std::vector<WeightView>& tensors, Metadata& metadata) {
  const std::string path = printable(file.path(), 400);
  const std::span<const std::byte> bytes = file.bytes();
  std::uint64_t length = 0;
  if (bytes.size() < sizeof length)
    fail(path,
         fmt::format("has {} bytes, but a safetensors file begins with 8 bytes that give the length of its header",
                     bytes.size()),
         "the file is truncated: download it again");
  std::memcpy(&length, bytes.data(), sizeof length);
  const std::uint64_t rest = bytes.size() - sizeof length;
  if (length > kMostHeaderBytes)
    fail(path, fmt::format("claims a header of {} bytes, at most {} are allowed", length, kMostHeaderBytes),
         "it is damaged or not a safetensors file");
  if (length > rest)
    fail(path, fmt::format("claims a header of {} bytes, but the file has only {} more", length, rest),
         "the file is truncated or not a safetensors file: download it again");

  const std::string_view header(reinterpret_cast<const char*>(bytes.data()) + sizeof length, length);
  const std::span<const std::byte> data = bytes.subspan(sizeof length + length);
  if (header.empty() || header.front() != '{')
    fail(path, "its header does not begin with {", "it is not a safetensors file");
  // The library takes a NUL byte for the end of the text and would ignore the rest.
  if (const std::size_t nul = header.find('\0'); nul != header.npos)
    fail(path, fmt::format("its header is not valid JSON at byte {}: a NUL byte", nul + 1),
         "the file is damaged: download it again");
  HeaderReader reader(path, data, tensors, metadata);
  nlohmann::json::sax_parse(header.begin(), header.end(), &reader);  // never false: the reader throws instead
  check_no_gap_no_overlap(path, data, tensors);
  sort_and_check_names(path, tensors, [](const WeightView& t) -> const std::string& { return t.name; });
  sort_and_check_names(path, metadata, [](const auto& entry) -> const std::string& { return entry.first; });
}

}  // namespace tril::detail
