// RUN: %sprig-opt %s --verify-roundtrip --split-input-file | FileCheck %s

// CHECK-LABEL: func.func @abs(
// CHECK: nn.abs %{{.*}} : tensor<2x3xf32>
func.func @abs(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %r = nn.abs %x : tensor<2x3xf32>
  return %r : tensor<2x3xf32>
}

// -----

// CHECK-LABEL: func.func @acos(
// CHECK: nn.acos %{{.*}} : tensor<2x3xf32>
func.func @acos(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %r = nn.acos %x : tensor<2x3xf32>
  return %r : tensor<2x3xf32>
}

// -----

// CHECK-LABEL: func.func @acosh(
// CHECK: nn.acosh %{{.*}} : tensor<2x3xf32>
func.func @acosh(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %r = nn.acosh %x : tensor<2x3xf32>
  return %r : tensor<2x3xf32>
}

// -----

// CHECK-LABEL: func.func @add(
// CHECK: nn.add %{{.*}}, %{{.*}} : tensor<2x3xf32>, tensor<3xf32>
func.func @add(%x: tensor<2x3xf32>, %y: tensor<3xf32>) -> tensor<2x3xf32> {
  %r = nn.add %x, %y : tensor<2x3xf32>, tensor<3xf32>
  return %r : tensor<2x3xf32>
}

// -----

// CHECK-LABEL: func.func @and(
// CHECK: nn.and %{{.*}}, %{{.*}} : tensor<2x3xi1>, tensor<3xi1>
func.func @and(%x: tensor<2x3xi1>, %y: tensor<3xi1>) -> tensor<2x3xi1> {
  %r = nn.and %x, %y : tensor<2x3xi1>, tensor<3xi1>
  return %r : tensor<2x3xi1>
}

// -----

// CHECK-LABEL: func.func @asin(
// CHECK: nn.asin %{{.*}} : tensor<2x3xf32>
func.func @asin(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %r = nn.asin %x : tensor<2x3xf32>
  return %r : tensor<2x3xf32>
}

// -----

// CHECK-LABEL: func.func @asinh(
// CHECK: nn.asinh %{{.*}} : tensor<2x3xf32>
func.func @asinh(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %r = nn.asinh %x : tensor<2x3xf32>
  return %r : tensor<2x3xf32>
}

// -----

// CHECK-LABEL: func.func @atan(
// CHECK: nn.atan %{{.*}} : tensor<2x3xf32>
func.func @atan(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %r = nn.atan %x : tensor<2x3xf32>
  return %r : tensor<2x3xf32>
}

// -----

// CHECK-LABEL: func.func @atanh(
// CHECK: nn.atanh %{{.*}} : tensor<2x3xf32>
func.func @atanh(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %r = nn.atanh %x : tensor<2x3xf32>
  return %r : tensor<2x3xf32>
}

// -----

// CHECK-LABEL: func.func @bitcast(
// CHECK: nn.bitcast %{{.*}} : tensor<4xf32> to tensor<4xi32>
func.func @bitcast(%x: tensor<4xf32>) -> tensor<4xi32> {
  %r = nn.bitcast %x : tensor<4xf32> to tensor<4xi32>
  return %r : tensor<4xi32>
}

// -----

// CHECK-LABEL: func.func @cast(
// CHECK: nn.cast %{{.*}} : tensor<4xf32> to tensor<4xi32>
func.func @cast(%x: tensor<4xf32>) -> tensor<4xi32> {
  %r = nn.cast %x : tensor<4xf32> to tensor<4xi32>
  return %r : tensor<4xi32>
}

// -----

// CHECK-LABEL: func.func @ceil(
// CHECK: nn.ceil %{{.*}} : tensor<2x3xf32>
func.func @ceil(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %r = nn.ceil %x : tensor<2x3xf32>
  return %r : tensor<2x3xf32>
}

// -----

// CHECK-LABEL: func.func @compare(
// CHECK: nn.compare lt %{{.*}}, %{{.*}} : tensor<2x3xf32>, tensor<3xf32>
func.func @compare(%x: tensor<2x3xf32>, %y: tensor<3xf32>) -> tensor<2x3xi1> {
  %r = nn.compare lt %x, %y : tensor<2x3xf32>, tensor<3xf32>
  return %r : tensor<2x3xi1>
}

