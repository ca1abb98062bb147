/* The engine of the fixtures, to go on with after an attack. */
#include "../../../fixtures/src/libc.h"
#undef RUN
#define RUN int engine(void)
#include "../../../fixtures/src/engine.c"
