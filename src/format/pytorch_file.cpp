#include "format/pytorch_file.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <map>
#include <optional>

#include "base/error.h"
#include "base/printable.h"
#include "format/byte_cursor.h"
#include "format/find_named.h"
#include "format/pickle.h"
#include "format/zip_archive.h"

namespace tril {
namespace {

constexpr std::uint64_t most_pickle_bytes = std::uint64_t{256} << 20;
constexpr std::size_t most_dimensions = 16;
constexpr std::string_view legacy_magic{"\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19", 10};  // 0x1950a86a20f9469cfc6c
constexpr std::int64_t legacy_version = 1001;

struct StorageType {
  std::string_view global;
  StoredType type;
};
constexpr std::array storage_types{
    StorageType{"torch.DoubleStorage", StoredType::f64}, StorageType{"torch.FloatStorage", StoredType::f32},
    StorageType{"torch.HalfStorage", StoredType::f16},   StorageType{"torch.BFloat16Storage", StoredType::bf16},
    StorageType{"torch.LongStorage", StoredType::i64},   StorageType{"torch.IntStorage", StoredType::i32},
    StorageType{"torch.ShortStorage", StoredType::i16},  StorageType{"torch.CharStorage", StoredType::i8},
    StorageType{"torch.ByteStorage", StoredType::u8},    StorageType{"torch.BoolStorage", StoredType::boolean}};

constexpr std::string_view ordered_dict = "collections.OrderedDict", rebuild_tensor = "torch._utils._rebuild_tensor_v2",
                           rebuild_parameter = "torch._utils._rebuild_parameter";

std::optional<StoredType> storage_type(std::string_view global) {
  for (const StorageType& s : storage_types)
    if (s.global == global) return s.type;
  return std::nullopt;
}

bool is_allowed(std::string_view global) {
  return global == ordered_dict || global == rebuild_tensor || global == rebuild_parameter || storage_type(global);
}

// Values that tensors may share; they have one type.
struct Storage {
  StoredType type = StoredType::f32;
  std::uint64_t count = 0;           // number of values
  std::span<const std::byte> bytes;  // empty until they are found
};
using Storages = std::map<std::string, Storage, std::less<>>;

// A tensor as the pickle describes it.
struct Described {
  std::string name, storage;
  std::int64_t offset = 0;  // in values of the storage
  std::vector<std::int64_t> shape, strides;
};

// Reads the mapping of names to tensors from a pickle.
class StateDict {
 public:
  StateDict(const Pickle& pickle, std::string where) : pickle_(pickle), where_(std::move(where)) { read(); }

  Storages storages;
  std::vector<Described> tensors;

 private:
  using Kind = PickleValue::Kind;

  [[noreturn]] void refuse(const std::string& what) const {
    fail(where_, what, "expected torch.save() of a model's state_dict(): a dict of names to tensors");
  }

  // The arguments of a call of `global`; null for anything else.
  const PickleValue* arguments_of(PickleIndex i, std::string_view global) const {
    const PickleValue* const call = pickle_.find(i, Kind::call);
    return call && pickle_.at(call->items[0]).text_bytes == global ? &pickle_.at(call->items[1]) : nullptr;
  }

  void read() {
    const PickleValue& root = pickle_.at(pickle_.root());
    std::size_t first = 0;
    if (arguments_of(pickle_.root(), ordered_dict)) {
      if (!pickle_.at(root.items[1]).items.empty()) refuse("the OrderedDict has constructor arguments");
      first = 2;
    } else if (root.kind != Kind::dict) {
      refuse(fmt::format("the file holds {}", name_of(root.kind)));
    }
    for (std::size_t i = first; i < root.items.size(); i += 2) {
      const PickleValue* const name = pickle_.find(root.items[i], Kind::text);
      if (!name) refuse(fmt::format("a key is {}", name_of(pickle_.at(root.items[i]).kind)));
      tensors.push_back(tensor(std::string(name->text_bytes), root.items[i + 1]));
    }
  }

