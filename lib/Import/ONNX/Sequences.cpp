// Sequences and optionals. They exist while importing only: a sequence is a list of values of known length.
#include "lib/Import/ONNX/Table.h"

namespace sprig::onnximport {

namespace {

void construct(Node &n) {
  Items list;
  for (Value v : n.tensors()) list.push_back(Item(v));
  n.outList(std::move(list));
}
void empty(Node &n) { n.outList({}); }
void length(Node &n) { n.out(n.ints({int64_t(n.list(0).size())}, {})); }

/// A position in a sequence; one past the end is allowed where something is inserted.
size_t position(Node &n, unsigned input, size_t size, bool pastEnd) {
  int64_t sequenceAt = n.knownInt(input), count = int64_t(size);
  n.require(sequenceAt >= -count && sequenceAt < count + pastEnd,
            "has position " + std::to_string(sequenceAt) + " in a sequence of " + std::to_string(size));
  return size_t(sequenceAt < 0 ? sequenceAt + count : sequenceAt);
}
void sequenceAt(Node &n) {
  const Items &list = n.list(0);
  n.outItem(list[position(n, 1, list.size(), false)]);
}
void insert(Node &n) {
  Items list = n.list(0);
  size_t where = n.has(2) ? position(n, 2, list.size(), true) : list.size();
  if (int64_t(list.size()) >= n.state.limits.nodes)
    n.unsupported("makes a sequence of more than " + std::to_string(n.state.limits.nodes) + " tensors");
  list.insert(list.begin() + int64_t(where), Item(n.in(1)));
  n.outList(std::move(list));
}
void erase(Node &n) {
  Items list = n.list(0);
  n.require(!list.empty(), "takes an element off an empty sequence");
  size_t where = n.has(1) ? position(n, 1, list.size(), false) : list.size() - 1;
  list.erase(list.begin() + int64_t(where));
  n.outList(std::move(list));
}

void concatFromSequence(Node &n) {
  const Items &list = n.list(0);
  n.require(!list.empty(), "joins an empty sequence");
  bool stack = n.intAttr("new_axis", 0) != 0;
  int64_t rank = Emit::rank(list[0].value) + stack, axis = n.axis(n.intAttr("axis"), rank);
  Values parts;
  for (const Item &item : list) {
    n.require(bool(item.value), "joins something that is no tensor");
    parts.push_back(stack ? n.unsqueeze(item.value, axis) : item.value);
  }
  n.out(n.concat(parts, axis));
}

void splitToSequence(Node &n) {
  Value x = n.in(0);
  int64_t axis = n.axis(n.intAttr("axis", 0), Emit::rank(x)), size = Emit::shape(x)[axis];
  Ints sizes;
  bool keep = true;
  auto limit = [&](int64_t parts) {
    if (parts > n.state.limits.nodes)
      n.unsupported("splits into " + std::to_string(parts) + " tensors; the limit is " +
                    std::to_string(n.state.limits.nodes));
  };
  if (!n.has(1)) {
    limit(size);
    sizes.assign(size_t(size), 1);
    keep = n.intAttr("keepdims", 1) != 0;
  } else if (Emit::rank(n.in(1)) == 0) {
    int64_t each = n.knownInt(1);
    n.require(each > 0, "splits into parts of " + std::to_string(each));
    limit(size / each);
    for (int64_t done = 0; done < size; done += std::min(each, size - done))
      sizes.push_back(std::min(each, size - done));
  } else {
    sizes = n.knownInts(1);
  }
  int64_t start = 0;
  Items list;
  for (int64_t part : sizes) {
    n.require(part >= 0 && part <= size - start,
              "splits " + std::to_string(size) + " elements into parts that are longer together");
    Value v = n.sliceAxis(x, axis, start, part);
    list.push_back(Item(keep ? v : n.squeeze(v, axis)));
    start += part;
  }
  n.require(start == size,
            "splits " + std::to_string(size) + " elements into parts of " + std::to_string(start) + " together");
  n.outList(std::move(list));
}

void optional(Node &n) {
  if (n.has(0)) return n.outItem(n.item(0));
  Item none;
  none.emptyOptional = true;
  n.outItem(none);
}
void hasElement(Node &n) { n.out(n.scalar(n.has(0) && !n.items[0].emptyOptional, n.i1())); }
void getElement(Node &n) {
  n.require(n.has(0) && !n.items[0].emptyOptional, "takes the element of an empty optional");
  n.outItem(n.item(0));
}

} // namespace

void addSequences(Table &t) {
  t.add("SequenceConstruct", {11}, construct);
  t.add("SequenceEmpty", {11}, empty);
  t.add("SequenceLength", {11}, length);
  t.add("SequenceAt", {11}, sequenceAt);
  t.add("SequenceInsert", {11}, insert);
  t.add("SequenceErase", {11}, erase);
  t.add("ConcatFromSequence", {11}, concatFromSequence);
  t.add("SplitToSequence", {11, 24}, splitToSequence);
  t.add("Optional", {15, 28}, optional);
  t.add("OptionalHasElement", {15, 18, 28}, hasElement);
  t.add("OptionalGetElement", {15, 18, 28}, getElement);
}

} // namespace sprig::onnximport
