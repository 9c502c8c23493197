// Collectives as recorded operations: part of a function that is being recorded, else queued in the rank's own lane.
// For the recorder and sprig/dist.h.
#pragma once
#include "lib/Frontend/Engine/RankEnd.h"

namespace sprig::frontend {

/// Whether several ranks do it together.
bool isCollective(const OpName &op);

/// The operation of tensors of one type of elements. A barrier and a part are none.
const OpName &collectiveName(rt::collective::Kind kind);
/// Its attributes: the algorithm is by the tensors' bytes where none is given; a root, or a reduction, is for those
/// that have one.
AttrList collectiveAttrs(const RankEnd &end, rt::collective::Kind kind, rt::comm::Reduction reduction,
                         rt::comm::GivenAlgorithm algorithm = {}, int root = 0);

/// Notes in a function that is being recorded which rank's program it is. Throws Error (usage) where it cannot be.
void noteCollective(Trace &trace, const GraphNode &collective);
/// Queues one, behind what its operands are computed by. Results have a handle each that the caller takes over.
void queueCollective(GraphNode &&collective, std::span<const Tensor> operands, std::span<const TensorType> results,
                     Value **values, bool mayTrack);

/// What a collective's status says, with the line. What is wrong with the call itself is Error (usage).
Error errorOf(const rt::comm::Status &status, const std::string &op, Source at);

} // namespace sprig::frontend
