// Playback controls and timeline.

import { element, setText, throttle } from '../dom';
import { number } from '../format';
import { ICONS, iconButton } from '../icons';
import type { DisplayScene, Frame, Send } from '../protocol';
import type { Panel } from './panel';

const SPEEDS: (number | null)[] = [0.1, 0.25, 0.5, 1, 2, null];
const nameOf = (speed: number | null) => (speed === null ? 'max' : `${number(speed)}×`);

export interface Transport extends Panel {
  playOrPause(): void;
}

export function transportBar(send: Send): Transport {
  let playing = false;
  let span: [number, number] = [0, 0];
  let timeline: DisplayScene['timeline'] = null;

  const playOrPause = () => send({ do: playing ? 'pause' : 'play' });
  const reset = iconButton(ICONS.reset, 'Reset', 'R', () => send({ do: 'reset' }));
  const play = iconButton(ICONS.play, 'Play', 'Space', playOrPause);
  const step = iconButton(ICONS.step, 'Step', '.', () => send({ do: 'step' }));
  play.classList.add('main');

  const slider = element('input', { type: 'range', min: 0, max: 1, step: 'any', value: 1, 'aria-label': 'Time' });
  let sliding = false;
  const seek = throttle(60, (time: number) => send({ do: 'seek', time }));
  slider.addEventListener('input', () => {
    sliding = true;
    seek(span[0] + slider.valueAsNumber * (span[1] - span[0]));
  });
  slider.addEventListener('change', () => {
    sliding = false;
  });

  const clock = element('output', { class: 'clock', 'aria-label': 'Simulated time' });
  const speed = element('select', { 'aria-label': 'Speed', title: 'Speed relative to real time' });
  speed.append(...SPEEDS.map((one) => element('option', { value: String(one) }, nameOf(one))));
  speed.addEventListener('change', () => {
    send({ do: 'speed', factor: speed.value === 'null' ? null : Number(speed.value) });
  });

  const showSpeed = (now: number | null) => {
    const value = String(now);
    if (speed.value === value || document.activeElement === speed) return;
    if (![...speed.options].some((option) => option.value === value)) {
      speed.append(element('option', { value }, nameOf(now)));
    }
    speed.value = value;
  };

  const showPlaying = (now: boolean) => {
    if (now === playing) return;
    playing = now;
    play.innerHTML = playing ? ICONS.pause : ICONS.play;
    play.setAttribute('aria-label', playing ? 'Pause' : 'Play');
    play.title = playing ? 'Pause (Space)' : 'Play (Space)';
  };

  return {
    element: element(
      'div',
      { class: 'transport', role: 'group', 'aria-label': 'Time' },
      reset,
      play,
      step,
      slider,
      clock,
      speed,
    ),
    playOrPause,
    display(display: DisplayScene) {
      timeline = display.timeline;
      slider.title = display.mode === 'live' ? 'Go back over the last seconds' : 'Go to a time of the run';
    },
    frame(frame: Frame) {
      showPlaying(frame.playing);
      span = frame.span;
      const length = span[1] - span[0];
      slider.disabled = !(length > 0);
      if (!sliding) slider.value = length > 0 ? String((frame.time - span[0]) / length) : '1';
      const place = timeline ? `${Math.round(frame.time / timeline.interval)} / ${timeline.frames - 1} · ` : '';
      const time = `${place}${frame.time.toFixed(2)} s`;
      setText(clock, time);
      slider.setAttribute('aria-valuetext', time);
      showSpeed(frame.speed);
    },
  };
}
