//! Kernels over the widest vector registers of the machine, detected at run time.
//!
//! The compiler vectorizes loops over arrays of lanes with gathers and scatters, which gains nothing. With the types
//! here, which are vector registers, stress and tangent of a law take a quarter to a sixth of the scalar time (AVX-512;
//! `cargo bench --bench laws`). This justifies the `unsafe` code in this file.
//!
//! It is sound because the types are private. Code sees them only as the parameter of [`Kernel::run`], which
//! [`dispatch`] calls with a type that the machine supports.

use super::{Lanes, Real};

/// Reals that are loaded and stored several at a time.
pub trait Simd: Real {
    /// Number of lanes.
    const WIDTH: usize;

    /// Single-precision numbers in the same registers.
    type Singles: Singles;

    /// Loads the first [`Self::WIDTH`] numbers of `from`.
    ///
    /// # Panics
    /// If there are fewer.
    fn load(from: &[f64]) -> Self;

    /// Stores to the first [`Self::WIDTH`] entries of `to`.
    ///
    /// # Panics
    /// If there are fewer.
    fn store(self, to: &mut [f64]);

    /// Stores nine numbers per lane contiguously: first those of the first lane, then of the second, and so on.
    ///
    /// # Panics
    /// If there are fewer than nine entries per lane.
    fn store_nines(numbers: &[Self; 9], to: &mut [f64]);
}

/// Sixteen single-precision numbers, for memory-bound kernels.
pub trait Singles: Copy {
    /// Broadcasts a number to all lanes.
    fn splat(x: f32) -> Self;

    /// Loads sixteen numbers.
    fn load(from: &[f32; 16]) -> Self;

    /// Loads sixteen integers and converts them.
    fn load_integers(from: &[i16; 16]) -> Self;

    /// Stores all lanes.
    fn store(self, to: &mut [f32; 16]);

    /// Computes `self · a + b`.
    #[must_use]
    fn mul_add(self, a: Self, b: Self) -> Self;

    /// Returns the sum of all lanes, by pairwise summation.
    fn total(self) -> f32;
}

/// Computation written for lanes of any width.
pub trait Kernel {
    /// Result of the computation.
    type Output;

    /// Runs the computation. It and everything called in its loops must be `#[inline(always)]`, to be compiled for the
    /// registers of `R`.
    fn run<R: Simd>(self) -> Self::Output;
}

/// Runs `kernel` with the widest lanes of this machine.
pub fn dispatch<K: Kernel>(kernel: K) -> K::Output {
    dispatch_for::<(), K>(kernel)
}

/// Runs `kernel` as [`dispatch`] does, compiled with the code of the type `T`.
///
/// The compiler divides a crate into units that it compiles again when they change. It puts generic functions into that
/// of their module, and methods into that of the type. So if `T` is a law, a change of it compiles its kernels again,
/// and not those of all laws.
pub fn dispatch_for<T, K: Kernel>(kernel: K) -> K::Output {
    #[cfg(target_arch = "x86_64")]
    return x86::dispatch::<T, K>(kernel);
    #[cfg(not(target_arch = "x86_64"))]
    kernel.run::<f64>()
}

/// Returns the number of lanes in the widest registers of this machine.
pub fn lane_count() -> usize {
    struct Width;
    impl Kernel for Width {
        type Output = usize;
        fn run<R: Simd>(self) -> usize {
            R::WIDTH
        }
    }
    dispatch(Width)
}

/// Computes `a · b + c` of scalars in a kernel, with one rounding on machines with the registers of `R`.
#[inline(always)]
pub fn fused<R: Simd>(a: f64, b: f64, c: f64) -> f64 {
    // Without wide registers, a single rounding would cost a library call.
    if R::WIDTH > 1 { a.mul_add(b, c) } else { a * b + c }
}

/// Fallback for machines without known wide registers. Portable arrays of lanes are slower: the compiler turns them
/// into gathers.
impl Simd for f64 {
    const WIDTH: usize = 1;

