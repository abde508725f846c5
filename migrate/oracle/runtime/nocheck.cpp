/* Without check mode, the checker's hooks do nothing. */
#include "runtime.h"

namespace tm_oracle {
namespace checker {
void launch_begins(const Launch &) {}
void block_begins() {}
void barrier() {}
void warp_sync(uint32_t, unsigned) {}
void fence() {}
void allocated(Allocation &, bool) {}
void freed(Allocation &) {}
void host_wrote(const void *, size_t) {}
void shared_entered(void *, size_t) {}
}  // namespace checker
}  // namespace tm_oracle
