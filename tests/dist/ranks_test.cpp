// A process without a launcher is a job of its own; tests of several processes are in under_mpirun/.
#include "dist/ranks.h"
#include "dist/launch.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <stdexcept>

#include "base/cores.h"
#include "base/error.h"

namespace tril::dist {
namespace {

// Sets an environment variable during its lifetime.
class Variable {
 public:
  Variable(const char* name, const char* value) : name_(name) {
    if (const char* before = std::getenv(name)) before_ = before;
    if (value)
      setenv(name, value, 1);
    else
      unsetenv(name);
  }
  ~Variable() {
    if (before_)
      setenv(name_, before_->c_str(), 1);
    else
      unsetenv(name_);
  }
  Variable(const Variable&) = delete;
  Variable& operator=(const Variable&) = delete;

 private:
  const char* name_;
  std::optional<std::string> before_;
};

TEST(RanksAlone, IsTheFirstOfOne) {
  const auto ranks = Ranks::alone();
  EXPECT_EQ(ranks->rank(), 0);
  EXPECT_EQ(ranks->size(), 1);
  EXPECT_TRUE(ranks->first());
  EXPECT_EQ(ranks->sharers(), 1);
  EXPECT_EQ(ranks->sharers_before(), 0);
  EXPECT_EQ(ranks->share_of_cores(), thread_count(0));
  EXPECT_EQ(ranks->name_of(0), "rank 0");
}

TEST(RanksAlone, GathersWhatItGives) {
  const auto ranks = Ranks::alone();
  EXPECT_EQ(ranks->all_gather(std::string("a\0b", 3)), std::vector<std::string>{std::string("a\0b", 3)});
  EXPECT_EQ(ranks->all_gather(std::string()), std::vector<std::string>{""});
  const std::vector<std::byte> bytes{std::byte{1}, std::byte{255}};
  EXPECT_EQ(ranks->all_gather(bytes), std::vector<std::vector<std::byte>>{bytes});
  EXPECT_EQ(ranks->broadcast("text"), "text");
  ranks->barrier();
}

TEST(RanksAlone, SumsLeaveEveryBit) {
  const auto ranks = Ranks::alone();
  std::vector<double> values{-0.0, 1e300, 5e-324};
  ranks->all_reduce(values);
  EXPECT_TRUE(std::signbit(values[0]));
  EXPECT_EQ(values[1], 1e300);
  EXPECT_EQ(values[2], 5e-324);
}

#ifndef TRIL_MPI
TEST(RanksAlone, SeveralAreRefusedWithoutMpi) {
  const Variable rank("OMPI_COMM_WORLD_RANK", "0"), size("OMPI_COMM_WORLD_SIZE", "2");
  try {
    Ranks::join();
    FAIL() << "two processes were taken for one";
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("built without MPI"), std::string::npos) << error.what();
  }
}
#endif

TEST(RanksAlone, TogetherIsTheWorkAndItsError) {
  const auto ranks = Ranks::alone();
  int done = 0;
  ranks->together([&] { ++done; });
  EXPECT_EQ(done, 1);
  EXPECT_THROW(ranks->together([] { throw std::out_of_range("too far"); }), std::out_of_range);
  EXPECT_THROW(ranks->together([] { fail_usage("--model", "is missing"); }), Error);
}

TEST(RanksAlone, WithoutALauncherJoiningStartsNothing) {
  const Variable none[] = {{"OMPI_COMM_WORLD_SIZE", nullptr}, {"PMI_SIZE", nullptr}, {"SLURM_STEP_NUM_TASKS", nullptr}};
  EXPECT_EQ(launch_of_environment().size, 1);
  const auto ranks = Ranks::join();
  EXPECT_EQ(ranks->size(), 1);
  EXPECT_EQ(ranks->name_of(0), "rank 0");
}

TEST(RanksAlone, ALauncherIsKnownByWhatItSays) {
  for (const auto& [rank, size] :
       {std::pair("OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"), std::pair("PMI_RANK", "PMI_SIZE"),
        std::pair("SLURM_PROCID", "SLURM_STEP_NUM_TASKS")}) {
    const Variable none[] = {
        {"OMPI_COMM_WORLD_SIZE", nullptr}, {"PMI_SIZE", nullptr}, {"SLURM_STEP_NUM_TASKS", nullptr}};
    const Variable said[] = {{rank, "3"}, {size, "5"}};
    EXPECT_EQ(launch_of_environment().rank, 3) << rank;
    EXPECT_EQ(launch_of_environment().size, 5) << rank;
  }
}

}  // namespace
}  // namespace tril::dist
