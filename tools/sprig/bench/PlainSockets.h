// Two threads of this process that send each other messages over sockets of the loopback device, with nothing of ours
// between: what TCP and UDP take by themselves. For `sprig bench comm`.
#pragma once
#include <cstddef>

namespace sprig::cli {

enum class Protocol { tcp, udp };

/// Seconds of a message there and one back, the median of some. Messages over UDP that are longer than a datagram go as
/// several, a few at a time, each few confirmed. Throws runtime where there is no socket, or a datagram is lost.
double pingPongSeconds(Protocol protocol, size_t bytes, int rounds);

/// Seconds of making a connection, a message of one byte there and back, and its end; UDP has no connection.
double connectionSeconds(Protocol protocol, int rounds);

} // namespace sprig::cli
