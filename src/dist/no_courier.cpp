// The build without MPI (TRIL_MPI=OFF): a job of several processes is refused.
#include "base/error.h"
#include "dist/courier.h"

namespace tril::dist {

World join_world(const RanksOptions&) {
  fail_usage("MPI", "a launcher has started several processes, but this program is built without MPI",
             "start one process, or build tril with -DTRIL_MPI=ON");
}

}  // namespace tril::dist
