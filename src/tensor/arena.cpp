// Blocks with boundary tags [Knuth, TAOCP 1, 2.5]: each knows its own size and that of its lower neighbour. Free
// blocks are kept in lists by power of two, with best fit within a list.
#include "tensor/arena.h"

#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <bit>
#include <mutex>
#include <new>

#include "base/as_size.h"
#include "base/error.h"
#include "base/memory.h"

#if defined(__has_feature)
#define TRIL_HAS_FEATURE(name) __has_feature(name)  // clang's name for it
#else
#define TRIL_HAS_FEATURE(name) 0
#endif
#if defined(__SANITIZE_ADDRESS__) || TRIL_HAS_FEATURE(address_sanitizer)
#include <sanitizer/asan_interface.h>
#else
#define ASAN_POISON_MEMORY_REGION(addr, size) (static_cast<void>(addr), static_cast<void>(size))
#define ASAN_UNPOISON_MEMORY_REGION(addr, size) (static_cast<void>(addr), static_cast<void>(size))
#endif

namespace tril {
namespace {

constexpr std::size_t alignment = 64;

struct Block {
  std::size_t size = 0;        // including this header, a multiple of the alignment
  std::size_t lower_size = 0;  // of the block that ends at this one's beginning; 0 for the first
  bool free = false;
  Block *next = nullptr, *previous = nullptr;  // in its list while free
  Storage storage;                             // while it is in use
};

constexpr std::size_t header = (sizeof(Block) + alignment - 1) / alignment * alignment;
constexpr std::size_t smallest = header + alignment;

std::byte* bytes_of(Block* b) {
  return reinterpret_cast<std::byte*>(b);
}
Block* block_at(std::byte* p) {
  return reinterpret_cast<Block*>(p);
}

std::size_t list_of(std::size_t size) {
  return as_size(std::bit_width(size)) - 1;
}

}  // namespace

struct Arena::Pool {
  mutable std::mutex mutex;
  std::byte* base = nullptr;
  std::size_t reserved = 0;
  std::size_t top = 0;       // the memory from here on was never used
  std::size_t top_size = 0;  // size of the block that ends at top; 0 if there is none
  std::array<Block*, 64> lists{};
  Stats stats;
  bool orphan = false;  // the Arena is gone, tensors remain

