#include <dnnl.h>
#ifndef TRIL_SEQUENTIAL_ONEDNN
#include <omp.h>
#endif

#include <algorithm>
#include <limits>
#include <vector>

#include "base/error.h"
#include "base/processors.h"
#include "kern/gemm.h"

namespace tril::kern {

#ifndef TRIL_SEQUENTIAL_ONEDNN  // cmake/archives.cmake
namespace {

// Context::share_out divides the work among existing threads, so the library gets only the calling thread. The setting
// is per thread. LLVM's OpenMP binds a thread that asks it for the number of threads, as oneDNN does, to all processors
// when it asks for the first time: undone here.
void use_one_thread() {
  thread_local bool done = false;
  if (done) return;
  const std::vector<int> bound = processors_of_thread();
  omp_set_num_threads(1);
  omp_get_max_threads();
  if (processors_of_thread() != bound) bind_this_thread(bound);
  done = true;
}

}  // namespace
#endif

void gemm(const Gemm& g) {
  if (g.m == 0 || g.n == 0) return;
  if (g.k == 0) {
    if (!g.accumulate)
      for (std::size_t i = 0; i < g.m; ++i) std::fill_n(g.c + i * g.c_stride, g.n, 0.0f);
    return;
  }
  constexpr std::size_t limit = std::numeric_limits<int>::max();
  check(g.m < limit && g.n < limit && g.k < limit, "gemm", "[{}, {}] x [{}, {}] exceeds 2^31 on a side", g.m, g.k, g.k,
        g.n);

#ifndef TRIL_SEQUENTIAL_ONEDNN
  use_one_thread();
#endif
  const dnnl_status_t status = dnnl_sgemm(
      g.transpose_a ? 'T' : 'N', g.transpose_b ? 'T' : 'N', static_cast<dnnl_dim_t>(g.m), static_cast<dnnl_dim_t>(g.n),
      static_cast<dnnl_dim_t>(g.k), 1.0f, g.a, static_cast<dnnl_dim_t>(g.a_stride), g.b,
      static_cast<dnnl_dim_t>(g.b_stride), g.accumulate ? 1.0f : 0.0f, g.c, static_cast<dnnl_dim_t>(g.c_stride));
  if (status != dnnl_success)
    fail("gemm",
         fmt::format("oneDNN refused [{}, {}] x [{}, {}] (status {})", g.m, g.k, g.k, g.n, static_cast<int>(status)));
}

void limit_gemm([[maybe_unused]] std::string_view table) {
#if defined(__x86_64__)
  if (table == "generic")
    dnnl_set_max_cpu_isa(dnnl_cpu_isa_sse41);
  else if (table == "avx2" || table == "avx2_vnni")
    dnnl_set_max_cpu_isa(dnnl_cpu_isa_avx2);
    // Float32 products are the same in all other tables.
#endif
}

}  // namespace tril::kern