// -----

// CHECK-LABEL: func.func @cos(
// CHECK: nn.cos %{{.*}} : tensor<2x3xf32>
func.func @cos(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %r = nn.cos %x : tensor<2x3xf32>
  return %r : tensor<2x3xf32>
}

// -----

// CHECK-LABEL: func.func @cosh(
// CHECK: nn.cosh %{{.*}} : tensor<2x3xf32>
func.func @cosh(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %r = nn.cosh %x : tensor<2x3xf32>
  return %r : tensor<2x3xf32>
}

// -----

// CHECK-LABEL: func.func @div(
// CHECK: nn.div %{{.*}}, %{{.*}} : tensor<2x3xf32>, tensor<3xf32>
func.func @div(%x: tensor<2x3xf32>, %y: tensor<3xf32>) -> tensor<2x3xf32> {
  %r = nn.div %x, %y : tensor<2x3xf32>, tensor<3xf32>
  return %r : tensor<2x3xf32>
}

// -----

// CHECK-LABEL: func.func @erf(
// CHECK: nn.erf %{{.*}} : tensor<2x3xf32>
func.func @erf(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %r = nn.erf %x : tensor<2x3xf32>
  return %r : tensor<2x3xf32>
}

// -----

// CHECK-LABEL: func.func @exp(
// CHECK: nn.exp %{{.*}} : tensor<2x3xf32>
func.func @exp(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %r = nn.exp %x : tensor<2x3xf32>
  return %r : tensor<2x3xf32>
}

// -----

// CHECK-LABEL: func.func @expm1(
// CHECK: nn.expm1 %{{.*}} : tensor<2x3xf32>
func.func @expm1(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %r = nn.expm1 %x : tensor<2x3xf32>
  return %r : tensor<2x3xf32>
}

// -----

// CHECK-LABEL: func.func @floor(
// CHECK: nn.floor %{{.*}} : tensor<2x3xf32>
func.func @floor(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %r = nn.floor %x : tensor<2x3xf32>
  return %r : tensor<2x3xf32>
}

// -----

// CHECK-LABEL: func.func @is_inf(
// CHECK: nn.is_inf %{{.*}} : tensor<4xf32>
func.func @is_inf(%x: tensor<4xf32>) -> tensor<4xi1> {
  %r = nn.is_inf %x : tensor<4xf32>
  return %r : tensor<4xi1>
}

// -----

// CHECK-LABEL: func.func @is_nan(
// CHECK: nn.is_nan %{{.*}} : tensor<4xf32>
func.func @is_nan(%x: tensor<4xf32>) -> tensor<4xi1> {
  %r = nn.is_nan %x : tensor<4xf32>
  return %r : tensor<4xi1>
}

// -----

// CHECK-LABEL: func.func @log(
// CHECK: nn.log %{{.*}} : tensor<2x3xf32>
func.func @log(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %r = nn.log %x : tensor<2x3xf32>
  return %r : tensor<2x3xf32>
}

// -----

// CHECK-LABEL: func.func @log1p(
// CHECK: nn.log1p %{{.*}} : tensor<2x3xf32>
func.func @log1p(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %r = nn.log1p %x : tensor<2x3xf32>
  return %r : tensor<2x3xf32>
}

// -----

// CHECK-LABEL: func.func @max(
// CHECK: nn.max %{{.*}}, %{{.*}} : tensor<2x3xf32>, tensor<3xf32>
// CHECK: nn.max %{{.*}}, %{{.*}} {bound} : tensor<2x3xf32>, tensor<3xf32>
func.func @max(%x: tensor<2x3xf32>, %y: tensor<3xf32>) -> tensor<2x3xf32> {
  %0 = nn.max %x, %y : tensor<2x3xf32>, tensor<3xf32>
  %r = nn.max %0, %y {bound} : tensor<2x3xf32>, tensor<3xf32>
  return %r : tensor<2x3xf32>
}

// -----

// CHECK-LABEL: func.func @min(
// CHECK: nn.min %{{.*}}, %{{.*}} : tensor<2x3xf32>, tensor<3xf32>
func.func @min(%x: tensor<2x3xf32>, %y: tensor<3xf32>) -> tensor<2x3xf32> {
  %r = nn.min %x, %y : tensor<2x3xf32>, tensor<3xf32>
  return %r : tensor<2x3xf32>
}