    type Singles = [f32; 16];

    #[inline(always)]
    fn load(from: &[f64]) -> Self {
        from[0]
    }

    #[inline(always)]
    fn store(self, to: &mut [f64]) {
        to[0] = self;
    }

    #[inline(always)]
    fn store_nines(numbers: &[Self; 9], to: &mut [f64]) {
        to[..9].copy_from_slice(numbers);
    }
}

/// Scalar fallback with two roundings in a product and sum: a single rounding would cost a library call.
impl Singles for [f32; 16] {
    #[inline(always)]
    fn splat(x: f32) -> Self {
        [x; 16]
    }

    #[inline(always)]
    fn load(from: &[f32; 16]) -> Self {
        *from
    }

    #[inline(always)]
    fn load_integers(from: &[i16; 16]) -> Self {
        let mut lanes = [0.0; 16];
        for (lane, &number) in lanes.iter_mut().zip(from) {
            *lane = f32::from(number);
        }
        lanes
    }

    #[inline(always)]
    fn store(self, to: &mut [f32; 16]) {
        *to = self;
    }

    #[inline(always)]
    fn mul_add(mut self, a: Self, b: Self) -> Self {
        for lane in 0..16 {
            self[lane] = self[lane] * a[lane] + b[lane];
        }
        self
    }

    #[inline(always)]
    fn total(mut self) -> f32 {
        for half in [8, 4, 2, 1] {
            for lane in 0..half {
                self[lane] += self[lane + half];
            }
        }
        self[0]
    }
}

impl<const N: usize, const FUSED: bool> Simd for Lanes<N, FUSED> {
    const WIDTH: usize = N;

    type Singles = [f32; 16];

    #[inline(always)]
    fn load(from: &[f64]) -> Self {
        let mut lanes = [0.0; N];
        lanes.copy_from_slice(&from[..N]);
        Self(lanes)
    }

    #[inline(always)]
    fn store(self, to: &mut [f64]) {
        to[..N].copy_from_slice(&self.0);
    }

    #[inline(always)]
    fn store_nines(numbers: &[Self; 9], to: &mut [f64]) {
        for lane in 0..N {
            for (place, number) in to[9 * lane..9 * lane + 9].iter_mut().zip(numbers) {
                *place = number.0[lane];
            }
        }
    }
}

#[cfg(target_arch = "x86_64")]
#[allow(unsafe_code, reason = "measured and argued at the head of the file")]
mod x86 {
    #[allow(clippy::wildcard_imports, reason = "the instructions carry their own prefix")]
    use std::arch::x86_64::*;
    use std::ops::{Add, AddAssign, Div, Mul, MulAssign, Neg, Sub, SubAssign};

    use super::{Kernel, Real, Simd, Singles};

    /// Kernels for each width, as methods of a type: see [`dispatch_for`](super::dispatch_for).
    trait Compiled {
        /// Runs a kernel in registers of eight lanes.
        ///
        /// # Safety
        /// The machine must have the features that it is compiled for.
        unsafe fn wide<K: Kernel>(kernel: K) -> K::Output;

        /// Runs a kernel in registers of four lanes.
        ///
        /// # Safety
        /// The machine must have the features that it is compiled for.
        unsafe fn medium<K: Kernel>(kernel: K) -> K::Output;
    }

    impl<T> Compiled for T {
        #[target_feature(enable = "avx512f,avx512dq,avx512vl,avx2,fma")]
        unsafe fn wide<K: Kernel>(kernel: K) -> K::Output {
            kernel.run::<F64x8>()
        }

        #[target_feature(enable = "avx2,fma")]
        unsafe fn medium<K: Kernel>(kernel: K) -> K::Output {
            kernel.run::<F64x4>()
        }
    }

