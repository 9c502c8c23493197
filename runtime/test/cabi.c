/* The C ABI from C: compiles as C11, links with the shared library alone, and reports errors. */
#include "sprig/rt/sprig_rt.h"

#include <stdio.h>
#include <string.h>

static int expect(int condition, const char *what) {
  if (!condition)
    printf("FAIL: %s\n", what);
  return !condition;
}

int main(void) {
  int failures = 0;
  sprig_rt_package *package = NULL;
  sprig_rt_status *status = sprig_rt_package_load("/nonexistent/model.sprig", NULL, &package);
  failures += expect(sprig_rt_status_code(status) == SPRIG_RT_NOT_FOUND, "a missing file is not found");
  failures += expect(strstr(sprig_rt_status_message(status), "/nonexistent/model.sprig") != NULL, "the file is named");
  failures += expect(package == NULL, "nothing is written on failure");
  sprig_rt_status_free(status);

  status = sprig_rt_package_load_memory("SPRIGPKG", 8, NULL, NULL, "eight bytes", NULL, &package);
  failures += expect(sprig_rt_status_code(status) == SPRIG_RT_BAD_PACKAGE, "eight bytes are no package");
  printf("%s\n", sprig_rt_status_message(status));
  sprig_rt_status_free(status);

  status = sprig_rt_invoke(NULL, SPRIG_RT_ANY_ENTRY, NULL, 0, NULL, 0);
  failures += expect(sprig_rt_status_code(status) == SPRIG_RT_INVALID_ARGUMENT, "a null context is wrong use");
  sprig_rt_status_free(status);

  sprig_rt_places places = {sizeof places, NULL, NULL};
  status = sprig_rt_invoke_on(NULL, SPRIG_RT_ANY_ENTRY, NULL, 0, NULL, 0, &places);
  failures += expect(sprig_rt_status_code(status) == SPRIG_RT_INVALID_ARGUMENT, "so it is with places");
  sprig_rt_status_free(status);
  status = sprig_rt_enqueue(NULL, SPRIG_RT_ANY_ENTRY, NULL, 0, NULL, 0, "cuda:0", NULL);
  failures += expect(sprig_rt_status_code(status) == SPRIG_RT_INVALID_ARGUMENT, "and in a stream");
  sprig_rt_status_free(status);
  status = sprig_rt_context_wait(NULL);
  failures += expect(sprig_rt_status_code(status) == SPRIG_RT_INVALID_ARGUMENT, "nor is there anything to wait for");
  sprig_rt_status_free(status);

  sprig_rt_profile *profile = NULL;
  status = sprig_rt_profile_create(NULL, &profile);
  failures += expect(status == NULL && !sprig_rt_profile_stream_name(profile, 0), "no stream has recorded");
  failures += expect(!sprig_rt_profile_stream_name(NULL, 0), "nor in no profile");
  sprig_rt_profile_release(profile);

  sprig_rt_pool *pool = NULL;
  sprig_rt_pool_options options = {sizeof options, 2, 0, NULL, 0};
  status = sprig_rt_pool_create(&options, &pool);
  failures += expect(status == NULL && sprig_rt_pool_threads(pool) == 2, "a pool has its threads");
  sprig_rt_pool_release(pool);
  /* An older caller's options end before it. */
  options.size = offsetof(sprig_rt_pool_options, pin);
  options.pin = -1;
  status = sprig_rt_pool_create(&options, &pool);
  failures += expect(status == NULL, "what a caller does not know is not read");
  sprig_rt_pool_release(pool);
  options.size = sizeof options;
  status = sprig_rt_pool_create(&options, &pool);
  failures += expect(sprig_rt_status_code(status) == SPRIG_RT_INVALID_ARGUMENT, "and what it gives is checked");
  sprig_rt_status_free(status);

  sprig_rt_status_free(NULL);
  sprig_rt_package_release(NULL);
  failures += expect(sprig_rt_dtype_size(SPRIG_RT_F32) == 4 && sprig_rt_dtype_size(99) == 0, "sizes of types");
  failures += expect(strcmp(sprig_rt_version(), "") != 0, "a version");
  printf("%d failed\n", failures);
  return failures != 0;
}