// -----

// CHECK-LABEL: func.func @mod(
// CHECK: nn.mod %{{.*}}, %{{.*}} : tensor<2x3xf32>, tensor<3xf32>
func.func @mod(%x: tensor<2x3xf32>, %y: tensor<3xf32>) -> tensor<2x3xf32> {
  %r = nn.mod %x, %y : tensor<2x3xf32>, tensor<3xf32>
  return %r : tensor<2x3xf32>
}

// -----

// CHECK-LABEL: func.func @mul(
// CHECK: nn.mul %{{.*}}, %{{.*}} : tensor<2x3xf32>, tensor<3xf32>
func.func @mul(%x: tensor<2x3xf32>, %y: tensor<3xf32>) -> tensor<2x3xf32> {
  %r = nn.mul %x, %y : tensor<2x3xf32>, tensor<3xf32>
  return %r : tensor<2x3xf32>
}

// -----

// CHECK-LABEL: func.func @neg(
// CHECK: nn.neg %{{.*}} : tensor<2x3xf32>
func.func @neg(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %r = nn.neg %x : tensor<2x3xf32>
  return %r : tensor<2x3xf32>
}

// -----

// CHECK-LABEL: func.func @not(
// CHECK: nn.not %{{.*}} : tensor<4xi1>
func.func @not(%x: tensor<4xi1>) -> tensor<4xi1> {
  %r = nn.not %x : tensor<4xi1>
  return %r : tensor<4xi1>
}

// -----

// CHECK-LABEL: func.func @or(
// CHECK: nn.or %{{.*}}, %{{.*}} : tensor<2x3xi1>, tensor<3xi1>
func.func @or(%x: tensor<2x3xi1>, %y: tensor<3xi1>) -> tensor<2x3xi1> {
  %r = nn.or %x, %y : tensor<2x3xi1>, tensor<3xi1>
  return %r : tensor<2x3xi1>
}

// -----

// CHECK-LABEL: func.func @pow(
// CHECK: nn.pow %{{.*}}, %{{.*}} : tensor<2x3xf32>, tensor<i32>
func.func @pow(%x: tensor<2x3xf32>, %y: tensor<i32>) -> tensor<2x3xf32> {
  %r = nn.pow %x, %y : tensor<2x3xf32>, tensor<i32>
  return %r : tensor<2x3xf32>
}

// -----

// CHECK-LABEL: func.func @reciprocal(
// CHECK: nn.reciprocal %{{.*}} : tensor<2x3xf32>
func.func @reciprocal(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %r = nn.reciprocal %x : tensor<2x3xf32>
  return %r : tensor<2x3xf32>
}

// -----

// CHECK-LABEL: func.func @relu(
// CHECK: nn.relu %{{.*}} : tensor<2x3xf32>
func.func @relu(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %r = nn.relu %x : tensor<2x3xf32>
  return %r : tensor<2x3xf32>
}

// -----

// CHECK-LABEL: func.func @rem(
// CHECK: nn.rem %{{.*}}, %{{.*}} : tensor<2x3xf32>, tensor<3xf32>
func.func @rem(%x: tensor<2x3xf32>, %y: tensor<3xf32>) -> tensor<2x3xf32> {
  %r = nn.rem %x, %y : tensor<2x3xf32>, tensor<3xf32>
  return %r : tensor<2x3xf32>
}

// -----

// CHECK-LABEL: func.func @round(
// CHECK: nn.round %{{.*}} : tensor<2x3xf32>
func.func @round(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %r = nn.round %x : tensor<2x3xf32>
  return %r : tensor<2x3xf32>
}

// -----

// CHECK-LABEL: func.func @rsqrt(
// CHECK: nn.rsqrt %{{.*}} : tensor<2x3xf32>
func.func @rsqrt(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %r = nn.rsqrt %x : tensor<2x3xf32>
  return %r : tensor<2x3xf32>
}

// -----

// CHECK-LABEL: func.func @select(
// CHECK: nn.select %{{.*}}, %{{.*}}, %{{.*}} : tensor<2x1xi1>, tensor<2x3xf32>, tensor<f32>
func.func @select(%c: tensor<2x1xi1>, %x: tensor<2x3xf32>, %y: tensor<f32>) -> tensor<2x3xf32> {
  %r = nn.select %c, %x, %y : tensor<2x1xi1>, tensor<2x3xf32>, tensor<f32>
  return %r : tensor<2x3xf32>
}