    pub fn dispatch<T, K: Kernel>(kernel: K) -> K::Output {
        let has_fma = is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma");
        let has_512 = is_x86_feature_detected!("avx512f")
            && is_x86_feature_detected!("avx512dq")
            && is_x86_feature_detected!("avx512vl");
        if has_fma && has_512 {
            // SAFETY: the machine has all features that `wide` is compiled for.
            unsafe { T::wide(kernel) }
        } else if has_fma {
            // SAFETY: the machine has all features that `medium` is compiled for.
            unsafe { T::medium(kernel) }
        } else {
            kernel.run::<f64>()
        }
    }

    /// Implements [`Real`] for a vector register. Its instructions exist on this machine, because only [`dispatch`]
    /// names the type.
    macro_rules! register {
        ($name:ident, $register:ty, $width:literal, $mask:ty, $set:ident, $load:ident, $store:ident, $add:ident, $sub:ident,
         $mul:ident, $div:ident, $fma:ident, $sqrt:ident, less: $less:expr, select: $select:expr, any: $any:expr,
         transpose: $transpose:ident, singles: $singles:ty) => {
            #[derive(Debug, Clone, Copy)]
            pub struct $name($register);

            register!(@operator $name, Add, add, AddAssign, add_assign, $add, $set);
            register!(@operator $name, Sub, sub, SubAssign, sub_assign, $sub, $set);
            register!(@operator $name, Mul, mul, MulAssign, mul_assign, $mul, $set);
            register!(@binary $name, Div, div, $div, $set);

            impl Neg for $name {
                type Output = Self;
                #[inline(always)]
                fn neg(self) -> Self {
                    self * -1.0
                }
            }

            impl From<f64> for $name {
                #[inline(always)]
                fn from(x: f64) -> Self {
                    // SAFETY: see the macro.
                    Self(unsafe { $set(x) })
                }
            }

            impl $name {
                /// Applies a function that has no instruction, lane by lane.
                #[inline(always)]
                fn lanewise(self, function: impl Fn(f64) -> f64) -> Self {
                    let mut lanes = [0.0; $width];
                    self.store(&mut lanes);
                    for lane in &mut lanes {
                        *lane = function(*lane);
                    }
                    Self::load(&lanes)
                }
            }

            impl Real for $name {
                type Mask = $mask;

                #[inline(always)]
                fn mul_add(self, a: Self, b: Self) -> Self {
                    // SAFETY: see the macro.
                    Self(unsafe { $fma(self.0, a.0, b.0) })
                }
                #[inline(always)]
                fn sqrt(self) -> Self {
                    // SAFETY: see the macro.
                    Self(unsafe { $sqrt(self.0) })
                }
                #[inline(always)]
                fn cbrt(self) -> Self {
                    self.lanewise(f64::cbrt)
                }
                #[inline(always)]
                fn ln(self) -> Self {
                    self.lanewise(f64::ln)
                }
                #[inline(always)]
                fn exp(self) -> Self {
                    self.lanewise(f64::exp)
                }
                #[inline(always)]
                fn powf(self, exponent: f64) -> Self {
                    self.lanewise(|x| x.powf(exponent))
                }
                #[inline(always)]
                fn less(self, other: Self) -> $mask {
                    // SAFETY: see the macro.
                    unsafe { $less(self.0, other.0) }
                }
                #[inline(always)]
                fn select(mask: $mask, yes: Self, no: Self) -> Self {
                    // SAFETY: see the macro.
                    Self(unsafe { $select(mask, yes.0, no.0) })
                }
                #[inline(always)]
                fn any(mask: $mask) -> bool {
                    // SAFETY: see the macro.
                    #[allow(unused_unsafe, reason = "a mask of bits is a plain number")]
                    unsafe {
                        $any(mask)
                    }
                }
            }

            impl Simd for $name {
                type Singles = $singles;

                const WIDTH: usize = $width;

                #[inline(always)]
                fn load(from: &[f64]) -> Self {
                    assert!(from.len() >= $width);
                    // SAFETY: there are as many numbers as the register has lanes; for the instruction see the macro.
                    Self(unsafe { $load(from.as_ptr()) })
                }

                #[inline(always)]
                fn store(self, to: &mut [f64]) {
                    assert!(to.len() >= $width);
                    // SAFETY: there are as many places as the register has lanes; for the instruction see the macro.
                    unsafe { $store(to.as_mut_ptr(), self.0) }
                }

                #[inline(always)]
                fn store_nines(numbers: &[Self; 9], to: &mut [f64]) {
                    let to = &mut to[..9 * $width];
                    for block in 0..8 / $width {
                        let mut rows = [numbers[0].0; $width];
                        for i in 0..$width {
                            rows[i] = numbers[$width * block + i].0;
                        }
                        let columns = $transpose(rows);
                        for lane in 0..$width {
                            Self(columns[lane]).store(&mut to[9 * lane + $width * block..]);
                        }
                    }
                    let mut last = [0.0; $width];
                    numbers[8].store(&mut last);
                    for lane in 0..$width {
                        to[9 * lane + 8] = last[lane];
                    }
                }
            }
        };
        (@binary $name:ident, $trait:ident, $method:ident, $intrinsic:ident, $set:ident) => {
            impl $trait for $name {
                type Output = Self;
                #[inline(always)]
                fn $method(self, other: Self) -> Self {
                    // SAFETY: see the macro.
                    Self(unsafe { $intrinsic(self.0, other.0) })
                }
            }
            impl $trait<f64> for $name {
                type Output = Self;
                #[inline(always)]
                fn $method(self, other: f64) -> Self {
                    // SAFETY: see the macro.
                    Self(unsafe { $intrinsic(self.0, $set(other)) })
                }
            }
        };
        (@operator $name:ident, $trait:ident, $method:ident, $assign_trait:ident, $assign:ident, $intrinsic:ident, $set:ident) => {
            register!(@binary $name, $trait, $method, $intrinsic, $set);
            impl $assign_trait for $name {
                #[inline(always)]
                fn $assign(&mut self, other: Self) {
                    *self = $trait::$method(*self, other);
                }
            }
        };
    }

