// libsprig_events.so: events as TensorFlow's messages.
#include "lib/Events/Encoder.h"
#include "lib/Events/Encoder/Event.pb.h"

namespace sprig::events {

namespace {

void describe(const FileVersion &, message::Event &to) { to.set_file_version("brain.Event:2"); }
void describe(const SessionStart &, message::Event &to) {
  to.mutable_session_log()->set_status(message::SessionLog::START);
}
void describe(const Scalar &scalar, message::Event &to) {
  message::Summary::Value &value = *to.mutable_summary()->add_value();
  value.set_tag(scalar.tag.data(), scalar.tag.size());
  value.set_simple_value(scalar.value);
}

} // namespace
} // namespace sprig::events

extern "C" __attribute__((visibility("default"))) const char *sprig_events_version() { return SPRIG_RT_VERSION; }

extern "C" __attribute__((visibility("default"))) void sprig_events_encode(const sprig::events::Event &event,
                                                                           std::string &message) {
  using namespace sprig::events;
  message::Event encoded;
  encoded.set_wall_time(event.wallTime);
  encoded.set_step(event.step);
  std::visit([&](const auto &what) { describe(what, encoded); }, event.what);
  encoded.SerializeToString(&message);
}