// -----

// CHECK-LABEL: func.func @shl(
// CHECK: nn.shl %{{.*}}, %{{.*}} : tensor<2x3xui8>, tensor<3xui8>
func.func @shl(%x: tensor<2x3xui8>, %y: tensor<3xui8>) -> tensor<2x3xui8> {
  %r = nn.shl %x, %y : tensor<2x3xui8>, tensor<3xui8>
  return %r : tensor<2x3xui8>
}

// -----

// CHECK-LABEL: func.func @shr(
// CHECK: nn.shr %{{.*}}, %{{.*}} : tensor<2x3xui8>, tensor<3xui8>
func.func @shr(%x: tensor<2x3xui8>, %y: tensor<3xui8>) -> tensor<2x3xui8> {
  %r = nn.shr %x, %y : tensor<2x3xui8>, tensor<3xui8>
  return %r : tensor<2x3xui8>
}

// -----

// CHECK-LABEL: func.func @sigmoid(
// CHECK: nn.sigmoid %{{.*}} : tensor<2x3xf32>
func.func @sigmoid(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %r = nn.sigmoid %x : tensor<2x3xf32>
  return %r : tensor<2x3xf32>
}

// -----

// CHECK-LABEL: func.func @sign(
// CHECK: nn.sign %{{.*}} : tensor<2x3xf32>
func.func @sign(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %r = nn.sign %x : tensor<2x3xf32>
  return %r : tensor<2x3xf32>
}

// -----

// CHECK-LABEL: func.func @sin(
// CHECK: nn.sin %{{.*}} : tensor<2x3xf32>
func.func @sin(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %r = nn.sin %x : tensor<2x3xf32>
  return %r : tensor<2x3xf32>
}

// -----

// CHECK-LABEL: func.func @sinh(
// CHECK: nn.sinh %{{.*}} : tensor<2x3xf32>
func.func @sinh(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %r = nn.sinh %x : tensor<2x3xf32>
  return %r : tensor<2x3xf32>
}

// -----

// CHECK-LABEL: func.func @sqrt(
// CHECK: nn.sqrt %{{.*}} : tensor<2x3xf32>
func.func @sqrt(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %r = nn.sqrt %x : tensor<2x3xf32>
  return %r : tensor<2x3xf32>
}

// -----

// CHECK-LABEL: func.func @sub(
// CHECK: nn.sub %{{.*}}, %{{.*}} : tensor<2x3xf32>, tensor<3xf32>
func.func @sub(%x: tensor<2x3xf32>, %y: tensor<3xf32>) -> tensor<2x3xf32> {
  %r = nn.sub %x, %y : tensor<2x3xf32>, tensor<3xf32>
  return %r : tensor<2x3xf32>
}

// -----

// CHECK-LABEL: func.func @tan(
// CHECK: nn.tan %{{.*}} : tensor<2x3xf32>
func.func @tan(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %r = nn.tan %x : tensor<2x3xf32>
  return %r : tensor<2x3xf32>
}

// -----

// CHECK-LABEL: func.func @tanh(
// CHECK: nn.tanh %{{.*}} : tensor<2x3xf32>
func.func @tanh(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %r = nn.tanh %x : tensor<2x3xf32>
  return %r : tensor<2x3xf32>
}

// -----

// CHECK-LABEL: func.func @xor(
// CHECK: nn.xor %{{.*}}, %{{.*}} : tensor<2x3xi1>, tensor<3xi1>
func.func @xor(%x: tensor<2x3xi1>, %y: tensor<3xi1>) -> tensor<2x3xi1> {
  %r = nn.xor %x, %y : tensor<2x3xi1>, tensor<3xi1>
  return %r : tensor<2x3xi1>
}

// CHECK-LABEL: func.func @in_range(
// CHECK: nn.in_range %{{.*}} {high = 1.000000e+00 : f64, low = 0.000000e+00 : f64} : tensor<8xf32>
func.func @in_range(%p: tensor<8xf32>) -> tensor<8xf32> {
  %r = nn.in_range %p {low = 0.0, high = 1.0} : tensor<8xf32>
  return %r : tensor<8xf32>
}
