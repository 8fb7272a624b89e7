#include "kern/processor.h"

#if defined(__x86_64__)
#include <cpuid.h>
#ifdef __linux__
#include <sys/syscall.h>
#include <unistd.h>
#endif

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

bool has_avx_vnni() {
  return bit(cpuid(7, 1).a, 4);
}

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
#ifdef __linux__
  constexpr int amx_bf16 = 22, amx_tile = 24, amx_int8 = 25;
  const unsigned d = cpuid(7, 0).d;
  if (!bit(d, amx_bf16) || !bit(d, amx_tile) || !bit(d, amx_int8)) return false;
  constexpr long request_permission = 0x1023, tile_data = 18;  // ARCH_REQ_XCOMP_PERM, XFEATURE_XTILEDATA
  return syscall(SYS_arch_prctl, request_permission, tile_data) == 0;
#else
  return false;
#endif
}

}  // namespace tril::kern

#elif defined(__aarch64__)
#if defined(__linux__)
#include <asm/hwcap.h>
#include <sys/auxv.h>
#elif defined(__APPLE__)
#include <sys/sysctl.h>

#include <cstddef>
#endif

namespace tril::kern {
namespace {

#if defined(__linux__)
bool has_dot() {
  return (getauxval(AT_HWCAP) & HWCAP_ASIMDDP) != 0;
}
bool has_i8mm() {
  return (getauxval(AT_HWCAP2) & HWCAP2_I8MM) != 0;
}
bool has_bf16() {
  return (getauxval(AT_HWCAP2) & HWCAP2_BF16) != 0;
}
#elif defined(__APPLE__)
bool feature(const char* name) {
  int value = 0;
  std::size_t size = sizeof value;
  return sysctlbyname(name, &value, &size, nullptr, 0) == 0 && value != 0;
}
bool has_dot() {
  return feature("hw.optional.arm.FEAT_DotProd");
}
bool has_i8mm() {
  return feature("hw.optional.arm.FEAT_I8MM");
}
bool has_bf16() {
  return feature("hw.optional.arm.FEAT_BF16");
}
#else
bool has_dot() {
  return false;
}
bool has_i8mm() {
  return false;
}
bool has_bf16() {
  return false;
}
#endif

}  // namespace

bool has_neon_dot() {
  return has_dot();
}

bool has_neon_i8mm() {
  return has_dot() && has_i8mm();
}

bool has_neon_bf16() {
  return has_neon_i8mm() && has_bf16();
}

}  // namespace tril::kern
#endif
