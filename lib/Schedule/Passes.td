//===- Passes.td - From dispatches to a planned program ----------------------------------------------------------------===//
//
// One entry, one .cpp and one test per pass, of one stem: `plan-memory`, PlanMemory.cpp, test/Schedule/plan-memory.mlir.
//
//===------------------------------------------------------------------------------------------------------------------===//

#ifndef SPRIG_SCHEDULE_PASSES_TD
#define SPRIG_SCHEDULE_PASSES_TD

include "mlir/Pass/PassBase.td"

def Schedule : Pass<"sprig-schedule", "::mlir::ModuleOp"> {
  let summary = "Turns functions of dispatches into programs: kernels, buffers and lanes of commands";
  let description = [{
    Each public function becomes an `exec.program` of the same name. A dispatch becomes a kernel, equal ones the same
    kernel, and a command; a reshape is no command but another view of a buffer; a constant becomes bytes of the package,
    a parameter a buffer of its state. What the function returns is copied to the outputs, and what it sets
    (`nn.set_param`) to the states; `plan-memory` removes the copies that it can. Dispatches that compute a new state come
    after those that read the old one, and what needs the result of a collective of ranks after what does not. Where it
    makes the program need a third less memory, operations come as late as their readers allow, so that parts which stand
    side by side, as passes of a step, follow each other; all else keeps the program's order. All commands are on one lane, or, where operations were placed on several devices
    (`kernel.devices`), on one for each: a value that another device needs is copied there once, when it is computed,
    inputs and constants are on all, and events order what crosses. Copies from one device to another have a lane of their
    own for each such way, so that neither computes later for them. A parameter's state is on its home
    (`kernel.device`).
  }];
  let options = [
    Option<"target", "target", "std::string", "\"cpu\"", "kind of device that the kernels are for">,
  ];
  let dependentDialects = ["::sprig::exec::ExecDialect"];
}

def ChooseThreads : Pass<"sprig-choose-threads", "::mlir::ModuleOp"> {
  let summary = "States for each kernel how few tiles are worth a thread of their own";
  let description = [{
    From the kernel's cost and the machine model: a share must take several times as long as handing it over and as
    fetching what another processor has written. Reading constants needs the former alone. With one thread, or where the
    work is less than two shares, all tiles stay together; but what little work stands beside shared kernels is shared,
    too, where threads then fetch less of each other: where tiles follow rows, each finds its own part of what the
    kernel before wrote, and leaves its own part to the one behind. Units of tiles that threads take end where a cache
    line of the results does, unless fewer threads would have work. Decides how fast a kernel is, never what it
    computes: its tiles are those of its shape.
  }];
  let options = [
    Option<"threads", "threads", "int64_t", "0", "threads that the package is for; 0: any number">,
    Option<"flopsPerShare", "flops-per-share", "int64_t", "200000", "floating-point operations worth a thread">,
    Option<"bytesPerShare", "bytes-per-share", "int64_t", "524288", "bytes moved that are worth a thread">,
    Option<"constantsPerShare", "constants-per-share", "int64_t", "262144", "bytes of constants worth a thread">,
    Option<"bytesFetchedPerShare", "bytes-fetched-per-share", "int64_t", "16384",
           "bytes that another processor wrote, fetched in the time of a share">,
    Option<"bytesOfLatency", "bytes-of-latency", "int64_t", "0",
           "bytes that are fetched in the time that the first of them take: each step of a loop waits so long for what "
           "another processor wrote of its input">,
    Option<"bytesByLines", "bytes-by-lines", "int64_t", "32768",
           "bytes of what is fetched that come by single lines, at a third of the rate of those behind them">,
    Option<"bytesOfCache", "bytes-of-cache", "int64_t", "1048576",
           "bytes that another processor's own cache holds: what is behind it is no dearer to two threads than to one">,
  ];
}

def JoinBranches : Pass<"sprig-join-branches", "::mlir::ModuleOp"> {
  let summary = "Makes one command of dispatches that do not depend on each other, so that threads run them side by side";
  let description = [{
    Of commands that follow each other, those that depend on each other are a branch. Where a stretch has several
    branches and its threads are expected to end it sooner together than command by command, it becomes one command of a
    composite kernel: a branch of several commands is one of its tiles, a single command shares its own tiles out over
    several. Which stretches these are is chosen for the least sum of expected times, from the machine model: arithmetic
    and bytes of kernels, a hand-off to the other threads, and what these read of each other. Decides how fast a program
    is, never what it computes. Leaves programs of several lanes, of planned memory, and for a target whose kernels call
    no others as they are.
    Remarks of the category `schedule` say for each stretch what was weighed.
  }];
  let options = [
    Option<"threads", "threads", "int64_t", "0", "threads that the package is for; 0: any number">,
    Option<"target", "target", "std::string", "\"cpu\"", "kind of device that the kernels are for">,
    ListOption<"architectures", "architectures", "std::string", "what the code is for; none: this machine">,
  ];
}

