// AVX-VNNI on processors without it: its dot product of bytes is an invalid instruction there, and the handler of the
// signal computes it (Intel 64 and IA-32 Architectures Software Developer's Manual, volume 2, VPDPBUSD; volume 1,
// chapter 13 for where a signal's frame has the registers).
#pragma once

namespace sprig::optable {

bool hasAvxVnni();

/// From now on, for all threads. Every other invalid instruction ends the process as before.
void emulateAvxVnni();

/// Dot products that were emulated so far.
long emulatedInstructions();

} // namespace sprig::optable
