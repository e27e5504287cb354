//! Programs that compute a formula: built with constant folding and common subexpression elimination, run over any
//! [`Real`].

use std::collections::HashMap;

use super::error::FormulaError;
use crate::material::{Invariants, IsotropicEnergy, StretchEnergy};
use crate::math::Real;

/// Operation of a step on its operands `a` and `b` and its constant `c`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Operation {
    /// `c`
    Constant,
    /// `a + c`
    Shift,
    /// `c a`
    Scale,
    /// `aᶜ` for any `c`.
    Power,
    /// `aᶜ` for an integer `c`.
    WholePower,
    /// `a²`
    Square,
    /// `1/a`
    Recip,
    Sqrt,
    Cbrt,
    Ln,
    Exp,
    Abs,
    Add,
    /// `a + c b`: most energies are sums of terms with coefficients.
    AddScaled,
    Subtract,
    Multiply,
    Divide,
    Min,
    Max,
}

impl Operation {
    fn operands(self) -> usize {
        match self {
            Self::Constant => 0,
            Self::Shift
            | Self::Scale
            | Self::Power
            | Self::WholePower
            | Self::Square
            | Self::Recip
            | Self::Sqrt
            | Self::Cbrt
            | Self::Ln
            | Self::Exp
            | Self::Abs => 1,
            Self::Add | Self::AddScaled | Self::Subtract | Self::Multiply | Self::Divide | Self::Min | Self::Max => 2,
        }
    }
}

/// Step of a program: values or registers `a` and `b`, a constant `c`, and the register of the result.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Step {
    operation: Operation,
    a: u16,
    b: u16,
    to: u16,
    c: f64,
}

impl Step {
    /// Returns the result of the step on operands in `registers`. Register numbers are taken modulo the register count,
    /// a power of two, which avoids bounds checks.
    #[inline(always)]
    fn perform<R: Real, const N: usize>(&self, registers: &[R; N]) -> R {
        let (a, b) = (usize::from(self.a) % N, usize::from(self.b) % N);
        match self.operation {
            Operation::Constant => R::from(self.c),
            Operation::Shift => registers[a] + self.c,
            Operation::Scale => registers[a] * self.c,
            Operation::Power => registers[a].powf(self.c),
            Operation::WholePower => registers[a].powi(self.c as i32),
            Operation::Square => registers[a].squared(),
            Operation::Recip => registers[a].recip(),
            Operation::Sqrt => registers[a].sqrt(),
            Operation::Cbrt => registers[a].cbrt(),
            Operation::Ln => registers[a].ln(),
            Operation::Exp => registers[a].exp(),
            Operation::Abs => registers[a].abs(),
            Operation::Add => registers[a] + registers[b],
            Operation::AddScaled => registers[a] + registers[b] * self.c,
            Operation::Subtract => registers[a] - registers[b],
            Operation::Multiply => registers[a] * registers[b],
            Operation::Divide => registers[a] / registers[b],
            Operation::Min => registers[a].min(registers[b]),
            Operation::Max => registers[a].max(registers[b]),
        }
    }
}

/// Variable, or result of a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Value(u16);

/// Number of variables.
const VARIABLES: usize = 3;

/// Treatment of common subexpressions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum EqualParts {
    /// Computed once, which gives the faster program.
    Shared,
    /// Computed again each time. No result is kept for later, so fewer registers are needed.
    Repeated,
}

/// Program under construction, with constants folded.
#[derive(Debug)]
pub(super) struct Builder {
    equal_parts: EqualParts,
    /// Steps so far. Step `n - VARIABLES` computes value `n`, and its operands are values.
    steps: Vec<Step>,
    known: HashMap<(Operation, u16, u16, u64), Value>,
}

impl Builder {
    /// Creates an empty program.
    pub fn new(equal_parts: EqualParts) -> Self {
        Self { equal_parts, steps: Vec::new(), known: HashMap::new() }
    }

    /// Returns variable `number`, starting at 0.
    pub fn variable(number: usize) -> Value {
        assert!(number < VARIABLES);
        Value(number as u16)
    }

    /// Returns a constant.
    pub fn constant(&mut self, c: f64) -> Value {
        // A single zero, so that equal constants are one value.
        self.step(Operation::Constant, Value(0), Value(0), if c == 0.0 { 0.0 } else { c })
    }

    /// Returns the value of `value` if it is constant.
    pub fn constant_of(&self, value: Value) -> Option<f64> {
        self.operand_of(value, Operation::Constant).map(|(_, c)| c)
    }

    /// Returns the operand and constant of the step of `value` if it is this operation.
    fn operand_of(&self, value: Value, operation: Operation) -> Option<(Value, f64)> {
        let step = self.steps.get(usize::from(value.0).checked_sub(VARIABLES)?)?;
        (step.operation == operation).then_some((Value(step.a), step.c))
    }

