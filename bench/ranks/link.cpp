// L: half the round trip of one byte. o: the sender's time for each of a thousand empty messages, one after the other
// without waiting. G: 4 MiB both ways at once, as ranks send and receive at the same time; also its processor time.
#include "ranks/link.h"

#define OMPI_SKIP_MPICXX 1
#define MPICH_SKIP_MPICXX 1
#include <mpi.h>
#include <sys/resource.h>

#include <algorithm>
#include <stdexcept>
#include <vector>

namespace tril::bench {
namespace {

int rank() {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  return rank;
}

double processor_seconds() {
  rusage u{};
  getrusage(RUSAGE_SELF, &u);
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + 1e-6 * static_cast<double>(t.tv_usec);
  };
  return seconds(u.ru_utime) + seconds(u.ru_stime);
}

// The median of several runs.
template <class Run>
double median(int runs, const Run& run) {
  std::vector<double> seconds;
  for (int i = 0; i < runs; ++i) {
    MPI_Barrier(MPI_COMM_WORLD);
    const double start = MPI_Wtime();
    run();
    seconds.push_back(MPI_Wtime() - start);
  }
  std::nth_element(seconds.begin(), seconds.begin() + runs / 2, seconds.end());
  return seconds[static_cast<std::size_t>(runs) / 2];
}

void round_trip(char* byte, int other) {
  if (rank() == 0) {
    MPI_Send(byte, 1, MPI_BYTE, other, 0, MPI_COMM_WORLD);
    MPI_Recv(byte, 1, MPI_BYTE, other, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  } else {
    MPI_Recv(byte, 1, MPI_BYTE, other, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Send(byte, 1, MPI_BYTE, other, 0, MPI_COMM_WORLD);
  }
}

// `count` messages each way at once.
void swap(std::vector<char>& out, std::vector<char>& in, int count, int other) {
  const auto size = out.size() / static_cast<std::size_t>(count);
  std::vector<MPI_Request> requests(2 * static_cast<std::size_t>(count));
  for (int i = 0; i < count; ++i) {
    const std::size_t at = static_cast<std::size_t>(i) * size;
    MPI_Irecv(in.data() + at, static_cast<int>(size), MPI_BYTE, other, i, MPI_COMM_WORLD,
              &requests[2 * static_cast<std::size_t>(i)]);
    MPI_Isend(out.data() + at, static_cast<int>(size), MPI_BYTE, other, i, MPI_COMM_WORLD,
              &requests[2 * static_cast<std::size_t>(i) + 1]);
  }
  MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE);
}

}  // namespace

bool start_mpi() {
  MPI_Init(nullptr, nullptr);
  int ranks = 1;
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (ranks != 2) throw std::runtime_error("a link is between two ranks: mpirun -n 2 bench_ranks link");
  return rank() == 0;
}

void end_mpi() {
  MPI_Finalize();
}

MeasuredLink measure_link() {
  const int other = 1 - rank(), many = 1000;
  MeasuredLink m;
  char byte = 0;
  m.link.latency = median(1001, [&] { round_trip(&byte, other); }) / 2;

  std::vector<char> small(many), small_in(many);
  m.link.overhead = median(11, [&] { swap(small, small_in, many, other); }) / (2 * many);

  constexpr std::size_t bytes = 64 << 20;
  std::vector<char> out(bytes), in(bytes);
  swap(out, in, 16, other);  // touches the memory
  const double before = processor_seconds();
  constexpr int runs = 7;
  m.link.bytes_per_second = bytes / median(runs, [&] { swap(out, in, bytes >> 22, other); });
  const double busy = processor_seconds() - before;
  // Each byte is sent by one rank and received by another; a rank that waits by polling is busy too.
  m.link.core_seconds_per_byte = std::min(busy / (2.0 * runs * bytes), 1 / m.link.bytes_per_second);
  m.small = bytes / median(runs, [&] { swap(out, in, bytes >> 16, other); });
  return m;
}

}  // namespace tril::bench
