#include "kern/processor.h"

#include <cpuid.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace tril::kern {
namespace {

struct Registers {
  unsigned a = 0, b = 0, c = 0, d = 0;
};

// Zeros if the processor does not have the leaf.
Registers cpuid(unsigned leaf, unsigned subleaf) {
  Registers r;
  __get_cpuid_count(leaf, subleaf, &r.a, &r.b, &r.c, &r.d);
  return r;
}

bool bit(unsigned value, int i) {
  return (value >> i & 1) != 0;
}

}  // namespace

bool has_avx512_vnni() {
  return bit(cpuid(7, 0).c, 11);
}

bool has_avx512_bf16() {
  return bit(cpuid(7, 1).a, 5);
}

bool pairs_of_bf16_pay() {
  const Registers maker = cpuid(0, 0);
  return !(maker.b == signature_INTEL_ebx && maker.c == signature_INTEL_ecx && maker.d == signature_INTEL_edx);
}

bool may_use_amx() {
  constexpr int amx_bf16 = 22, amx_tile = 24, amx_int8 = 25;
  const unsigned d = cpuid(7, 0).d;
  if (!bit(d, amx_bf16) || !bit(d, amx_tile) || !bit(d, amx_int8)) return false;
  constexpr long request_permission = 0x1023, tile_data = 18;  // ARCH_REQ_XCOMP_PERM, XFEATURE_XTILEDATA
  return syscall(SYS_arch_prctl, request_permission, tile_data) == 0;
}

}  // namespace tril::kern