    /// Returns the result of a step, reusing an equal earlier step.
    fn step(&mut self, operation: Operation, a: Value, b: Value, c: f64) -> Value {
        // Without a second operand, any number will do.
        let y = if operation.operands() == 2 { self.constant_of(b) } else { Some(0.0) };
        if operation != Operation::Constant
            && let (Some(x), Some(y)) = (self.constant_of(a), y)
        {
            return self.constant(Step { operation, a: 0, b: 1, to: 0, c }.perform(&[x, y]));
        }
        let next = Value((VARIABLES + self.steps.len()) as u16);
        let value = match self.equal_parts {
            EqualParts::Shared => *self.known.entry((operation, a.0, b.0, c.to_bits())).or_insert(next),
            EqualParts::Repeated => next,
        };
        if value == next {
            self.steps.push(Step { operation, a: a.0, b: b.0, to: 0, c });
        }
        value
    }

    /// Returns a function of one value.
    pub fn unary(&mut self, operation: Operation, a: Value) -> Value {
        self.step(operation, a, Value(0), 0.0)
    }

    /// Returns `c a`.
    pub fn scaled(&mut self, a: Value, c: f64) -> Value {
        if let Some((inner, inner_c)) = self.operand_of(a, Operation::Scale)
            && (c * inner_c).is_normal()
        {
            return self.scaled(inner, c * inner_c);
        }
        if c == 1.0 { a } else { self.step(Operation::Scale, a, Value(0), c) }
    }

    /// Returns `a + c`.
    fn shifted(&mut self, a: Value, c: f64) -> Value {
        if let Some((inner, inner_c)) = self.operand_of(a, Operation::Shift)
            && (c + inner_c).is_finite()
        {
            return self.shifted(inner, c + inner_c);
        }
        if c == 0.0 { a } else { self.step(Operation::Shift, a, Value(0), c) }
    }

    /// Returns `a + b`. The order does not matter.
    fn sum(&mut self, a: Value, b: Value) -> Value {
        match (self.constant_of(a), self.constant_of(b)) {
            (_, Some(c)) => return self.shifted(a, c),
            (Some(c), None) => return self.shifted(b, c),
            (None, None) => {}
        }
        if let Some((inner, c)) = self.operand_of(b, Operation::Scale) {
            return self.step(Operation::AddScaled, a, inner, c);
        }
        if let Some((inner, c)) = self.operand_of(a, Operation::Scale) {
            return self.step(Operation::AddScaled, b, inner, c);
        }
        self.step(Operation::Add, a.min(b), a.max(b), 0.0)
    }

    /// Returns `a b`. The order does not matter.
    fn product(&mut self, a: Value, b: Value) -> Value {
        match (self.constant_of(a), self.constant_of(b)) {
            (_, Some(c)) => return self.scaled(a, c),
            (Some(c), None) => return self.scaled(b, c),
            (None, None) => {}
        }
        if a == b {
            return self.unary(Operation::Square, a);
        }
        self.step(Operation::Multiply, a.min(b), a.max(b), 0.0)
    }

    fn quotient(&mut self, a: Value, b: Value) -> Value {
        match (self.constant_of(a), self.constant_of(b)) {
            (None, Some(c)) if c.recip().is_normal() => self.scaled(a, c.recip()),
            (Some(c), None) => {
                let inverse = self.unary(Operation::Recip, b);
                self.scaled(inverse, c)
            }
            _ => self.step(Operation::Divide, a, b, 0.0),
        }
    }

    /// Returns an operation on two values.
    pub fn binary(&mut self, operation: Operation, a: Value, b: Value) -> Value {
        match operation {
            Operation::Add => self.sum(a, b),
            Operation::Subtract => match (self.constant_of(a), self.constant_of(b)) {
                (_, Some(c)) => self.shifted(a, -c),
                (Some(c), None) => {
                    let opposite = self.scaled(b, -1.0);
                    self.shifted(opposite, c)
                }
                (None, None) => match self.operand_of(b, Operation::Scale) {
                    Some((inner, c)) => self.step(Operation::AddScaled, a, inner, -c),
                    None => self.step(Operation::Subtract, a, b, 0.0),
                },
            },
            Operation::Multiply => self.product(a, b),
            Operation::Divide => self.quotient(a, b),
            _ => self.step(operation, a, b, 0.0),
        }
    }

