extern "C" __attribute__((visibility("default"))) const char *sprig_events_version() { return "0.0.9"; }
extern "C" __attribute__((visibility("default"))) void sprig_events_encode() {}