def InlineDispatches : Pass<"sprig-inline-dispatches", "::mlir::ModuleOp"> {
  let summary = "Makes one kernel of a small program";
  let description = [{
    When the work of a whole program is below the limits, the target's own unless others are given, and no command is
    worth a second thread, one kernel computes it all: one function without calls, in which every size, offset and trip count is a constant. What passes between its
    dispatches lies in the kernel's scratch memory, planned here (`places`). A
    program that repeats kernels more often than `max-repeats` is left to `sprig-merge-dispatches`, as each repetition
    would be code of its own. Wants memory that is not planned yet.
  }];
  let options = [
    Option<"maxFlops", "max-flops", "int64_t", "-1", "most floating-point operations of a small program; -1: the target's">,
    Option<"maxBytes", "max-bytes", "int64_t", "-1", "most bytes that a small program moves; -1: the target's">,
    Option<"target", "target", "std::string", "\"cpu\"", "kind of device that the kernels are for">,
    Option<"maxRepeats", "max-repeats", "int64_t", "16", "most commands beyond one for each kernel">,
  ];
  let dependentDialects = ["::sprig::exec::ExecDialect", "::sprig::ir::NNDialect"];
}

def RepeatPrograms : Pass<"sprig-repeat-programs", "::mlir::ModuleOp"> {
  let summary = "Adds entries that do a program several times in one call";
  let description = [{
    Of each program that asks for it (`nn.repeat`, `nn.repeat_entry`) another one is made that does its commands so often,
    as several steps of training: with inputs and outputs for each repetition (`x.0`, `y.0`, `x.1`, `y.1`), on the same
    states, by the same kernels. The bits are those of as many calls. What is written to outputs and states is written
    there in the first place where it can, so that the repetition behind finds it.
    Where ranks run it, what a repetition reads of the one before may come back from them while it has begun: commands
    begin as soon as what they read is expected to be there, by the machine model and what a collective takes,
    and of those that may the first of the old order. The order of
    collectives follows from what needs them alone, so that all ranks have the same: with `nn.repeat_turn` so many
    all-reduces that no other collective of their repetition needs go as they come, the rest in the reverse order, as
    what is made last is read first by the next repetition; others pass those that they do not need. Wants programs of
    one lane whose memory is not planned.
  }];
  let options = [
    Option<"latency", "latency", "double", "9e-5", "seconds that a collective of no bytes takes">,
    Option<"rate", "rate", "double", "1.5e9", "bytes of its buffers for each second that one takes beyond">,
    Option<"target", "target", "std::string", "\"cpu\"", "kind of device that the kernels are for">,
    ListOption<"architectures", "architectures", "std::string", "what the code is for; none: this machine">,
  ];
  let dependentDialects = ["::sprig::exec::ExecDialect"];
}

def PlanMemory : Pass<"sprig-plan-memory", "::sprig::exec::ProgramOp"> {
  let summary = "Gives every arena buffer its place";
  let description = [{
    A result that is copied to an output or a state is written there in the first place when nothing else forbids it:
    a state must not be read any more, unless by the kernel itself where it may overwrite what it reads. Each device has an
    arena. Buffers whose lifetimes do not overlap share bytes, on several lanes where events order all that touches the one
    before all that touches the other; of several ways to place them the smallest arena counts. A result is written
    over an operand that nothing reads any more, where the scheduler says that the kernel allows it.
    Remarks of the category `memory` state the arena's size beside the lower bound, the most bytes alive at once.
  }];
}

def RepeatPieces : Pass<"sprig-repeat-pieces", "::mlir::ModuleOp"> {
  let summary = "Makes commands that do all pieces of a call's samples of those of one piece";
  let description = [{
    Of a program with `kernel.pieces`, inputs, outputs and what commands other than kernels touch become as large as all
    pieces are together, and kernels between such commands one composite kernel that has a tile for each piece: its calls
    are those of every tile, on the tile's part of each array. What kernels hand to each other lies in the memory of the
    thread, for one piece. Needs planned memory.
  }];
  let options = [
    Option<"threads", "threads", "int64_t", "0", "threads that the package is for; 0: any number">,
    Option<"flopsPerShare", "flops-per-share", "int64_t", "0",
           "floating-point operations worth a thread; 0: by the machine">,
    Option<"target", "target", "std::string", "\"cpu\"", "kind of device that the kernels are for">,
    ListOption<"architectures", "architectures", "std::string", "what the code is for; none: this machine">,
  ];
}

def MergeDispatches : Pass<"sprig-merge-dispatches", "::mlir::ModuleOp"> {
  let summary = "Makes one command of a small program that repeats its kernels";
  let description = [{
    When the work of a whole program is below both limits, the target's own unless others are given, and no command is
    worth a second thread, its kernels are called one after the other from one composite kernel, so that a run hands over once. Needs planned memory.
  }];
  let options = [
    Option<"maxFlops", "max-flops", "int64_t", "-1", "most floating-point operations of a small program; -1: the target's">,
    Option<"maxBytes", "max-bytes", "int64_t", "-1", "most bytes that a small program moves; -1: the target's">,
    Option<"target", "target", "std::string", "\"cpu\"", "kind of device that the kernels are for">,
  ];
}