  Described tensor(std::string name, PickleIndex value) {
    // torch.nn.Parameter: its tensor, whether it is trained, hooks
    if (const PickleValue* const parameter = arguments_of(value, rebuild_parameter);
        parameter && !parameter->items.empty())
      value = parameter->items[0];
    const PickleValue* const arguments = arguments_of(value, rebuild_tensor);
    if (!arguments || arguments->items.size() < 4)
      refuse(fmt::format("{} is {}, not a tensor", printable(name, 200), name_of(pickle_.at(value).kind)));
    if (pickle_.at(value).has_state) refuse(fmt::format("{} has attributes of its own", printable(name, 200)));
    // the item after gradients and hooks: flags such as a pending conjugation
    if (arguments->items.size() > 6 && !pickle_.at(arguments->items[6]).items.empty())
      refuse(fmt::format("{} has flags that change its values", printable(name, 200)));
    Described d{.name = std::move(name), .storage = {}, .shape = {}, .strides = {}};
    d.storage = storage(d.name, arguments->items[0]);
    d.offset = count(d.name, arguments->items[1]);
    d.shape = counts(d.name, arguments->items[2]);
    d.strides = counts(d.name, arguments->items[3]);
    if (d.shape.size() != d.strides.size())
      refuse(fmt::format("{} has a different number of strides than of sizes", printable(d.name, 200)));
    return d;
  }

  std::int64_t count(const std::string& name, PickleIndex i) const {
    const PickleValue* const number = pickle_.find(i, Kind::integer);
    if (!number || number->number < 0)
      refuse(fmt::format("{}: a size, stride or offset is not a number of 0 or more", printable(name, 200)));
    return number->number;
  }

  std::vector<std::int64_t> counts(const std::string& name, PickleIndex i) const {
    const PickleValue* const tuple = pickle_.find(i, Kind::tuple);
    if (!tuple || tuple->items.size() > most_dimensions)
      refuse(fmt::format("{}: the sizes or strides are not a tuple of at most {} numbers", printable(name, 200),
                         most_dimensions));
    std::vector<std::int64_t> all;
    for (const PickleIndex item : tuple->items) all.push_back(count(name, item));
    return all;
  }

  // Records ("storage", its type, its key, the device, its count); in old files a view of another storage may follow.
  std::string storage(const std::string& name, PickleIndex i) {
    const PickleValue* const id = pickle_.find(i, Kind::persistent);
    const PickleValue* const parts = id ? pickle_.find(id->items[0], Kind::tuple) : nullptr;
    const auto text = [&](std::size_t part) {
      const PickleValue* const t = pickle_.find(parts->items[part], Kind::text);
      return t ? t->text_bytes : std::string_view();
    };
    if (!parts || parts->items.size() < 5 || text(0) != "storage")
      refuse(fmt::format("{} has no storage", printable(name, 200)));
    const PickleValue* const global = pickle_.find(parts->items[1], Kind::global);
    const std::optional<StoredType> type = global ? storage_type(global->text_bytes) : std::nullopt;
    if (!type || !pickle_.find(parts->items[2], Kind::text))
      refuse(fmt::format("the storage of {} has no type or key", printable(name, 200)));
    if (parts->items.size() > 5 && pickle_.at(parts->items[5]).kind != Kind::none)
      refuse(fmt::format("the storage of {} is a view of another", printable(name, 200)));
    const Storage found{.type = *type, .count = static_cast<std::uint64_t>(count(name, parts->items[4])), .bytes = {}};
    const auto [at, is_new] = storages.try_emplace(std::string(text(2)), found);
    if (!is_new && (at->second.type != found.type || at->second.count != found.count))
      refuse(fmt::format("the storage of {} is described twice, and differently", printable(name, 200)));
    return at->first;
  }