  explicit Pool(std::size_t limit) {
    const std::size_t page = as_size(sysconf(_SC_PAGESIZE));
    reserved = limit ? limit : 2 * page * as_size(sysconf(_SC_PHYS_PAGES));
    reserved = (reserved + page - 1) / page * page;
    const std::size_t wanted = reserved;
    void* p = MAP_FAILED;
    for (; reserved >= page; reserved = reserved / 2 / page * page) {
      p = mmap(nullptr, reserved, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
      if (p != MAP_FAILED || limit) break;  // a limit of the address space (ulimit -v) may allow only a smaller range
    }
    // Others need address space under that limit too: arenas of other threads, weights, and oneDNN, which
    // crashes if it has no memory for generated code.
    if (p != MAP_FAILED && reserved < wanted && reserved >= 2 * page) {
      const std::size_t kept = reserved / 2 / page * page;
      munmap(static_cast<std::byte*>(p) + kept, reserved - kept);
      reserved = kept;
    }
    if (p == MAP_FAILED)
      fail("arena",
           fmt::format("cannot reserve an address range of {} bytes{}", wanted, limit ? "" : ", nor a smaller one"),
           "pass fewer `threads`, each of which has its own, or raise `ulimit -v`");
    base = static_cast<std::byte*>(p);
    prefer_huge_pages(base, reserved);
  }
  ~Pool() {
    ASAN_UNPOISON_MEMORY_REGION(base, stats.high_water);
    munmap(base, reserved);
  }

  void put(Block* b) {
    b->free = true;
    Block*& first = lists[list_of(b->size)];
    b->previous = nullptr;
    b->next = first;
    if (first) first->previous = b;
    first = b;
  }
  void take(Block* b) {
    (b->previous ? b->previous->next : lists[list_of(b->size)]) = b->next;
    if (b->next) b->next->previous = b->previous;
    b->free = false;
  }

  void tell_upper(Block* b) {
    std::byte* upper = bytes_of(b) + b->size;
    if (upper == base + top)
      top_size = b->size;
    else
      block_at(upper)->lower_size = b->size;
  }

  Block* find(std::size_t size) {
    for (std::size_t list = list_of(size); list < lists.size(); ++list) {
      Block* best = nullptr;
      for (Block* b = lists[list]; b; b = b->next)
        if (b->size >= size && (!best || b->size < best->size)) best = b;
      if (best) return best;
    }
    return nullptr;
  }

  Block* cut(std::size_t size) {
    if (Block* b = find(size)) {
      take(b);
      if (b->size - size >= smallest) {
        ASAN_UNPOISON_MEMORY_REGION(bytes_of(b) + size, sizeof(Block));
        Block* rest = new (bytes_of(b) + size) Block;
        rest->size = b->size - size;
        rest->lower_size = size;
        b->size = size;
        tell_upper(rest);
        put(rest);
      }
      return b;
    }
    // Nothing fits. A free block at the top is extended instead of left unused.
    std::byte* at = base + top;
    std::size_t lower = top_size;
    if (top_size) {
      Block* last = block_at(at - top_size);
      if (last->free) {
        at = bytes_of(last);
        lower = last->lower_size;
        take(last);
      }
    }
    const std::size_t begin = as_size(at - base);
    if (size > reserved - begin) {
      if (at != base + top) put(block_at(at));
      fail("arena", fmt::format("{} more bytes are needed, but {} of {} are in use", size, stats.live_bytes, reserved),
           "lower `max_tokens` or `batch_size`");
    }
    ASAN_POISON_MEMORY_REGION(at, size);  // bytes beyond the requested ones stay poisoned
    ASAN_UNPOISON_MEMORY_REGION(at, sizeof(Block));
    Block* b = new (at) Block;
    b->size = size;
    b->lower_size = lower;
    top = begin + size;
    top_size = size;
    if (top > stats.high_water) stats.high_water = top, ++stats.growths;
    return b;
  }

  // Returns true if this was the last block of an orphan.
  bool give(Block* b) {
    const std::lock_guard lock(mutex);
    stats.live_bytes -= b->size;
    --stats.live_blocks;
    ASAN_POISON_MEMORY_REGION(bytes_of(b) + header, b->size - header);
    std::byte* upper = bytes_of(b) + b->size;
    if (upper != base + top && block_at(upper)->free) {
      take(block_at(upper));
      b->size += block_at(upper)->size;
    }
    if (b->lower_size) {
      Block* lower = block_at(bytes_of(b) - b->lower_size);
      if (lower->free) {
        take(lower);
        lower->size += b->size;
        b = lower;
      }
    }
    tell_upper(b);
    put(b);
    return orphan && stats.live_blocks == 0;
  }
};

Arena::Arena(std::size_t limit_bytes) : pool_(new Pool(limit_bytes)) {}

Arena::~Arena() {
  bool last = false;
  {
    const std::lock_guard lock(pool_->mutex);
    pool_->orphan = true;
    last = pool_->stats.live_blocks == 0;
  }
  if (last) delete pool_;
}

Storage* Arena::allocate(std::size_t bytes) {
  const std::size_t size = header + (bytes + alignment - 1) / alignment * alignment;
  check(size > bytes || bytes == 0, "arena", "{} bytes are more than a machine can address", bytes);
  const std::lock_guard lock(pool_->mutex);
  Block* b = pool_->cut(size < smallest ? smallest : size);
  pool_->stats.live_bytes += b->size;
  ++pool_->stats.live_blocks;
  if (pool_->stats.live_bytes > pool_->stats.peak_bytes) pool_->stats.peak_bytes = pool_->stats.live_bytes;

  Storage* s = &b->storage;
  s->data = bytes_of(b) + header;
  s->bytes = bytes;
  s->id = next_storage_id();
  s->references.store(1, std::memory_order_relaxed);
  s->owner = pool_;
  s->release = [](Storage* self) {
    Pool* pool = static_cast<Pool*>(self->owner);
    Block* block = block_at(self->data - header);
    if (pool->give(block)) delete pool;
  };
  ASAN_UNPOISON_MEMORY_REGION(s->data, bytes);
  return s;
}

Arena::Stats Arena::stats() const {
  const std::lock_guard lock(pool_->mutex);
  return pool_->stats;
}

void Arena::reset_peak() {
  const std::lock_guard lock(pool_->mutex);
  pool_->stats.peak_bytes = pool_->stats.live_bytes;
}

}  // namespace tril
