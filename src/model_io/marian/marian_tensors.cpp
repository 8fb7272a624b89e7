#include "model_io/marian/marian_tensors.h"

namespace tril::model {

bool is_marian_weights(const FileShelf& shelf, const std::string& name) {
  if (name.ends_with(".npz")) return !name.ends_with(".optimizer.npz");
  if (!name.ends_with(".bin")) return false;
  if (shelf.is_packed(name)) return !name.starts_with("lex");  // its first bytes would have to be unpacked
  return shelf.is_file(name) && begins_as_marian_bin(shelf.content(name).bytes);
}

MarianTensors marian_tensors(const FileShelf& shelf, const std::string& name) {
  const FileShelf::Content file = shelf.content(name);
  const std::string path = shelf.path_of(name);
  if (name.ends_with(".npz")) return {NpzFile(ZipArchive(path, file.bytes, file.owner)), file.mapped};
  return {MarianBinFile(path, file.bytes, file.owner), file.mapped};
}

}  // namespace tril::model
