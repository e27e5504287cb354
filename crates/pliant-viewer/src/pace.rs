//! Synchronization of steps with the clock, and step timings.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use pliant::integrator::StepInfo;
use serde::Serialize;

/// Delay beyond which the simulation does not catch up.
const LATE: Duration = Duration::from_millis(100);

/// Time window of averages.
const WINDOW: Duration = Duration::from_secs(1);

/// Map from simulated times to clock times.
#[derive(Debug, Clone, Copy)]
pub struct Pace {
    /// Simulated time relative to elapsed time; `None` means as fast as possible.
    pub speed: Option<f64>,
    /// Clock time and the simulated time that was due then.
    anchor: Option<(Instant, f64)>,
}

impl Pace {
    pub fn new() -> Self {
        Self { speed: Some(1.0), anchor: None }
    }

    /// Sets the speed relative to real time.
    pub fn set_speed(&mut self, speed: Option<f64>) -> Result<(), String> {
        if let Some(factor) = speed.filter(|factor| !(1e-3..=1e3).contains(factor)) {
            return Err(format!("speed: expected a factor from 0.001 to 1000 relative to real time, found {factor}"));
        }
        self.speed = speed;
        self.restart();
        Ok(())
    }

    /// Resets the reference time after a pause or a jump in time.
    pub fn restart(&mut self) {
        self.anchor = None;
    }

    /// Returns the clock time at which a simulated time is due.
    pub fn due(&mut self, time: f64, now: Instant) -> Instant {
        let Some(speed) = self.speed else { return now };
        let (began, from) = *self.anchor.get_or_insert((now, time));
        let due = Duration::try_from_secs_f64((time - from) / speed).ok().and_then(|after| began.checked_add(after));
        match due {
            Some(due) if due + LATE >= now => due,
            _ => {
                self.anchor = Some((now, time));
                now
            }
        }
    }
}

/// Timings of the steps of the last second.
#[derive(Debug, Default)]
pub struct Timings {
    steps: VecDeque<Timed>,
}

#[derive(Debug)]
struct Timed {
    began: Instant,
    took: Duration,
    dt: f64,
    info: StepInfo,
}

/// Header field `stats`.
#[derive(Debug, Clone, Serialize)]
pub struct Stats {
    pub real_time: f64,
    pub steps_per_second: f64,
    pub step_ms: f64,
    pub assembling_ms: f64,
    pub solving_ms: f64,
    pub rest_ms: f64,
    pub newton: f64,
    pub linear: f64,
    pub factorizations: f64,
    pub method: String,
    pub substeps: usize,
}

impl Timings {
    pub fn add(&mut self, began: Instant, dt: f64, info: StepInfo) {
        let end = Instant::now();
        self.steps.push_back(Timed { began, took: end - began, dt, info });
        // The last one is always kept.
        while self.steps.len() > 1 && end - self.steps[0].began > WINDOW {
            self.steps.pop_front();
        }
    }

    pub fn clear(&mut self) {
        self.steps.clear();
    }

    pub fn stats(&self) -> Option<Stats> {
        let (first, last) = (self.steps.front()?, self.steps.back()?);
        let count = self.steps.len() as f64;
        let elapsed = (last.began + last.took - first.began).as_secs_f64().max(1e-9);
        let mean = |of: &dyn Fn(&Timed) -> f64| self.steps.iter().map(of).sum::<f64>() / count;
        let milliseconds = |of: &dyn Fn(&Timed) -> Duration| 1e3 * mean(&|step| of(step).as_secs_f64());
        let step_ms = milliseconds(&|step| step.took);
        let assembling_ms = milliseconds(&|step| step.info.assembling);
        let solving_ms = milliseconds(&|step| step.info.solving);
        Some(Stats {
            real_time: self.steps.iter().map(|step| step.dt).sum::<f64>() / elapsed,
            steps_per_second: count / elapsed,
            step_ms,
            assembling_ms,
            solving_ms,
            rest_ms: (step_ms - assembling_ms - solving_ms).max(0.0),
            newton: mean(&|step| step.info.newton_iterations as f64),
            linear: mean(&|step| step.info.linear_iterations as f64),
            factorizations: mean(&|step| step.info.factorizations as f64),
            method: last.info.solve.method.to_string(),
            substeps: last.info.substeps,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_are_due_in_real_time_and_lost_time_is_not_made_up_for() {
        let mut pace = Pace::new();
        let start = Instant::now();
        let ms = Duration::from_millis;
        assert_eq!(pace.due(5.0, start), start);
        assert_eq!(pace.due(5.02, start), start + ms(20));
        pace.speed = Some(0.5);
        pace.restart();
        assert_eq!(pace.due(6.0, start), start);
        assert_eq!(pace.due(6.02, start), start + ms(40));
        // A step took a second: the next is due at once, and the one after it a step later.
        let late = start + ms(1000);
        assert_eq!(pace.due(6.04, late), late);
        assert_eq!(pace.due(6.06, late), late + ms(40));
        pace.speed = None;
        assert_eq!(pace.due(9.0, late), late);
    }

    #[test]
    fn timings_are_means_over_the_last_second() {
        let mut timings = Timings::default();
        assert!(timings.stats().is_none());
        let now = Instant::now();
        for (before, newton) in [(5000, 100), (300, 2), (200, 4)] {
            let began = now.checked_sub(Duration::from_millis(before)).unwrap();
            timings.add(began, 0.1, StepInfo { newton_iterations: newton, ..StepInfo::default() });
        }
        let stats = timings.stats().unwrap();
        assert_eq!(stats.newton, 3.0);
        assert!(stats.real_time > 0.3 && stats.real_time < 0.7, "{}", stats.real_time);
    }
}
