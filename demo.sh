#!/bin/sh
# Main use case: from a scene to an animation, pictures, plots and numbers.
set -eu
pliant=$1
out=$2

say() { printf '\n$ pliant %s\n' "$*"; "$pliant" "$@"; }

say scene check scenes/demo.toml
say run scenes/demo.toml --check -o "$out/demo"
say render "$out/demo" --frame 28 "$out/demo.png"

printf '\nThe picture is %s/demo.png, the animation %s/demo/demo.gif. Open\n' "$out" "$out"
printf '  %s/demo/demo.glb in Blender or any glTF viewer,\n' "$out"
printf '  %s/demo/vtu/demo.pvd in ParaView,\n' "$out"
printf '  %s/demo/plots.svg in a browser,\n' "$out"
printf '  %s/demo/probes.csv in a spreadsheet, or probes.npy and frames/ in NumPy.\n' "$out"