    /// Returns `a` to the power `b`: by multiplication for an integer `b`, by roots for multiples of 1/2 or 1/3, and by
    /// logarithm for a variable `b`.
    pub fn power(&mut self, a: Value, b: Value) -> Value {
        let Some(exponent) = self.constant_of(b) else {
            let ln = self.unary(Operation::Ln, a);
            let product = self.product(b, ln);
            return self.unary(Operation::Exp, product);
        };
        let whole = |x: f64| x.fract() == 0.0 && x.abs() <= f64::from(i32::MAX);
        // Not 3b, which may round to an integer: b must be the floating-point number nearest to a multiple of 1/3.
        let thirds = (exponent * 3.0).round();
        if exponent == 0.0 {
            self.constant(1.0)
        } else if exponent == 1.0 {
            a
        } else if exponent == 2.0 {
            self.product(a, a)
        } else if exponent == -1.0 {
            self.unary(Operation::Recip, a)
        } else if whole(exponent) {
            self.step(Operation::WholePower, a, Value(0), exponent)
        } else if whole(exponent * 2.0) {
            let (root, twice) = (self.unary(Operation::Sqrt, a), self.constant(exponent * 2.0));
            self.power(root, twice)
        } else if whole(thirds) && thirds / 3.0 == exponent {
            let (root, thrice) = (self.unary(Operation::Cbrt, a), self.constant(thirds));
            self.power(root, thrice)
        } else {
            self.step(Operation::Power, a, Value(0), exponent)
        }
    }

    /// Returns the steps that `result` needs, with registers assigned to intermediate values.
    pub fn finish(self, result: Value) -> Result<Program, FormulaError> {
        // Last step that needs each value. Values that no step needs are left out.
        let count = VARIABLES + self.steps.len();
        let mut last_use = vec![None; count];
        last_use[usize::from(result.0)] = Some(count);
        for (step, value) in self.steps.iter().zip(VARIABLES..count).rev() {
            if last_use[value].is_some() {
                for operand in [step.a, step.b].into_iter().take(step.operation.operands()) {
                    last_use[usize::from(operand)].get_or_insert(value);
                }
            }
        }
        let mut used = [false; VARIABLES];
        for number in 0..VARIABLES {
            used[number] = last_use[number].is_some();
        }

        let unused = (0..VARIABLES as u16).filter(|&number| !used[usize::from(number)]);
        let mut registers = Registers { count: VARIABLES as u16, free: unused.collect() };
        let mut register_of: Vec<u16> = (0..VARIABLES as u16).collect();
        register_of.resize(count, 0);
        let mut steps = Vec::new();
        for (step, value) in self.steps.iter().zip(VARIABLES..) {
            if last_use[value].is_none() {
                continue;
            }
            let [a, b] = [step.a, step.b].map(usize::from);
            let operands = &[a, b][..step.operation.operands()];
            for (n, &operand) in operands.iter().enumerate() {
                if last_use[operand] == Some(value) && !operands[..n].contains(&operand) {
                    registers.free.push(register_of[operand]);
                }
            }
            register_of[value] = registers.take();
            steps.push(Step { a: register_of[a], b: register_of[b], to: register_of[value], ..*step });
        }
        if usize::from(registers.count) > REGISTERS {
            return Err(FormulaError::TooComplex { limit: REGISTERS });
        }
        let result = register_of[usize::from(result.0)];
        Ok(Program { steps: steps.into(), result, used })
    }
}

/// Register allocator.
#[derive(Debug)]
struct Registers {
    count: u16,
    free: Vec<u16>,
}

impl Registers {
    fn take(&mut self) -> u16 {
        self.free.pop().unwrap_or_else(|| {
            self.count += 1;
            self.count - 1
        })
    }
}

/// Number of registers, a power of two. Common laws need fewer, and all stay in the first-level cache, as each stores
/// ten numbers per lane.
const REGISTERS: usize = 16;

/// Sequence of steps that computes a formula of three variables.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Program {
    steps: Box<[Step]>,
    result: u16,
    used: [bool; VARIABLES],
}

impl Program {
    /// Returns the number of steps.
    #[cfg(test)]
    pub fn steps(&self) -> usize {
        self.steps.len()
    }

    /// Returns the value of the formula.
    #[inline(always)]
    pub fn run<R: Real>(&self, variables: [R; VARIABLES]) -> R {
        let mut registers = [R::from(0.0); REGISTERS];
        registers[..VARIABLES].copy_from_slice(&variables);
        for step in &self.steps {
            registers[usize::from(step.to) % REGISTERS] = step.perform(&registers);
        }
        registers[usize::from(self.result) % REGISTERS]
    }
}

impl IsotropicEnergy for Program {
    #[inline(always)]
    fn energy<R: Real>(&self, invariants: &Invariants<R>) -> R {
        self.run([invariants.i1, invariants.i2, invariants.j])
    }

    #[inline(always)]
    fn depends_on_i2(&self) -> bool {
        self.used[1]
    }
}

impl StretchEnergy for Program {
    #[inline(always)]
    fn energy<R: Real>(&self, stretches: [R; 3]) -> R {
        self.run(stretches)
    }
}
