// RUN: %sprig-opt %s --split-input-file --verify-diagnostics

// expected-error@+1 {{'func.func' op has 'nn.entri', which nn does not know; its attributes are nn.entry, nn.name, nn.state, nn.independent_samples, nn.lengths, nn.repeat, nn.repeat_entry, nn.repeat_turn, nn.index_ranges, nn.training, nn.passes, nn.gradients, nn.total, nn.optimizer_state, nn.momentum, nn.draw, nn.differentiated, nn.partials, nn.sum, nn.place}}
func.func @misspelt(%x: tensor<4xf32>) -> tensor<4xf32> attributes {nn.entri = "main"} {
  return %x : tensor<4xf32>
}

// -----

// expected-error@+1 {{'func.func' op has 'nn.entry' = 3 : i64, expected a string}}
func.func @entry(%x: tensor<4xf32>) -> tensor<4xf32> attributes {nn.entry = 3} {
  return %x : tensor<4xf32>
}

// -----

func.func @entry_of_an_operation(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error@+1 {{'nn.relu' op has 'nn.entry', which stands on a function}}
  %0 = nn.relu %x {nn.entry = "main"} : tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

// expected-error@+1 {{'func.func' op has 'nn.independent_samples' = true, expected no value}}
func.func @samples(%x: tensor<4xf32>) -> tensor<4xf32> attributes {nn.independent_samples = true} {
  return %x : tensor<4xf32>
}

// -----

func.func @samples_of_an_operation(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error@+1 {{'nn.relu' op has 'nn.independent_samples', which stands on a function}}
  %0 = nn.relu %x {nn.independent_samples} : tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

// expected-error@+1 {{'func.func' op has 'nn.name' on argument 0 = 1 : i64, expected a string}}
func.func @argument(%x: tensor<4xf32> {nn.name = 1}) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}

// -----

// expected-error@+1 {{'func.func' op has 'nn.nam' on argument 1, which nn does not know}}
func.func @misspelt_argument(%x: tensor<4xf32>, %y: tensor<4xf32> {nn.nam = "y"}) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}

// -----

// expected-error@+1 {{'func.func' op has 'nn.entry' on argument 0, which stands on a function}}
func.func @entry_of_an_argument(%x: tensor<4xf32> {nn.entry = "main"}) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}

// -----

// expected-error@+1 {{'func.func' op has 'nn.name' on result 0 = unit, expected a string}}
func.func @result(%x: tensor<4xf32>) -> (tensor<4xf32> {nn.name}) {
  return %x : tensor<4xf32>
}

// -----

// expected-error@+1 {{'func.func' op has 'nn.nam' on result 0, which nn does not know}}
func.func @misspelt_result(%x: tensor<4xf32>) -> (tensor<4xf32> {nn.nam = "y"}) {
  return %x : tensor<4xf32>
}

// -----

// expected-error@+1 {{'func.func' op has 'nn.name', which stands on an argument or a result of a function}}
func.func @name(%x: tensor<4xf32>) -> tensor<4xf32> attributes {nn.name = "main"} {
  return %x : tensor<4xf32>
}

// -----

// expected-error@+1 {{'builtin.module' op has 'nn.training' = 1 : i64, expected a string}}
module attributes {nn.training = 1} {
}

// -----

// expected-error@+1 {{'func.func' op has 'nn.training', which stands on a module}}
func.func @training(%x: tensor<4xf32>) -> tensor<4xf32> attributes {nn.training = "{}"} {
  return %x : tensor<4xf32>
}

// -----

func.func @momentum(%x: tensor<2x3xf32>, %s: tensor<3xf32>) -> tensor<2x3xf32> {
  // expected-error@+1 {{'nn.batch_norm' op has 'nn.momentum' = "half", expected a float}}
  %0 = nn.batch_norm %x, %s, %s, %s, %s {epsilon = 1.0e-3 : f64, nn.momentum = "half"} : tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>
  return %0 : tensor<2x3xf32>
}

// -----

