// What libsprig_jit shows to programs. For the other public headers; everything that is not marked stays inside.
#pragma once

#define SPRIG_API __attribute__((visibility("default")))