    register!(
        F64x8, __m512d, 8, __mmask8, _mm512_set1_pd, _mm512_loadu_pd, _mm512_storeu_pd, _mm512_add_pd, _mm512_sub_pd,
        _mm512_mul_pd, _mm512_div_pd, _mm512_fmadd_pd, _mm512_sqrt_pd,
        less: |a, b| _mm512_cmp_pd_mask::<_CMP_LT_OQ>(a, b),
        select: |mask, yes, no| _mm512_mask_blend_pd(mask, no, yes),
        any: |mask| mask != 0,
        transpose: transpose_8,
        singles: F32x16
    );
    register!(
        F64x4, __m256d, 4, __m256d, _mm256_set1_pd, _mm256_loadu_pd, _mm256_storeu_pd, _mm256_add_pd, _mm256_sub_pd,
        _mm256_mul_pd, _mm256_div_pd, _mm256_fmadd_pd, _mm256_sqrt_pd,
        less: |a, b| _mm256_cmp_pd::<_CMP_LT_OQ>(a, b),
        select: |mask, yes, no| _mm256_blendv_pd(no, yes, mask),
        any: |mask| _mm256_movemask_pd(mask) != 0,
        transpose: transpose_4,
        singles: F32x8Pair
    );

    /// Sixteen numbers in a register. As with the types above, its instructions exist because only [`dispatch`] names
    /// it.
    #[derive(Debug, Clone, Copy)]
    pub struct F32x16(__m512);

