// Where an adapter's modules are in a model: the weights behind the names of `transformers`.
#pragma once

#include <string>
#include <vector>

#include "model_io/source/model_source.h"

namespace tril::model {

/// A module of the model.
struct Place {
  nn::Parameter* weight = nullptr;
  nn::Parameter* bias = nullptr;
  bool as_table = false;    ///< an embedding, read by row; else a matrix of products
  bool of_encoder = false;  ///< a table as the encoder reads it: nn::Embedding::of_encoder()
  bool as_output = false;   ///< the product that gives logits
};

/// One of the matrices of all experts that `transformers` holds in one tensor, or a part of its rows.
struct ExpertPlace {
  Place place;
  std::int64_t expert = 0, experts = 0;
  std::int64_t first_row = 0, rows = 0, all_rows = 0;  ///< of the whole matrix: gate's rows, then up's
};

class Places {
 public:
  Places(Model& m, const ModelSource& source) : model_(&m), source_(&source), output_(m.output().matrix) {}

  /// @param where  names the module in errors
  /// @throws Error if the model has no such module, or if it cannot be adapted
  Place find(const std::string& module, const std::string& where) const;
  /// The matrices of the parameter `name`, such as "model.layers.0.mlp.experts.down_proj"; empty: it is not a parameter of
  /// experts.
  std::vector<ExpertPlace> find_experts(const std::string& name, const std::string& where) const;
  /// True for the module `shared` of an encoder-decoder: `transformers` ties its table to those that it reads, and does not
  /// read `shared` itself.
  bool is_unread(const std::string& module) const;

  /// A weight's own values, in the model's layout.
  std::vector<float> values(const nn::Parameter& p) const;
  /// Reorders a vector, or the rows of a matrix, from the files' order to the model's.
  std::vector<float> ordered(std::vector<float> values, const nn::Parameter& p) const;
  const Model& model() const { return *model_; }
  /// The bias of the output layer, in the model's memory; no tensor: it has none.
  Tensor output_bias() const { return model_->output().bias; }

 private:
  std::vector<Place> matching(const std::string& name) const;
  std::vector<std::string> names_of(const nn::Parameter& p) const;
  Place place_of(nn::Parameter& p, bool as_table) const;
  void check_place(const Place& place, const std::string& module, const std::string& where) const;

  Model* model_;
  const ModelSource* source_;
  const nn::Parameter* output_;
};

}  // namespace tril::model
