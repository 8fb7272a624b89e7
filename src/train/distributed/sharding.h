// Weights and gradients that no rank has whole [ZeRO, Rajbhandari et al. 2020, section 5.3: P_os+g+p]. Each rank keeps the
// stretches that it steps. The weights of a layer come from their owners when a pass is about to use them, forwards and
// once more in the walk back, and go when it has; a layer's gradient goes to its owners as soon as the walk has passed it,
// who add it up in the ranks' order. While one layer computes, the weights of the next one and the gradient of the one
// before are on their way. What belongs to no layer (embeddings, the last norm) stays in all ranks.
//
// All ranks take the same steps through the layers at the same time: one that has fewer passes than others walks along and
// gives what it owns. Addresses never change: what goes are pages of memory (give_back).
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

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
  /// @param gradients  one for each of the team, laid out as the weights; nothing of them is touched yet
  Sharding(std::shared_ptr<dist::Ranks> ranks, const Division& division, model::Model& model,
           const kern::Kernels& kernels, WirePrecision precision, Team& team, std::vector<Tensor> gradients);
  /// Whoever fails within an update leaves messages on their way, whose memory goes with this.
  ~Sharding();
  Sharding(const Sharding&) = delete;
  Sharding& operator=(const Sharding&) = delete;

  // Within a run of the team, each to be called by all of its members:

  /// An update begins: there is no gradient yet.
  void begin_update(int member);
  /// A pass begins, forwards and back where `trains`. @param works  by rank, whether it has anything to compute in it
  void begin_pass(int member, bool trains, const std::vector<bool>& works);
  /// What the member's context is to have within the pass.
  WeightKeeper& keeper(int member) { return members_[static_cast<std::size_t>(member)]; }
  /// Takes what steps through the layers are left: all of them where the member had nothing to compute, and those of an
  /// encoder that no gradient has come to.
  void end_pass(int member);
  /// Behind the last pass: the sums of all ranks' gradients are there. @param worked  by rank, whether it had any pass
  void end_update(int member, const std::vector<bool>& worked);
  /// After the weights were stepped or read: what belongs to no layer comes from its owners.
  void refresh(int member);

  /// The sums over all ranks [window], of what this rank steps; to be overwritten by the step.
  const Tensor& sum() const { return sum_; }

  /// Seconds that this rank has waited for others since the question before.
  double take_waited() { return std::exchange(waited_, 0.0); }

  /// Outside of such runs: does `work` while the first rank has all weights. Each rank is to call it.
  void with_whole_weights(const std::function<void()>& work);

 private:
  struct Layer {
    std::string name;
    std::vector<const nn::Parameter*> weights;
    std::vector<std::vector<Interval>> owned;  // by rank, of the window
    // What of its gradient travels at a time, so that what comes takes little memory though all of it may be one rank's.
    std::vector<std::vector<std::vector<Interval>>> portions;  // by portion and rank
    bool summed = false;                                       // sum_ has something of it in this update
  };
  // A portion of a layer's gradient on its way.
  struct Gradient {
    Layer* layer = nullptr;
    std::size_t portion = 0;
    std::vector<bool> works;
    std::vector<std::vector<std::byte>> came;  // by rank: of what this one steps, one interval behind the other
    std::vector<std::uint16_t> rounded;        // of what the others step, likewise
    dist::Ranks::Ticket ticket;

    const std::vector<std::vector<Interval>>& owned() const { return layer->portions[portion]; }
  };
  class Member : public WeightKeeper {
   public:
    Member(Sharding& sharding, int number) : sharding_(sharding), number_(number) {}
    void need(std::string_view layer) override;
    void passed(std::string_view layer) override;
    std::size_t steps = 0;  // layers needed in this pass

   private:
    Sharding& sharding_;
    int number_;
  };

  bool leads(int member) const { return member == 0; }
  bool works() const { return works_[static_cast<std::size_t>(ranks_->rank())]; }
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
  Layer root_;                 // what belongs to none of them
  std::vector<Member> members_;
  bool trains_ = false;
  std::vector<bool> works_;
  dist::Ranks::Ticket weights_;  // on their way
  Gradient gradient_[2];         // the later one first
  double waited_ = 0;
};

}  // namespace tril::train