    impl Singles for F32x16 {
        #[inline(always)]
        fn splat(x: f32) -> Self {
            // SAFETY: see the type.
            Self(unsafe { _mm512_set1_ps(x) })
        }
        #[inline(always)]
        fn load(from: &[f32; 16]) -> Self {
            // SAFETY: see the type; the array has as many numbers as the register.
            Self(unsafe { _mm512_loadu_ps(from.as_ptr()) })
        }
        #[inline(always)]
        fn load_integers(from: &[i16; 16]) -> Self {
            // SAFETY: see the type; the array has as many integers as half the register.
            Self(unsafe { _mm512_cvtepi32_ps(_mm512_cvtepi16_epi32(_mm256_loadu_si256(from.as_ptr().cast()))) })
        }
        #[inline(always)]
        fn store(self, to: &mut [f32; 16]) {
            // SAFETY: see the type; the array has as many numbers as the register.
            unsafe { _mm512_storeu_ps(to.as_mut_ptr(), self.0) }
        }
        #[inline(always)]
        fn mul_add(self, a: Self, b: Self) -> Self {
            // SAFETY: see the type.
            Self(unsafe { _mm512_fmadd_ps(self.0, a.0, b.0) })
        }
        #[inline(always)]
        fn total(self) -> f32 {
            // SAFETY: see the type.
            unsafe { _mm512_reduce_add_ps(self.0) }
        }
    }

    /// Sixteen numbers in two registers, under the same conditions as [`F32x16`].
    #[derive(Debug, Clone, Copy)]
    pub struct F32x8Pair([__m256; 2]);

    impl Singles for F32x8Pair {
        #[inline(always)]
        fn splat(x: f32) -> Self {
            // SAFETY: see the type above.
            Self([unsafe { _mm256_set1_ps(x) }; 2])
        }
        #[inline(always)]
        fn load(from: &[f32; 16]) -> Self {
            // SAFETY: see the type above; the array has as many numbers as both registers.
            unsafe { Self([_mm256_loadu_ps(from.as_ptr()), _mm256_loadu_ps(from[8..].as_ptr())]) }
        }
        #[inline(always)]
        fn load_integers(from: &[i16; 16]) -> Self {
            // SAFETY: see the type above; each half of the array has as many integers as a half register.
            let half = |half: &[i16]| unsafe {
                _mm256_cvtepi32_ps(_mm256_cvtepi16_epi32(_mm_loadu_si128(half.as_ptr().cast())))
            };
            Self([half(&from[..8]), half(&from[8..])])
        }
        #[inline(always)]
        fn store(self, to: &mut [f32; 16]) {
            // SAFETY: see the type above; the array has as many numbers as both registers.
            unsafe {
                _mm256_storeu_ps(to.as_mut_ptr(), self.0[0]);
                _mm256_storeu_ps(to[8..].as_mut_ptr(), self.0[1]);
            }
        }
        #[inline(always)]
        fn mul_add(self, a: Self, b: Self) -> Self {
            // SAFETY: see the type above.
            unsafe { Self([_mm256_fmadd_ps(self.0[0], a.0[0], b.0[0]), _mm256_fmadd_ps(self.0[1], a.0[1], b.0[1])]) }
        }
        #[inline(always)]
        fn total(self) -> f32 {
            // SAFETY: see the type above.
            let [low, high] = unsafe {
                let sum = _mm256_add_ps(self.0[0], self.0[1]);
                [_mm256_castps256_ps128(sum), _mm256_extractf128_ps::<1>(sum)]
            };
            let mut four = [0.0; 4];
            // SAFETY: see the type above; the array has as many numbers as half a register.
            unsafe { _mm_storeu_ps(four.as_mut_ptr(), _mm_add_ps(low, high)) };
            (four[0] + four[2]) + (four[1] + four[3])
        }
    }

