#include "test/gpu/driver/Graph.h"
#include "test/gpu/driver/Driver.h"

#include <set>

namespace sprig::cuda {
namespace {

constexpr unsigned kMostTurns = 1000000; // of a loop, before it counts as endless

template <class... Parts> struct Overloaded : Parts... {
  using Parts::operator()...;
};
template <class... Parts> Overloaded(Parts...) -> Overloaded<Parts...>;

CUresult append(Driver &driver, const CUgraph_st &graph, const std::vector<size_t> &roots, GraphPlan &plan,
                std::vector<size_t> &leaves);

CUresult appendNode(Driver &driver, const CUgraphNode_st &node, std::vector<size_t> after, GraphPlan &plan) {
  GraphPlan::Node planned;
  planned.source = const_cast<CUgraphNode>(&node);
  planned.context = node.context;
  planned.after = std::move(after);
  planned.work = node.work;
  if (auto *child = std::get_if<ChildGraph>(&node.work)) {
    // Its nodes stand for it; behind them an empty one, which others come after.
    std::vector<size_t> leaves;
    if (CUresult failed = append(driver, *child->graph, planned.after, plan, leaves)) return failed;
    planned.after.insert(planned.after.end(), leaves.begin(), leaves.end());
    planned.work = NoWork();
  }
  if (auto *conditional = std::get_if<Conditional>(&node.work))
    for (auto &body : conditional->bodies)
      if (CUresult failed = GraphPlan::make(driver, *body, planned.bodies.emplace_back())) return failed;
  plan.nodes.push_back(std::move(planned));
  return CUDA_SUCCESS;
}

CUresult append(Driver &driver, const CUgraph_st &graph, const std::vector<size_t> &roots, GraphPlan &plan,
                std::vector<size_t> &leaves) {
  std::map<const CUgraphNode_st *, size_t> placed;
  std::set<const CUgraphNode_st *> continued;
  while (placed.size() < graph.nodes.size()) {
    size_t before = placed.size();
    for (auto &node : graph.nodes) {
      auto isPlaced = [&](CUgraphNode other) { return placed.count(other) != 0; };
      if (placed.count(node.get()) || !std::all_of(node->after.begin(), node->after.end(), isPlaced)) continue;
      std::vector<size_t> after = node->after.empty() ? roots : std::vector<size_t>();
      for (CUgraphNode other : node->after) {
        after.push_back(placed[other]);
        continued.insert(other);
      }
      if (CUresult failed = appendNode(driver, *node, std::move(after), plan)) return failed;
      placed[node.get()] = plan.nodes.size() - 1;
    }
    if (placed.size() == before) return CUDA_ERROR_INVALID_VALUE; // a cycle
  }
  for (auto &[node, index] : placed)
    if (!continued.count(node)) leaves.push_back(index);
  return CUDA_SUCCESS;
}

std::string nameOf(const NodeWork &work) {
  return std::visit(Overloaded{[](const NoWork &) { return std::string("empty node"); },
                               [](const RecordEvent &) { return std::string("event record"); },
                               [](const AwaitEvent &) { return std::string("event wait"); },
                               [](const ChildGraph &) { return std::string("child graph"); },
                               [](const Conditional &) { return std::string("conditional node"); },
                               [](const auto &one) { return nameOf(Work(one)); }},
                    work);
}

// Counts the edges that no other way through the graph implies, and leaves one out if that is asked for.
void dropEdge(Driver &driver, GraphPlan &plan) {
  if (!driver.config.drop[size_t(Ordering::Edge)]) return;
  std::vector<std::set<size_t>> before(plan.nodes.size()); // by whatever way
  for (size_t i = 0; i < plan.nodes.size(); ++i) {
    std::vector<size_t> &after = plan.nodes[i].after;
    for (size_t each : after) {
      before[i].insert(before[each].begin(), before[each].end());
      before[i].insert(each);
    }
    std::erase_if(after, [&](size_t each) {
      auto implies = [&](size_t other) { return before[other].count(each) != 0; };
      return std::none_of(after.begin(), after.end(), implies) && driver.drops(Ordering::Edge, [&] {
        return "edge from '" + nameOf(plan.nodes[each].work) + "' to '" + nameOf(plan.nodes[i].work) + "'";
      });
    });
  }
}

// A node goes on in the lane of one that it comes after, if nobody else has.
void dealLanes(Driver &driver, GraphPlan &plan) {
  std::vector<bool> taken(plan.nodes.size());
  for (GraphPlan::Node &node : plan.nodes) {
    for (size_t before : node.after) {
      if (taken[before]) continue;
      taken[before] = true;
      node.lane = plan.nodes[before].lane;
      break;
    }
    if (!node.lane) node.lane = driver.scheduler.createLane();
  }
}

// The operation of a node; what it waits for is added by the caller.
OperationRef operationOf(Driver &driver, GraphPlan::Node &node, const std::string &where, bool watched);

CUresult runConditional(Driver &driver, const OperationRef &operation, GraphPlan::Node &node) {
  const Conditional &conditional = std::get<Conditional>(node.work);
  Condition &condition = driver.conditions[conditional.handle];
  auto read = [&] {
    if (driver.config.checks.order && condition.setBy && !condition.setBy->happenedBefore(operation->clock))
      driver.report.complain("condition " + condition.setBy->name + "|" + operation->where,
                             "unordered: " + condition.setBy->title() + " sets the condition that " +
                                 operation->title() + " reads; no edge orders them");
    return condition.value;
  };
  auto runBody = [&](GraphPlan &body) {
    std::vector<OperationRef> operations;
    for (GraphPlan::Node &inner : body.nodes) {
      operations.push_back(operationOf(driver, inner, operation->where, false));
      for (size_t before : inner.after) operations.back()->after.push_back(operations[before]);
    }
    driver.scheduler.runWithin(operation, operations);
  };
  switch (conditional.type) {
  case CU_GRAPH_COND_TYPE_IF:
    if (read())
      runBody(node.bodies[0]);
    else if (node.bodies.size() > 1)
      runBody(node.bodies[1]);
    return CUDA_SUCCESS;
  case CU_GRAPH_COND_TYPE_SWITCH:
    if (unsigned which = read(); which < node.bodies.size()) runBody(node.bodies[which]);
    return CUDA_SUCCESS;
  default:
    for (unsigned turn = 0; read() && !operation->context->failed; ++turn) {
      if (turn == kMostTurns) {
        driver.report.complain("endless " + operation->where,
                               operation->title() + " has turned " + std::to_string(kMostTurns) + " times");
        return CUDA_ERROR_LAUNCH_TIMEOUT;
      }
      runBody(node.bodies[0]);
    }
    return CUDA_SUCCESS;
  }
}

OperationRef operationOf(Driver &driver, GraphPlan::Node &node, const std::string &where, bool watched) {
  auto operation = std::make_shared<Operation>();
  operation->where = where;
  operation->context = node.context;
  operation->lane = node.lane;
  auto does = [&](auto work) {
    Work whole = std::move(work);
    operation->callsHost = std::holds_alternative<HostCall>(whole);
    driver.report.counts.hostFunctions += operation->callsHost;
    operation->body = [&driver, whole = std::move(whole)](const OperationRef &self) { driver.perform(self, whole); };
  };
  if (!node.enabled) {
    operation->name = "disabled node";
    return operation;
  }
  operation->name = nameOf(node.work);
  std::visit(Overloaded{[](const NoWork &) {}, [](const RecordEvent &) {}, [](const AwaitEvent &) {},
                        [](const ChildGraph &) {},
                        [&](const Conditional &) {
                          operation->body = [&driver, copy = node](const OperationRef &self) mutable {
                            if (self->context->failed) return;
                            if (CUresult failed = runConditional(driver, self, copy))
                              driver.fail(*self->context, failed);
                          };
                        },
                        [&](Copy copy) {
                          if (watched) watchPinned(driver, copy);
                          does(std::move(copy));
                        },
                        [&](const auto &work) { does(work); }},
             node.work);
  return operation;
}

void collectConditions(const GraphPlan &plan, std::vector<CUgraphConditionalHandle> &handles) {
  for (const GraphPlan::Node &node : plan.nodes) {
    if (auto *conditional = std::get_if<Conditional>(&node.work)) handles.push_back(conditional->handle);
    for (const GraphPlan &body : node.bodies) collectConditions(body, handles);
  }
}

} // namespace

unsigned CUgraphNode_st::type() const {
  constexpr unsigned types[] = {
      CU_GRAPH_NODE_TYPE_EMPTY,      CU_GRAPH_NODE_TYPE_KERNEL, CU_GRAPH_NODE_TYPE_MEMCPY,
      CU_GRAPH_NODE_TYPE_MEMSET,     CU_GRAPH_NODE_TYPE_HOST,   CU_GRAPH_NODE_TYPE_EVENT_RECORD,
      CU_GRAPH_NODE_TYPE_WAIT_EVENT, CU_GRAPH_NODE_TYPE_GRAPH,  CU_GRAPH_NODE_TYPE_CONDITIONAL};
  static_assert(std::size(types) == std::variant_size_v<NodeWork>);
  return types[work.index()];
}

CUgraphNode CUgraph_st::add(CUctx_st &context, NodeWork work, std::vector<CUgraphNode> after) {
  auto node = std::make_unique<CUgraphNode_st>();
  node->graph = this;
  node->context = &context;
  node->work = std::move(work);
  node->after = std::move(after);
  nodes.push_back(std::move(node));
  return nodes.back().get();
}

bool CUgraph_st::has(CUgraphNode node) const {
  return std::any_of(nodes.begin(), nodes.end(), [&](auto &known) { return known.get() == node; });
}

std::shared_ptr<CUgraph_st> CUgraph_st::clone() const {
  auto copy = std::make_shared<CUgraph_st>();
  std::map<CUgraphNode, CUgraphNode> twins;
  for (auto &node : nodes) twins[node.get()] = copy->add(*node->context, node->work, {});
  for (auto &node : nodes)
    for (CUgraphNode before : node->after) twins[node.get()]->after.push_back(twins[before]);
  return copy;
}

CUresult GraphPlan::make(Driver &driver, const CUgraph_st &graph, GraphPlan &plan) {
  std::vector<size_t> leaves;
  if (CUresult failed = append(driver, graph, {}, plan, leaves)) return failed;
  dropEdge(driver, plan);
  dealLanes(driver, plan);
  return CUDA_SUCCESS;
}

GraphPlan::Node *GraphPlan::find(CUgraphNode source) {
  for (Node &node : nodes) {
    if (node.source == source) return &node;
    for (GraphPlan &body : node.bodies)
      if (Node *inner = body.find(source)) return inner;
  }
  return nullptr;
}

void launchGraph(Driver &driver, CUgraphExec_st &executable, CUstream_st &stream) {
  ++driver.report.counts.graphLaunches;
  driver.countOperation(*stream.context);
  auto head = std::make_shared<Operation>();
  head->name = "graph launch";
  head->after.push_back(executable.last);
  std::vector<CUgraphConditionalHandle> handles;
  collectConditions(executable.plan, handles);
  head->body = [&driver, handles](const OperationRef &) {
    for (CUgraphConditionalHandle handle : handles)
      if (Condition &condition = driver.conditions[handle]; condition.assigned) {
        condition.value = condition.initial;
        condition.setBy = nullptr;
      }
  };
  OperationRef begin = driver.queueOperation(stream, head);
  std::string where = "graph " + std::to_string(executable.number) + " in " + stream.title();
  std::vector<OperationRef> queued;
  for (GraphPlan::Node &node : executable.plan.nodes) {
    OperationRef operation = operationOf(driver, node, where, true);
    operation->after.push_back(begin);
    for (size_t before : node.after) operation->after.push_back(queued[before]);
    if (auto *wait = std::get_if<AwaitEvent>(&node.work); wait && driver.events.has(wait->event))
      operation->after.push_back(wait->event->recorded);
    queued.push_back(driver.scheduler.add(operation));
    if (auto *record = std::get_if<RecordEvent>(&node.work); record && driver.events.has(record->event))
      record->event->recorded = queued.back();
  }
  auto end = std::make_shared<Operation>();
  end->name = "end of graph";
  end->after = std::move(queued);
  executable.last = driver.queueOperation(stream, end);
}

CUresult capture(Driver &driver, CUstream_st &stream, NodeWork work) {
  if (stream.capture->invalid) return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
  if (auto *copy = std::get_if<Copy>(&work)) copy->staged = nullptr; // read when the graph runs
  stream.captured = {stream.capture->graph->add(*stream.context, std::move(work), std::move(stream.captured))};
  return CUDA_SUCCESS;
}

} // namespace sprig::cuda