func.func @momentum_of_another(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error@+1 {{'nn.relu' op has 'nn.momentum', which stands on nn.batch_norm}}
  %0 = nn.relu %x {nn.momentum = 0.5 : f64} : tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func @differentiated(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error@+1 {{'nn.relu' op has 'nn.differentiated' = 1 : i64, expected no value}}
  %0 = nn.relu %x {nn.differentiated = 1} : tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func @partials(%x: tensor<4x4xf32>) -> tensor<4xf32> {
  // expected-error@+1 {{'nn.reduce' op has 'nn.partials' = 4 : i64, expected no value}}
  %0 = nn.reduce sum %x axes = [0] {nn.partials = 4} : tensor<4x4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func @sum(%x: tensor<4x4xf32>) -> tensor<4xf32> {
  // expected-error@+1 {{'nn.reduce' op has 'nn.sum' = 4 : i64, expected a string}}
  %0 = nn.reduce sum %x axes = [0] {nn.sum = 4} : tensor<4x4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func @partials_of_another(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error@+1 {{'nn.relu' op has 'nn.partials', which stands on nn.reduce}}
  %0 = nn.relu %x {nn.partials} : tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func @place(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error@+1 {{'nn.relu' op has 'nn.place' = 1 : i64, expected a string}}
  %0 = nn.relu %x {nn.place = 1} : tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

// expected-error@+1 {{'func.func' op has 'nn.repeat' = "twice", expected an integer}}
func.func @repeat(%x: tensor<4xf32>) -> tensor<4xf32> attributes {nn.repeat = "twice"} {
  return %x : tensor<4xf32>
}

// -----

// expected-error@+1 {{'func.func' op has 'nn.repeat_entry' = 2 : i64, expected a string}}
func.func @repeat_entry(%x: tensor<4xf32>) -> tensor<4xf32> attributes {nn.repeat_entry = 2} {
  return %x : tensor<4xf32>
}

// -----

// expected-error@+1 {{'func.func' op has 'nn.repeat_turn' = "first", expected an integer}}
func.func @repeat_turn(%x: tensor<4xf32>) -> tensor<4xf32> attributes {nn.repeat_turn = "first"} {
  return %x : tensor<4xf32>
}

// -----

func.func @repeat_of_an_operation(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error@+1 {{'nn.relu' op has 'nn.repeat', which stands on a function or a program}}
  %0 = nn.relu %x {nn.repeat = 2} : tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

// expected-error@+1 {{'func.func' op has 'nn.state' on argument 0 = "h", expected a symbol}}
func.func @state_of_no_symbol(%h: tensor<2xf32> {nn.state = "h"}) {
  return
}

// -----

// expected-error@+1 {{'func.func' op has 'nn.state', which stands on an argument or a result of a function}}
func.func @state_of_no_port() attributes {nn.state = @h} {
  return
}

// -----

func.func @draw_of_no_words(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error@+1 {{'nn.relu' op has 'nn.draw', which stands on nn.philox}}
  %0 = nn.relu %x {nn.draw = 2} : tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

// expected-error@+1 {{'func.func' op has 'nn.index_ranges' = [1, 2], expected ranges for each input}}
func.func @index_ranges(%x: tensor<4xf32>) -> tensor<4xf32> attributes {nn.index_ranges = [1, 2]} {
  return %x : tensor<4xf32>
}

// -----

// expected-error@+1 {{'func.func' op has 'nn.name' on argument 0 = "x\00y", expected a string without a NUL}}
func.func @name_with_nul(%x: tensor<4xf32> {nn.name = "x\00y"}) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}

// -----

// expected-error@+1 {{'func.func' op has 'nn.entry' = "x\00y", expected a string without a NUL}}
func.func @entry_with_nul(%x: tensor<4xf32>) -> tensor<4xf32> attributes {nn.entry = "x\00y"} {
  return %x : tensor<4xf32>
}

// -----

// expected-error@+1 {{'nn.param' op has a name with a NUL: "w\00x"}}
nn.param @"w\00x" = dense<1.0> : tensor<2xf32>

// -----

// expected-error@+1 {{'func.func' op has 'nn.independent_samples', and result 0 of type 'tensor<f32>' has no first axis}}
func.func @samples_of_a_scalar(%x: tensor<4xf32>) -> tensor<f32> attributes {nn.independent_samples} {
  %0 = nn.constant dense<1.0> : tensor<f32>
  return %0 : tensor<f32>
}

// -----

// expected-error@+1 {{'func.func' op has 'nn.independent_samples', and argument 1 has 3 samples, where those before have 4}}
func.func @samples_that_differ(%x: tensor<4xf32>, %y: tensor<3xf32>) -> tensor<4xf32> attributes {nn.independent_samples} {
  return %x : tensor<4xf32>
}

// -----

// expected-error@+1 {{'func.func' op has 'nn.independent_samples' and no argument that samples could come in by}}
func.func @samples_of_nothing() -> tensor<4xf32> attributes {nn.independent_samples} {
  %0 = nn.constant dense<1.0> : tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

// expected-error@+1 {{'func.func' op has 'nn.passes' = 16 : i64, expected samples of each pass}}
func.func @passes(%x: tensor<16xf32>) attributes {nn.passes = 16} {
  return
}

// -----

func.func @gradients(%x: tensor<4xf32>) {
  // expected-error@+1 {{'nn.neg' op has 'nn.gradients' = "w", expected names of parameters}}
  %0 = nn.neg %x {nn.gradients = "w"} : tensor<4xf32>
  return
}

// -----

func.func @total(%x: tensor<4xf32>) {
  // expected-error@+1 {{'nn.neg' op has 'nn.total' = unit, expected a string}}
  %0 = nn.neg %x {nn.total} : tensor<4xf32>
  return
}

// -----

// expected-error@+1 {{'func.func' op has 'nn.optimizer_state', which stands on nn.param}}
func.func @state(%x: tensor<4xf32>) attributes {nn.optimizer_state} {
  return
}
