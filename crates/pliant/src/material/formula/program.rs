//! The steps that compute a formula: built with constants folded and equal parts shared, run over any [`Real`].

use std::collections::HashMap;

use super::error::FormulaError;
use crate::material::{Invariants, IsotropicEnergy, StretchEnergy};
use crate::math::Real;

/// What a step does with its operands `a` and `b` and its constant `c`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Operation {
    /// `c`
    Constant,
    /// `a + c`
    Shift,
    /// `c a`
    Scale,
    /// `aᶜ` for any `c`
    Power,
    /// `aᶜ` for a whole `c`
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

/// One step: values or registers `a` and `b`, a constant `c`, and the register that the result goes to.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Step {
    operation: Operation,
    a: u16,
    b: u16,
    to: u16,
    c: f64,
}

impl Step {
    /// The result, with operands in `registers`. Numbers of registers are taken modulo their count, a power of two, which spares
    /// the check of bounds.
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

/// A variable, or the result of a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Value(u16);

/// How many variables there are.
const VARIABLES: usize = 3;

/// What to do with equal parts of a formula.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum EqualParts {
    /// Compute them once: the faster program.
    Shared,
    /// Compute them again: no result is kept for later, so that fewer registers are needed.
    Repeated,
}

/// Steps under construction: what is known beforehand is not computed.
#[derive(Debug)]
pub(super) struct Builder {
    equal_parts: EqualParts,
    /// The step of value `n` is number `n - VARIABLES`; its operands are values.
    steps: Vec<Step>,
    known: HashMap<(Operation, u16, u16, u64), Value>,
}

impl Builder {
    /// No steps yet.
    pub fn new(equal_parts: EqualParts) -> Self {
        Self { equal_parts, steps: Vec::new(), known: HashMap::new() }
    }

    /// Variable `number`, from 0.
    pub fn variable(number: usize) -> Value {
        assert!(number < VARIABLES);
        Value(number as u16)
    }

    /// A constant.
    pub fn constant(&mut self, c: f64) -> Value {
        // One zero, so that equal constants are one value.
        self.step(Operation::Constant, Value(0), Value(0), if c == 0.0 { 0.0 } else { c })
    }

    /// What `value` is whatever the variables are, if so.
    pub fn constant_of(&self, value: Value) -> Option<f64> {
        self.operand_of(value, Operation::Constant).map(|(_, c)| c)
    }

    /// Operand and constant of the step behind `value`, if it is of this kind.
    fn operand_of(&self, value: Value, operation: Operation) -> Option<(Value, f64)> {
        let step = self.steps.get(usize::from(value.0).checked_sub(VARIABLES)?)?;
        (step.operation == operation).then_some((Value(step.a), step.c))
    }

    /// The result of a step: an old one if it was there before.
    fn step(&mut self, operation: Operation, a: Value, b: Value, c: f64) -> Value {
        // Where there is no second operand, any number does.
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

    /// A function of one value.
    pub fn unary(&mut self, operation: Operation, a: Value) -> Value {
        self.step(operation, a, Value(0), 0.0)
    }

    /// `c a`.
    pub fn scaled(&mut self, a: Value, c: f64) -> Value {
        if let Some((inner, inner_c)) = self.operand_of(a, Operation::Scale)
            && (c * inner_c).is_normal()
        {
            return self.scaled(inner, c * inner_c);
        }
        if c == 1.0 { a } else { self.step(Operation::Scale, a, Value(0), c) }
    }

    /// `a + c`.
    fn shifted(&mut self, a: Value, c: f64) -> Value {
        if let Some((inner, inner_c)) = self.operand_of(a, Operation::Shift)
            && (c + inner_c).is_finite()
        {
            return self.shifted(inner, c + inner_c);
        }
        if c == 0.0 { a } else { self.step(Operation::Shift, a, Value(0), c) }
    }

    /// `a + b`, in any order.
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

    /// `a b`, in any order.
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

    /// An operation on two values.
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

    /// `a` to the power of `b`: by multiplication if `b` is a whole number, from the root if it is so many halves or thirds, by
    /// logarithm if it is no constant.
    pub fn power(&mut self, a: Value, b: Value) -> Value {
        let Some(exponent) = self.constant_of(b) else {
            let ln = self.unary(Operation::Ln, a);
            let product = self.product(b, ln);
            return self.unary(Operation::Exp, product);
        };
        let whole = |x: f64| x.fract() == 0.0 && x.abs() <= f64::from(i32::MAX);
        // Not 3b, which may be rounded to a whole number: b must be the fraction nearest to so many thirds.
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

    /// The steps that `result` needs, with registers for what lies between.
    pub fn finish(self, result: Value) -> Result<Program, FormulaError> {
        // The last step that needs each value. Those that none needs are left out.
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

/// Registers in use.
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

/// How many registers there are: more than laws in common use need, and few enough to stay in the first level of the cache, as each
/// holds ten numbers a lane. A power of two.
const REGISTERS: usize = 16;

/// The steps that compute a formula of three variables, one after the other.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Program {
    steps: Box<[Step]>,
    result: u16,
    used: [bool; VARIABLES],
}

impl Program {
    /// How many steps there are.
    #[cfg(test)]
    pub fn steps(&self) -> usize {
        self.steps.len()
    }

    /// The value of the formula.
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
