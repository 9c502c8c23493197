// RUN: %sprig-opt %s --split-input-file --verify-diagnostics

func.func @rejected() {
  // expected-error@+1 {{reads parameter 'w', which is not declared}}
  %0 = nn.get_param @w : tensor<2xf32>
  return
}

// -----

// expected-note@+1 {{declared here}}
nn.param @w = dense<0.0> : tensor<3xf32>
func.func @rejected() {
  // expected-error@+1 {{reads 2xf32 from parameter 'w' of type 3xf32}}
  %0 = nn.get_param @w : tensor<2xf32>
  return
}

// -----

// expected-note@+1 {{declared here}}
func.func private @w()
func.func @rejected() {
  // expected-error@+1 {{reads 'w', which is no nn.param}}
  %0 = nn.get_param @w : tensor<2xf32>
  return
}

// -----

// expected-error@+1 {{has a value that names the resource 'absent', which is not there}}
nn.param @w = dense_resource<absent> : tensor<3xf32>

// -----

// expected-error@+1 {{has a value that has a resource of 8 bytes where its type takes 12}}
nn.param @w = dense_resource<short> : tensor<3xf32>

{-#
  dialect_resources: {
    builtin: {
      short: "0x040000000000803F00000040"
    }
  }
#-}

// -----

// expected-error@+1 {{has a value that is neither dense nor a dense resource}}
nn.param @w = sparse<[[0]], [1.0]> : tensor<3xf32>

// -----

func.func @rejected() {
  // expected-error@+1 {{has a value that names the resource 'absent', which is not there}}
  %0 = nn.constant dense_resource<absent> : tensor<3xf32>
  return
}

// -----

func.func @rejected(%x: tensor<2xf32>) {
  // expected-error@+1 {{sets parameter 'w', which is not declared}}
  nn.set_param @w, %x : tensor<2xf32>
  return
}

// -----

// expected-note@+1 {{declared here}}
nn.param @w = dense<0.0> : tensor<3xf32>
func.func @rejected(%x: tensor<2xf32>) {
  // expected-error@+1 {{sets 2xf32}}
  nn.set_param @w, %x : tensor<2xf32>
  return
}

// -----

nn.param @w = dense<0.0> : tensor<2xf32>
func.func @rejected(%x: tensor<2xf32>) {
  // expected-note@+1 {{first set here}}
  nn.set_param @w, %x : tensor<2xf32>
  // expected-error@+1 {{sets parameter 'w' a second time}}
  nn.set_param @w, %x : tensor<2xf32>
  return
}