    /// Transposes eight rows: exchanges the off-diagonal numbers of 2×2 blocks, then blocks of two, then of four.
    #[inline(always)]
    fn transpose_8(r: [__m512d; 8]) -> [__m512d; 8] {
        // SAFETY: see the macro.
        unsafe {
            let mut pairs = r;
            for i in [0, 2, 4, 6] {
                pairs[i] = _mm512_unpacklo_pd(r[i], r[i + 1]);
                pairs[i + 1] = _mm512_unpackhi_pd(r[i], r[i + 1]);
            }
            // Lanes of 128 bits: the even and the odd ones within (0, 2), (1, 3), (4, 6), (5, 7).
            let mut fours = pairs;
            for (a, b) in [(0, 2), (1, 3), (4, 6), (5, 7)] {
                fours[a] = _mm512_shuffle_f64x2::<0b10_00_10_00>(pairs[a], pairs[b]);
                fours[b] = _mm512_shuffle_f64x2::<0b11_01_11_01>(pairs[a], pairs[b]);
            }
            let mut out = fours;
            for i in 0..4 {
                out[i] = _mm512_shuffle_f64x2::<0b10_00_10_00>(fours[i], fours[i + 4]);
                out[i + 4] = _mm512_shuffle_f64x2::<0b11_01_11_01>(fours[i], fours[i + 4]);
            }
            out
        }
    }

    /// Transposes four rows.
    #[inline(always)]
    fn transpose_4(r: [__m256d; 4]) -> [__m256d; 4] {
        // SAFETY: see the macro.
        unsafe {
            let low = [_mm256_unpacklo_pd(r[0], r[1]), _mm256_unpacklo_pd(r[2], r[3])];
            let high = [_mm256_unpackhi_pd(r[0], r[1]), _mm256_unpackhi_pd(r[2], r[3])];
            [
                _mm256_permute2f128_pd::<0x20>(low[0], low[1]),
                _mm256_permute2f128_pd::<0x20>(high[0], high[1]),
                _mm256_permute2f128_pd::<0x31>(low[0], low[1]),
                _mm256_permute2f128_pd::<0x31>(high[0], high[1]),
            ]
        }
    }

    #[cfg(test)]
    pub fn with_four_lanes<K: Kernel>(kernel: K) -> Option<K::Output> {
        // SAFETY: the machine has all features that `medium` is compiled for.
        (is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma")).then(|| unsafe { <()>::medium(kernel) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::{Matrix, SignedSvd};

    /// Kernel with every operation of a [`Real`] on each number of a list.
    struct Everything<'a>(&'a [f64]);

    impl Kernel for Everything<'_> {
        type Output = Vec<f64>;
        #[inline(always)]
        fn run<R: Simd>(self) -> Vec<f64> {
            let mut out = Vec::new();
            for chunk in self.0.chunks_exact(R::WIDTH) {
                let x = R::load(chunk);
                let results = [
                    x + x * 2.0 - x / 3.0,
                    (x - 0.5) / (x + 4.0),
                    x.mul_add(x, -x),
                    x.abs().sqrt(),
                    x.cbrt(),
                    (x * x + 1.0).ln(),
                    x.exp(),
                    (x * x + 1.0).powf(0.3),
                    x.max(R::from(0.25)).min(x * x),
                    R::select(x.less(R::from(0.0)), x * 10.0, x.recip()),
                ];
                let mut stored = vec![0.0; R::WIDTH];
                for result in results {
                    result.store(&mut stored);
                    out.extend_from_slice(&stored);
                }
            }
            out
        }
    }

    /// Rearranges the results of [`Everything`] by number, for any width.
    fn by_number(out: &[f64], width: usize) -> Vec<Vec<f64>> {
        let groups = out.chunks_exact(10 * width);
        groups.flat_map(|group| (0..width).map(|lane| (0..10).map(|n| group[n * width + lane]).collect())).collect()
    }

    fn widths() -> Vec<(&'static str, usize, Vec<f64>)> {
        let numbers: Vec<f64> = (0..64).map(|i| f64::from(i) * 0.11 - 3.35).collect();
        let mut all = vec![("widest", lane_count(), dispatch(Everything(&numbers)))];
        #[cfg(target_arch = "x86_64")]
        all.extend(x86::with_four_lanes(Everything(&numbers)).map(|out| ("four", 4, out)));
        all.push(("portable", 2, Everything(&numbers).run::<Lanes<2, false>>()));
        all.push(("one", 1, Everything(&numbers).run::<f64>()));
        all
    }

