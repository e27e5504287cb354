// Small scenes, fast enough for debug builds.

interface Beam {
  young?: string;
  step?: string;
  integrator?: string;
  damping?: string;
}

/** Beam that is fixed at its left end, in gravity. */
export function beam({
  young = '400 kPa',
  step = '1/60 s',
  integrator = 'backward-euler',
  damping = '20 ms',
}: Beam = {}): string {
  return `
title = "A small beam"
about = "For tests."
up = "y"

[simulation]
integrator = "${integrator}"
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

[[fixed]]
vertices = "x-min"
`;
}

/** Falls freely onto the ground. */
export const CUBE = `
title = "A cube"
up = "z"

[simulation]
integrator = "backward-euler"
step = "1/100 s"
duration = "1 s"

[[obstacle]]
shape.plane = { point = [0, 0, 0], normal = [0, 0, 1] }

[[object]]
name = "cube"
mesh = { box = { size = ["20 cm", "20 cm", "20 cm"], cells = [3, 3, 3] } }
translate = [0, 0, 0.1]
material = { law = "stable-neo-hookean", young = "100 kPa", poisson = 0.4, density = "1000 kg/m^3" }
`;

/** A soft cube that falls from a height in meters, of a law that is not defined for inverted elements. */
export const dropped = (height: number) => `
title = "A dropped cube"

[simulation]
integrator = "linearized-backward-euler"
halvings = 0
step = "1/60 s"
duration = "1 s"

[[obstacle]]
shape.plane = {}

[[object]]
name = "cube"
mesh = { box = { size = ["20 cm", "20 cm", "20 cm"], cells = [4, 4, 4] } }
translate = [0, ${height}, 0]
material = { law = "neo-hookean", young = "20 kPa", poisson = 0.4, density = "1000 kg/m^3" }
`;

/** Two cubes above the ground. */
export const TWO = `
title = "Two cubes"

[simulation]
step = "1/60 s"
duration = "1 s"

[[obstacle]]
shape.plane = {}

[material.rubber]
young = "100 kPa"
poisson = 0.4
density = "1000 kg/m^3"

[[object]]
name = "left"
mesh = { box = { size = ["20 cm", "20 cm", "20 cm"], cells = [2, 2, 2] } }
translate = [-0.2, 0.1, 0]
material = "rubber"

[[object]]
name = "right"
mesh = { box = { size = ["20 cm", "20 cm", "20 cm"], cells = [2, 2, 2] } }
translate = [0.2, 0.1, 0]
material = "rubber"
`;

/** A cube whose skin sticks out of it, which is worth a note. */
export const NOTED = `
title = "A cube with a skin"

[simulation]
step = "1/60 s"
duration = "1 s"

[[object]]
name = "cube"
mesh = { box = { size = ["20 cm", "20 cm", "20 cm"], cells = [2, 2, 2] } }
skin = { mesh = { ball = { radius = 0.12, across = 8 } } }
material = { young = "100 kPa", poisson = 0.4, density = "1000 kg/m^3" }
`;
