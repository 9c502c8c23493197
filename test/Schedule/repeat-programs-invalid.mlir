// RUN: %sprig-opt %s --sprig-repeat-programs --split-input-file --verify-diagnostics

exec.device @cpu "cpu"
// expected-error@+1 {{is to be repeated 1 times in a call, expected 2 to 256}}
exec.program @once inputs() outputs() attributes {nn.repeat = 1, nn.repeat_entry = "steps"} {
  exec.lane on @cpu {
  }
}

// -----

exec.device @cpu "cpu"
// expected-error@+1 {{is to be repeated 257 times in a call, expected 2 to 256}}
exec.program @often inputs() outputs() attributes {nn.repeat = 257, nn.repeat_entry = "steps"} {
  exec.lane on @cpu {
  }
}

// -----

exec.device @cpu "cpu"
// expected-error@+1 {{is to be repeated in a call, and 'nn.repeat_entry' names no entry}}
exec.program @nameless inputs() outputs() attributes {nn.repeat = 2} {
  exec.lane on @cpu {
  }
}

// -----

exec.device @cpu "cpu"
// expected-error@+1 {{is to be repeated in a call with 'nn.repeat_turn' = -1, expected 0 or more}}
exec.program @turned inputs() outputs() attributes {nn.repeat = 2, nn.repeat_entry = "steps", nn.repeat_turn = -1} {
  exec.lane on @cpu {
  }
}

// -----

exec.device @cpu "cpu"
// expected-error@+1 {{is to be repeated in a call, and its memory is planned}}
exec.program @planned inputs() outputs() arena 64 attributes {nn.repeat = 2, nn.repeat_entry = "steps"} {
  exec.lane on @cpu {
  }
}

// -----

exec.device @cpu "cpu"
// expected-error@+1 {{is to be repeated in a call, and has 2 lanes, expected one}}
exec.program @lanes inputs() outputs() attributes {nn.repeat = 2, nn.repeat_entry = "steps"} {
  exec.lane on @cpu {
  }
  exec.lane on @cpu {
  }
}