  const Pickle& pickle_;
  std::string where_;
};

// The bytes of `count` values at the beginning of `bytes`. @throws Error if there are not enough
std::span<const std::byte> values_of(std::span<const std::byte> bytes, const Storage& storage,
                                     const std::string& where) {
  const std::size_t size = size_of(storage.type);
  if (storage.count > bytes.size() / size)
    fail(where,
         fmt::format("a storage of {} values has {} bytes, expected {} for each", storage.count, bytes.size(), size),
         "the file is incomplete or damaged: get it again");
  return bytes.first(storage.count * size);
}

// ---- The two forms of a file: each gives the mapping and the bytes of all storages.

struct Contents {
  Storages storages;
  std::vector<Described> tensors;
  std::shared_ptr<const void> map;
};

Contents contents_of_archive(MappedFile file) {
  const std::string path = printable(file.path(), 400);
  const auto archive = std::make_shared<const ZipArchive>(std::move(file));
  std::string prefix;
  for (const ZipMember& member : archive->members()) {
    if (!member.name.ends_with("/data.pkl")) continue;
    if (!prefix.empty()) fail(path, "holds two files data.pkl, expected one, as torch.save() writes it");
    prefix = member.name.substr(0, member.name.size() - std::string_view("data.pkl").size());
  }
  if (prefix.empty()) fail(path, "is a ZIP archive without data.pkl, expected a file of torch.save()");
  if (archive->find(prefix + "constants.pkl"))
    fail(path, "is a TorchScript program, which tril does not run", "save the model's state_dict() as safetensors");
  if (const ZipMember* const order = archive->find(prefix + "byteorder"))
    if (archive->read(*order, 64) != "little") fail(path, "holds big-endian values, which are not supported");

  const std::string where = path + ": data.pkl",
                    text = archive->read(*archive->find(prefix + "data.pkl"), most_pickle_bytes);
  StateDict dict(Pickle::read(std::as_bytes(std::span(text)), where, is_allowed), where);
  for (auto& [key, storage] : dict.storages) {
    const ZipMember* const member = archive->find(prefix + "data/" + key);
    if (!member) fail(path, fmt::format("lacks the storage {}", printable(key, 200)), "get the file again");
    if (!member->is_stored())
      fail(path, fmt::format("the storage {} is compressed, which torch.save() never does", printable(key, 200)),
           "unpack the archive, and pack it again without compression (zip -0)");
    storage.bytes = values_of(member->packed, storage, path);
  }
  return {std::move(dict.storages), std::move(dict.tensors), archive};
}

// Several pickles, then raw numbers and bytes.
class LegacyReader {
 public:
  explicit LegacyReader(MappedFile file)
      : file_(std::make_shared<const MappedFile>(std::move(file))), cursor_(file_->bytes(), path()) {}

  Contents read() {
    const Pickle magic = next("magic number");
    if (magic.at(magic.root()).text_bytes != legacy_magic || magic.at(magic.root()).kind != PickleValue::long_integer)
      fail(path(), "is not a file of torch.save(): it begins with another pickle");
    const Pickle version = next("version");
    if (version.at(version.root()).number != legacy_version)
      fail(path(), fmt::format("has version {} of torch.save()'s format, expected {}",
                               version.at(version.root()).number, legacy_version));
    check_machine(next("machine"));
    const Pickle mapping = next("tensors");
    StateDict dict(mapping, path());
    const Pickle keys = next("keys of storages");
    if (keys.at(keys.root()).kind != PickleValue::list) fail(path(), "has no list of storages after its tensors");
    for (const PickleIndex key : keys.at(keys.root()).items) read_storage(dict.storages, keys.at(key).text_bytes);
    for (const auto& [key, storage] : dict.storages)
      if (storage.bytes.size() != storage.count * size_of(storage.type))
        fail(path(), fmt::format("lacks the storage {}", printable(key, 200)), "get the file again");
    return {std::move(dict.storages), std::move(dict.tensors), file_};
  }

 private:
  std::string path() const { return printable(file_->path(), 400); }

  Pickle next(const char* what) {
    Pickle pickle = Pickle::read(cursor_.rest().first(std::min<std::size_t>(cursor_.left(), most_pickle_bytes)),
                                 fmt::format("{}: {}", path(), what), is_allowed);
    cursor_.take(pickle.size(), what);
    return pickle;
  }

  void check_machine(const Pickle& pickle) const {
    const PickleValue& machine = pickle.at(pickle.root());
    for (std::size_t i = 0; machine.kind == PickleValue::dict && i < machine.items.size(); i += 2)
      if (pickle.at(machine.items[i]).text_bytes == "little_endian" && pickle.at(machine.items[i + 1]).number == 0)
        fail(path(), "holds big-endian values, which are not supported");
  }

  // u64 count, values. The count is that of the pickle, which also gives the size of a value.
  void read_storage(Storages& storages, std::string_view key) {
    const auto found = storages.find(key);
    if (found == storages.end()) fail(path(), fmt::format("the storage {} belongs to no tensor", printable(key, 200)));
    const auto count = cursor_.number<std::uint64_t>("the number of values in a storage");
    Storage& storage = found->second;
    if (count != storage.count)
      fail(path(), fmt::format("the storage {} has {} values, expected {}", printable(key, 200), count, storage.count));
    storage.bytes = values_of(cursor_.rest(), storage, path());
    cursor_.take(storage.bytes.size(), "the values of a storage");
  }

