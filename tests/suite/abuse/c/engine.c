/* The engine of the fixtures, to go on with after an attack. Its clock runs fast, so that it moves at once. */
#define now real_now
#include "../../../../fixtures/src/libc.h"
#undef now
#undef RUN
#define RUN int engine(void)
static long now(void) { return 16 * real_now(); }
#include "../../../../fixtures/src/engine.c"
