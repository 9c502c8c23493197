// What a process has to know to be let in.
#ifndef SPRIG_RUNTIME_COMM_STORE_SECRET_H
#define SPRIG_RUNTIME_COMM_STORE_SECRET_H

#include <string>
#include <string_view>

namespace sprig::rt::comm {

// 32 random hexadecimal digits; empty where the system has no random numbers.
std::string randomSecret();

// Compares in a time that depends on the length of the given text alone.
bool isSecret(std::string_view given, std::string_view own);

} // namespace sprig::rt::comm

#endif