def AssignLanes : Pass<"sprig-assign-lanes", "::mlir::ModuleOp"> {
  let summary = "Spreads programs over the lanes of their devices";
  let description = [{
    List scheduling by upward rank (HEFT): commands in the order of the longest way from them to the end of the program,
    each on the lane of its device on which it can begin first, with events where a lane needs or overwrites bytes of
    another. Which device a command runs on stays as it is; a copy between two is a command with the costs of their link,
    and a lane that has such copies alone stays as it is. Outputs and states are written in place first, where they can
    be, as sprig-plan-memory would.
    Costs are those of the machine models of the devices' targets: work, an event with the bytes that the waiting lane
    reads of another one's, and what a thread's hand-off costs for each lane that the device would not have else. A GPU's
    lanes are branches of a graph: a kernel takes a launch and its work on the multiprocessors that its tiles keep busy,
    and all together take no less than the whole device for their work. A thread of the processor drives one lane at a
    time, so a device gets no more lanes than it has of `threads`; where these are any number, all lanes together take
    no less than their work takes the machine's threads. Leaves
    a program as it is where these take what the lanes win, where a device has several other lanes already, one with
    collectives, and one of planned memory. Fails where events do not order what touches the same bytes.
    Remarks of the category `schedule` say what was weighed, taken or not.
  }];
  let options = [
    Option<"lanes", "lanes", "unsigned", "1", "lanes of each device">,
    Option<"threads", "threads", "int64_t", "0", "threads that the package is for; 0: any number">,
    Option<"target", "target", "std::string", "\"cpu\"", "kind of device that the kernels are for">,
    ListOption<"architectures", "architectures", "std::string", "what the code is for; none: this machine">,
  ];
  let dependentDialects = ["::sprig::exec::ExecDialect"];
}

def OverlapCollectives : Pass<"sprig-overlap-collectives", "::mlir::ModuleOp"> {
  let summary = "Gives collectives of a program a lane of their own, beside what computes";
  let description = [{
    Collectives between whose last operand and first reader something else is to be done, as of gradients, go to a lane of
    their own. Each waits for the event behind the last command that makes its buffers, and what reads these waits for the
    event behind it. Everything else keeps its order, in which `schedule` has put what needs a late collective's result
    behind what does not; what is waited for at once stays where it is. Events keep all collectives in the order that they
    have, which is that of all ranks.
    Leaves a program as it is where that is not expected to end sooner, hand-offs included: where nothing hides the
    collectives, as of one loss, or they take next to nothing. Programs of several lanes and of planned memory stay, too.
    Ranks need not decide the same: they come to the same collectives in the same order either way. Changes no bit.
    Remarks of the category `schedule` say what was weighed, taken or not.
  }];
  let options = [
    Option<"all", "all", "bool", "false", "all that may go beside something else, whatever it is expected to take">,
    Option<"latency", "latency", "double", "9e-5", "seconds that a collective of no bytes takes">,
    Option<"rate", "rate", "double", "1.5e9", "bytes of its buffers for each second that one takes beyond">,
    Option<"target", "target", "std::string", "\"cpu\"", "kind of device that the kernels are for">,
    ListOption<"architectures", "architectures", "std::string", "what the code is for; none: this machine">,
  ];
  let dependentDialects = ["::sprig::exec::ExecDialect"];
}

def VerifyOrder : Pass<"sprig-verify-order", "::mlir::ModuleOp"> {
  let summary = "Proves that lanes and events order all commands that touch the same bytes";
  let description = [{
    Fails where two commands touch the same bytes, one of them writing, and either may come first: in an arena, whichever
    buffers share it, in an output or a state, on one device or through a copy between two; by ranges of tiles where
    kernels state them. Also where a lane would wait forever, and where two collectives of ranks have no order. Runs after every pass that makes or moves commands.
  }];
}

def VerifyProgram : Pass<"sprig-verify-program", "::mlir::ModuleOp"> {
  let summary = "Refuses programs that could not have come from the phases before";
  let description = [{
    For programs that somebody wrote or changed by hand: beyond the order that `sprig-verify-order` proves, each command
    reads only what was given or written before it; every output is written; a result lies over an operand only where
    its kernel reads each element before it writes it; tiles, their bytes and scratch memory of a kernel are those that its code has.
    Runs where a compilation starts behind the phase that schedules.
  }];
  let options = [Option<"target", "target", "std::string", "\"cpu\"", "kind of device that the kernels are for">];
  let dependentDialects = ["::sprig::exec::ExecDialect"];
}

#endif // SPRIG_SCHEDULE_PASSES_TD
