// Weights and gradients that no rank holds completely [ZeRO, Rajbhandari et al. 2020, section 5.3: P_os+g+p]. Each rank
// keeps the stretches that it steps. A layer's weights come from their owners just before a pass uses them, forward and
// again backward, and are freed afterwards; a layer's gradient goes to its owners as soon as the backward pass has
// computed it, and they add it up in the order of ranks. While one layer computes, the weights of the next and the
// gradient of the previous one are in flight. Weights outside of layers (embeddings, the final norm) stay in all ranks.
//
// All ranks step through the layers at the same time: a rank with fewer passes takes part without computing, and sends
// what it owns. Addresses never change: only the memory pages are freed (give_back).
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/as_size.h"
#include "base/team.h"
#include "dist/ranks.h"
#include "kern/kernels.h"
#include "model/spec/model.h"
#include "tensor/weight_keeper.h"
#include "train/distributed/exchange.h"
#include "train/optim/division.h"

namespace tril::train {

class Sharding {
 public:
  struct Options {
    std::shared_ptr<dist::Ranks> ranks;
    WirePrecision precision;
    const kern::Kernels& kernels;
    Team& team;
    /// One for each team member, in the layout of the weights. Their memory is untouched so far.
    std::vector<Tensor> gradients;
  };
  Sharding(model::Model& model, const Division& division, Options options);
  /// After an error within an update, messages may still be in flight into this object's memory: abandons them.
  ~Sharding();
  Sharding(const Sharding&) = delete;
  Sharding& operator=(const Sharding&) = delete;

  // Each of these must be called by all members of the team:

  /// Begins an update: there is no gradient yet.
  void begin_update(int member);
  /// Begins a pass, with a backward pass if `trains`. @param works  by rank, whether it computes anything in the pass
  void begin_pass(int member, bool trains, const std::vector<bool>& works);
  /// The keeper for the member's context during the pass.
  WeightKeeper& keeper(int member) { return members_[as_size(member)]; }
  /// Takes the remaining steps through the layers: all of them if the member had nothing to compute, and those of an
  /// encoder that no gradient reached.
  void end_pass(int member);
  /// After the last pass: completes the sums of all ranks' gradients. @param worked  by rank, whether it had any pass
  void end_update(int member, const std::vector<bool>& worked);
  /// After the weights were stepped or loaded: gets the weights outside of layers from their owners.
  void refresh(int member);

  /// The sums over all ranks [window] of what this rank steps; the step may overwrite them.
  const Tensor& sum() const { return sum_; }

  /// Seconds that this rank has waited for others since the last call.
  double take_waited() { return std::exchange(waited_, 0.0); }

  /// Outside of updates and passes: runs `work` while the first rank has all weights. Every rank must call it.
  void with_whole_weights(const std::function<void()>& work);

 private:
  struct Layer {
    std::string name;
    std::vector<nn::Parameter*> weights;
    std::vector<std::vector<Interval>> owned;  // by rank, in the window
    // The parts of its gradient that are sent at a time; small portions limit the memory for receiving.
    std::vector<std::vector<std::vector<Interval>>> portions;  // by portion and rank
    bool summed = false;                                       // sum_ already has values of this update
  };
  // A portion of a layer's gradient in flight.
  struct Gradient {
    Layer* layer = nullptr;
    std::size_t portion = 0;
    std::vector<bool> works;
    std::vector<std::vector<std::byte>> came;  // by rank: values that this one steps, intervals concatenated
    std::vector<std::uint16_t> rounded;        // values that the others step, likewise
    dist::Ranks::Ticket ticket;

    const std::vector<std::vector<Interval>>& owned() const { return layer->portions[portion]; }
  };
  class Member : public WeightKeeper {
   public:
    Member(Sharding& sharding, int number) : sharding_(sharding), number_(number) {}
    void need(std::string_view layer) override;
    void passed(std::string_view layer) override;
    std::size_t steps = 0;  // layers used in this pass

   private:
    Sharding& sharding_;
    int number_;
  };

  bool leads(int member) const { return member == 0; }
  bool works() const { return works_[as_size(ranks_->rank())]; }
  std::size_t steps_of_pass() const { return (trains_ ? 2 : 1) * layers_.size(); }
  Layer& layer_at(std::size_t step);
  void find_layers(const model::Model& model);
  void need(int member, std::size_t step);
  void passed(int member, Layer& layer);
  void add_up_parts(int member, const Layer& layer);
  void start_weights(const Layer& layer, const std::vector<bool>& to);
  void wait_for(dist::Ranks::Ticket& messages);
  void pack(int member, const Layer& layer);
  void drop_weights(const Layer& layer);
  void give_gradient(int member, Layer& layer);
  void start_gradient(Gradient& g, Layer& layer, std::size_t portion);
  void finish_gradient(int member, Gradient& g);
  void drop_gradient(std::size_t part, const std::vector<std::vector<Interval>>& owned);
  template <class F>
  void in_shares(int member, const std::vector<Interval>& intervals, const F& work) const;

  std::shared_ptr<dist::Ranks> ranks_;
  const Division& division_;
  nn::Parameters& parameters_;
  const kern::Kernels& kernels_;
  WirePrecision precision_;
  Team& team_;
  std::vector<Tensor> gradients_;
  Tensor values_, sum_;        // [window]
  std::vector<Layer> layers_;  // in the order of a pass
  Layer root_;                 // weights outside of layers
  std::vector<Member> members_;
  bool trains_ = false;
  std::vector<bool> works_;
  dist::Ranks::Ticket weights_;  // in flight
  Gradient gradient_[2];         // the later one first
  double waited_ = 0;
};

}  // namespace tril::train
