// Collectives as programs: what each rank sends, receives and adds, in which order. Data, made by `makeProgram` from a
// plan; engines run it, the simulator plays it on a topology, `play` proves it.
//
// A rank has a buffer of elements that is cut into pieces (`pieceOf`); steps are about whole pieces. So the rank that
// adds up an element, and the order in which it does, follow from the element's index, the algorithm and the number of
// ranks alone: bits depend on nothing else, be it timing or what else travels in the same message.
#ifndef SPRIG_RUNTIME_COLLECTIVE_COLLECTIVE_H
#define SPRIG_RUNTIME_COLLECTIVE_COLLECTIVE_H

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace sprig::rt::collective {

enum class Kind : uint8_t {
  allReduce,     // every rank gets the sum of all buffers
  reduceScatter, // rank i gets piece i of the sum
  allGather,     // every rank gets piece i of rank i
  broadcast,     // every rank gets the root's buffer
  reduce,        // the root gets the sum
  gather,        // the root gets piece i of rank i
  scatter,       // rank i gets piece i of the root
  allToAll,      // rank i gets piece i of rank j as its piece j; or back (`exchanges`)
  barrier,       // nobody goes on before all have come
  part,          // rank i gets piece i of its own buffer: there is no message
};

// How a rank's tensors take part: where pieces are ranks' parts, a part may be memory of its own beside the whole.
enum class Form : uint8_t {
  inPlace,  // the whole becomes the result
  toPart,   // a whole, which does not stay what it was, gives this rank's part
  fromPart, // parts make up the whole
  apart,    // from one whole to another
};
Form formOf(Kind kind);
// Whether it has a root; whether it waits for other ranks.
bool isRooted(Kind kind);
inline bool meets(Kind kind) { return kind != Kind::part; }

enum class Algorithm : uint8_t {
  star,          // all to one rank, and back from it
  split,         // each rank does what the star's does, for its piece
  tree,          // binomial: ceil(log2 N) rounds each way
  ring,          // pieces go around (Patarasuk and Yuan, JPDC 2009)
  bidirectional, // half of the pieces each way around
  rings,         // the plan's rings at once
  hierarchy,     // a ring within each machine, rings between machines of the ranks of equal place, a ring within
};

// Where ranks are and what they do. Ranks are numbered machine by machine.
struct Plan {
  Kind kind = Kind::allReduce;
  Algorithm algorithm = Algorithm::ring;
  int ranks = 1;
  int root = 0;                             // of broadcast, reduce, gather, scatter
  int perMachine = 1;                       // of hierarchy: divides `ranks`
  std::vector<std::vector<int>> rings = {}; // of rings: each has every rank once, in its order
};

struct Step {
  enum class Kind : uint8_t {
    send,    // the pieces, as they are now, to the peer; goes on at once
    receive, // the pieces become the peer's
    reduce,  // the pieces become what comes from the peer, plus what they are
    finish,  // the pieces are sums of all ranks now: a mean divides here
    keep, // the pieces of the result become those of the input (allToAll alone, where these are two buffers, each cut
          // by itself)
  };
  Kind kind;
  uint8_t lane;       // steps of a lane follow one another; those of other lanes are about other pieces
  int32_t peer;       // -1: none
  uint32_t piece = 0; // the first of `count`
  uint32_t count = 0; // of a barrier's messages 0
};

// What one rank does. Messages from one rank to another are received in the order in which they are sent.
struct Program {
  int rank = 0;
  uint32_t pieces = 0;
  uint8_t lanes = 1;
  bool isApart = false; // sends are of the input, receives into a result of its own
  std::vector<Step> steps;
};

// A range of elements.
struct Range {
  int64_t begin = 0, end = 0;
  int64_t size() const { return end - begin; }
};

// Piece `index` of `pieces` of so many elements: sizes differ by one at most, larger ones come first.
Range pieceOf(int64_t elements, uint32_t pieces, uint32_t index);
// Pieces from the first on.
Range piecesOf(int64_t elements, uint32_t pieces, uint32_t first, uint32_t count);

// What a rank gets for so many rows when all exchange them: of every rank the piece that has the rank's number.
int64_t exchangedRows(int64_t rows, uint32_t ranks, uint32_t rank);
// Whether all_to_all makes so many rows of a rank of those: `to` is what it gets for `from`, or `from` what it got for
// `to`, and goes back.
bool exchanges(int64_t from, int64_t to, uint32_t ranks, uint32_t rank);

// The program of a rank, or in `why` what is wrong with the plan, by name. Every plan of `ranks` = 1 is an empty
// program but for what finishes or keeps.
bool makeProgram(const Plan &plan, int rank, Program &program, std::string &why);

// Whether an algorithm does this at all.
bool does(Algorithm algorithm, Kind kind);

// The algorithm where none is asked for, of so many bytes: from a table that is fixed, so that bits are.
Algorithm chooseAlgorithm(Kind kind, int ranks, int64_t bytes);

std::string_view nameOf(Kind kind);
std::string_view nameOf(Algorithm algorithm);
// By its name; false where it has none.
bool findAlgorithm(std::string_view name, Algorithm &algorithm);
// "star, split, ...": those that do this.
std::string algorithmsOf(Kind kind);

} // namespace sprig::rt::collective

#endif
