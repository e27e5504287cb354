// Small scenes, fast enough for debug builds.

interface Beam {
  young?: string;
  step?: string;
  scheme?: string;
  damping?: string;
}

/** Held at its left end, in gravity. */
export function beam({
  young = '400 kPa',
  step = '1/60 s',
  scheme = 'backward-euler',
  damping = '20 ms',
}: Beam = {}): string {
  return `
title = "A small beam"
about = "For tests."
up = "y"

[simulation]
scheme = "${scheme}"
step = "${step}"
duration = "1 s"

[damping]
stiffness = "${damping}"

[output]
frame_rate = "20 Hz"

[[object]]
name = "beam"
mesh = { box = { size = ["60 cm", "15 cm", "15 cm"], cells = [8, 2, 2], elements = "hex" } }
material = { law = "neo-hookean", young = "${young}", poisson = 0.4, density = "1000 kg/m^3" }

[[hold]]
vertices = "x-min"
`;
}

/** Falls freely onto the ground. */
export const CUBE = `
title = "A cube"
up = "z"

[simulation]
scheme = "backward-euler"
step = "1/100 s"
duration = "1 s"

[[obstacle]]
plane = { point = [0, 0, 0], normal = [0, 0, 1] }

[[object]]
name = "cube"
mesh = { box = { size = ["20 cm", "20 cm", "20 cm"], cells = [3, 3, 3] } }
translate = [0, 0, 0.1]
material = { law = "stable-neo-hookean", young = "100 kPa", poisson = 0.4, density = "1000 kg/m^3" }
`;