    #[test]
    fn every_width_computes_the_same() {
        let expected = by_number(
            &Everything(&(0..64).map(|i| f64::from(i) * 0.11 - 3.35).collect::<Vec<_>>()).run::<Lanes<1, false>>(),
            1,
        );
        for (name, width, out) in widths() {
            for (found, expected) in by_number(&out, width).iter().zip(&expected) {
                for (i, (a, b)) in found.iter().zip(expected).enumerate() {
                    // One rounding instead of two in a product and sum.
                    assert!((a - b).abs() <= 1e-15 * (1.0 + b.abs()), "{name}: result {i} is {a} instead of {b}");
                }
            }
        }
    }

    #[test]
    fn sixteen_singles_are_multiplied_and_added() {
        struct Sixteen;
        impl Kernel for Sixteen {
            type Output = ([f32; 16], f32);
            #[inline(always)]
            fn run<R: Simd>(self) -> ([f32; 16], f32) {
                let integers: [i16; 16] = std::array::from_fn(|i| 4096 * (i as i16 - 8) + 3);
                let numbers: [f32; 16] = std::array::from_fn(|i| i as f32);
                let result =
                    R::Singles::load_integers(&integers).mul_add(R::Singles::splat(0.5), R::Singles::load(&numbers));
                let mut out = [0.0; 16];
                result.store(&mut out);
                (out, result.total())
            }
        }
        let expected: [f32; 16] = std::array::from_fn(|i| 0.5 * (4096.0 * (i as f32 - 8.0) + 3.0) + i as f32);
        let mut all = vec![dispatch(Sixteen), Sixteen.run::<f64>()];
        #[cfg(target_arch = "x86_64")]
        all.extend(x86::with_four_lanes(Sixteen));
        for (out, total) in all {
            assert_eq!((out, total), (expected, expected.iter().sum()));
        }
    }

    #[test]
    fn nines_are_stored_lane_by_lane() {
        struct Nines;
        impl Kernel for Nines {
            type Output = Vec<f64>;
            #[inline(always)]
            fn run<R: Simd>(self) -> Vec<f64> {
                let mut numbers = [R::from(0.0); 9];
                for (n, number) in numbers.iter_mut().enumerate() {
                    let lanes: Vec<f64> = (0..R::WIDTH).map(|lane| (9 * lane + n) as f64).collect();
                    *number = R::load(&lanes);
                }
                let mut out = vec![f64::NAN; 9 * R::WIDTH];
                R::store_nines(&numbers, &mut out);
                out
            }
        }
        let mut all = vec![dispatch(Nines), Nines.run::<Lanes<2, false>>(), Nines.run::<f64>()];
        #[cfg(target_arch = "x86_64")]
        all.extend(x86::with_four_lanes(Nines));
        for out in all {
            assert_eq!(out, (0..out.len()).map(|i| i as f64).collect::<Vec<_>>());
        }
    }

    #[test]
    fn the_decomposition_works_in_registers() {
        struct Decompose;
        impl Kernel for Decompose {
            type Output = f64;
            #[inline(always)]
            fn run<R: Simd>(self) -> f64 {
                let mut f: Matrix<R> = Matrix::zero();
                let numbers: Vec<f64> = (0..9 * R::WIDTH).map(|i| (i as f64 * 1.7).sin()).collect();
                for (n, entry) in f.0.as_flattened_mut().iter_mut().enumerate() {
                    *entry = R::load(&numbers[n * R::WIDTH..]);
                }
                let svd = SignedSvd::new(&f);
                let error = svd.compose(svd.sigma) - f;
                let mut squares = vec![0.0; R::WIDTH];
                error.double_dot(&error).store(&mut squares);
                squares.into_iter().fold(0.0, f64::max).sqrt()
            }
        }
        assert!(dispatch(Decompose) < 1e-14);
    }
}
