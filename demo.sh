#!/bin/sh
# The main job of today's Pliant: make a mesh, look at it, change it, write it for other programs.
set -eu
pliant=$1
out=$2

say() { printf '\n$ pliant %s\n' "$*"; "$pliant" "$@"; }

say mesh generate torus --elements hex --density 1000 --young 1e6 --poisson 0.45 -o "$out/ring-of-hexes.veg"
say mesh convert "$out/ring-of-hexes.veg" "$out/ring.msh" --split 5
say mesh info "$out/ring.msh" --density 1000
say mesh check "$out/ring.msh"
say mesh convert "$out/ring.msh" "$out/ring.vtu"
say mesh convert "$out/ring.msh" "$out/ring.svg"
say mesh generate ball --across 24 --radius 0.7 -o "$out/detailed-ball.obj"
say mesh generate ball --across 6 --radius 0.7 -o "$out/coarse-ball.vtu"
say mesh embed "$out/coarse-ball.vtu" "$out/detailed-ball.obj" -o "$out/ball.interp"

printf '\nWritten to %s/:\n' "$out"
ls "$out" | sed 's/^/  /'
printf 'See %s/ring.svg in a browser and %s/ring.vtu in ParaView.\n' "$out" "$out"