  std::shared_ptr<const MappedFile> file_;
  ByteCursor cursor_;
};

// ---- Tensors within storages.

// The number of values from the tensor's first to its last; nothing if it exceeds 64 bits. Strides are never negative.
std::optional<std::uint64_t> extent(const Described& d) {
  std::uint64_t last = 0;
  for (std::size_t i = 0; i < d.shape.size(); ++i) {
    if (d.shape[i] == 0) return 0;
    std::uint64_t step = 0;
    if (__builtin_mul_overflow(static_cast<std::uint64_t>(d.shape[i] - 1), static_cast<std::uint64_t>(d.strides[i]),
                               &step) ||
        __builtin_add_overflow(last, step, &last))
      return std::nullopt;
  }
  return last + 1;
}

bool is_contiguous(const Described& d) {
  std::int64_t step = 1;
  for (std::size_t i = d.shape.size(); i-- > 0; step *= d.shape[i])
    if (d.shape[i] != 1 && d.strides[i] != step) return false;
  return true;
}

// Calls f(offset) for each value of the tensor, row-major.
template <class F>
void for_offsets(const std::vector<std::int64_t>& shape, const std::vector<std::int64_t>& strides, const F& f) {
  std::vector<std::int64_t> at(shape.size(), 0);
  std::int64_t offset = 0;
  for (;;) {
    f(static_cast<std::size_t>(offset));
    std::size_t i = shape.size();
    for (; i-- > 0; at[i] = 0) {
      offset += strides[i];
      if (++at[i] < shape[i]) break;
      offset -= strides[i] * shape[i];
    }
    if (i == std::size_t(-1)) return;
  }
}

// The values of a strided tensor, in order.
void gather(const WeightView& storage, const std::vector<std::int64_t>& shape, const std::vector<std::int64_t>& strides,
            std::span<float> out) {
  const std::size_t size = size_of(storage.dtype);
  std::vector<std::byte> ordered(out.size() * size);
  std::byte* to = ordered.data();
  for_offsets(shape, strides, [&](std::size_t offset) {
    std::memcpy(to, storage.bytes.data() + offset * size, size);
    to += size;
  });
  to_f32({.name = storage.name, .dtype = storage.dtype, .shape = shape, .bytes = ordered, .form = {}}, out);
}

WeightView view_of(const Described& d, const Storage& storage, const std::string& path) {
  const std::string where = fmt::format("{}: {}", path, printable(d.name, 200));
  std::int64_t elements = 1;
  for (const std::int64_t n : d.shape)
    if (__builtin_mul_overflow(elements, n, &elements)) fail(where, "has more values than 64 bits can count");
  const std::optional<std::uint64_t> values = extent(d);
  const auto offset = static_cast<std::uint64_t>(d.offset);
  if (!values || *values > storage.count || (*values > 0 && offset > storage.count - *values))
    fail(where, fmt::format("reaches beyond its storage of {} values", storage.count),
         "the file is damaged: get it again");

  const std::size_t size = size_of(storage.type);
  WeightView view{.name = d.name, .dtype = storage.type, .shape = d.shape, .bytes = {}, .form = {}};
  if (*values == 0) return view;
  view.bytes = storage.bytes.subspan(offset * size, *values * size);
  if (is_contiguous(d)) return view;
  if (static_cast<std::uint64_t>(elements) > storage.count)
    fail(where, "repeats values of its storage, which is not supported", "save tensor.contiguous() instead");
  view.form = fmt::format("{}, strided", name_of(storage.type));
  view.read = [inner = view, strides = d.strides](std::span<float> out) { gather(inner, inner.shape, strides, out); };
  view.dtype = StoredType::blocks;
  return view;
}

Contents read(MappedFile file) {
  if (begins_as_zip(file.bytes())) return contents_of_archive(std::move(file));
  return LegacyReader(std::move(file)).read();
}

}  // namespace

PytorchFile PytorchFile::open(const std::string& path) {
  Contents contents = read(MappedFile::open(path));
  const std::string shown = printable(path, 400);
  std::vector<WeightView> tensors;
  for (const Described& d : contents.tensors) tensors.push_back(view_of(d, contents.storages.at(d.storage), shown));
  if (const WeightView* const twice = sort_by_name(tensors))
    fail(shown, fmt::format("holds two tensors called {}", printable(twice->name, 200)));
  return {path, std::move(tensors), std::move(contents.map)};
}

}  // namespace tril
