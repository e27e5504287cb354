// Assembles the page: messages go to the session, and from there to the panels.

import { Vector3 } from 'three';
import { Connection } from './connection';
import { element } from './dom';
import { Gizmo } from './gizmo';
import { expose } from './hook';
import { ICONS, iconButton } from './icons';
import { Latency } from './latency';
import { isSmall, Layout } from './layout';
import { Legend } from './legend';
import { ViewOptions } from './options';
import { curvesPanel } from './panels/curves';
import { displayPanel } from './panels/display';
import { failureBanner } from './panels/failure';
import { titleCard } from './panels/header';
import { Help } from './panels/help';
import { materialPanel } from './panels/material';
import { motionPanel } from './panels/motion';
import { notesPanel } from './panels/notes';
import { Notices } from './panels/notices';
import { numbersPanel } from './panels/numbers';
import type { Panel } from './panels/panel';
import { downloadScene, scenePanel } from './panels/scene';
import { toggleSlice } from './panels/slice-fields';
import { toolbar } from './panels/toolbar';
import { transportBar } from './panels/transport';
import { TroubleBanner } from './panels/trouble';
import type { Outgoing } from './protocol';
import { screenshot } from './screenshot';
import { Session } from './session';
import { listen, type Shortcut } from './shortcuts';
import { Theme } from './theme';
import { Gestures } from './tools/gestures';
import { makeTools } from './tools/tools';
import type { Graphics } from './viewport/graphics';
import { planeOf } from './viewport/slice';
import { View } from './viewport/view';
import { World } from './viewport/world';

export function startPage(graphics: Graphics): void {
  const canvas = element('canvas', { class: 'scene', role: 'img', 'aria-label': 'The simulated bodies' });
  const labels = element('div', { class: 'labels', 'aria-hidden': 'true' });

  const theme = new Theme();
  const view = new View(canvas, graphics);
  // Shadows double the cost of drawing, too much without a graphics card.
  const options = new ViewOptions({ shadows: graphics === 'card' });
  const latency = new Latency();
  const notices = new Notices();
  const trouble = new TroubleBanner();
  const legend = new Legend();
  const tools = makeTools();
  const gestures = new Gestures(canvas, tools[1], () => toolPanel.used());

  const connection = new Connection({
    trouble: (what) => {
      trouble.show(what);
      // The last report of the server may be outdated.
      if (what) failure.hide();
    },
    message: (message) => {
      if (message.type === 'notice') notices.show(message.header);
      else if (message.type === 'scene') downloadScene(message.header);
      else session.receive(message);
    },
  });
  const { send, ask } = connection;

  /** View that was last requested from the server. */
  let askedFor = '';

  const session = new Session(view, latency, send, {
    display: (display, arrays) => {
      view.start(display.up, display.size);
      const world = new World(display, arrays, view, options, labels);
      world.paint(theme.palette);
      for (const tool of tools) tool.start({ view, world, send, latency });
      gestures.start({ view, world, send, latency });
      for (const panel of panels) panel.display?.(display);
      askedFor = '';
      sendView();
      return world;
    },
    settings: (settings) => {
      for (const panel of panels) panel.settings?.(settings);
    },
    animate: () => gestures.flush(),
    firstFrame: () => {
      layout.fill();
      if (session.world) view.fit(session.world.firstBounds(), frontRight());
    },
    frame: (frame) => {
      showLegend();
      for (const panel of panels) panel.frame?.(frame);
    },
    drawn: () => gizmo.update(),
  });

  const gizmo = new Gizmo(view, fitFrom);
  const transport = transportBar(send);
  const toolPanel = toolbar(tools, gestures.tool, (tool) => gestures.use(tool));
  const curves = curvesPanel();
  const notes = notesPanel(() => !isSmall());
  const title = titleCard(notes.badge);
  const failure = failureBanner(send);
  const numbers = numbersPanel(() => ({
    framesPerSecond: session.framesPerSecond,
    latency: latency.median,
    triangles: session.display?.bodies.reduce((sum, body) => sum + body.triangles, 0) ?? 0,
  }));
  const display = displayPanel(options, () => session.world, ask);
  const side = [display, materialPanel(send, ask), motionPanel(ask), numbers, curves];
  const scene = scenePanel(send);
  const panels: Panel[] = [title, ...side, scene, toolPanel, transport, failure, notes];

  const shortcuts: Shortcut[] = [
    { key: ' ', shown: 'Space', label: 'Play or pause', run: transport.playOrPause },
    { key: '.', shown: '.', label: 'Make one step', run: () => send({ do: 'step' }) },
    { key: 'r', shown: 'R', label: 'Reset to the start', run: () => send({ do: 'reset' }) },
    { key: 'f', shown: 'F', label: 'Fit all bodies into the view', run: () => fitFrom() },
    { key: 'w', shown: 'W', label: 'Edges of elements', run: toggleWireframe },
    { key: 'c', shown: 'C', label: 'Slice', run: () => toggleSlice(options, session.world) },
    { key: 's', shown: 'S', label: 'Save a picture', run: savePicture },
    { key: 't', shown: 'T', label: 'Dark or light', run: () => theme.toggle() },
    { key: 'p', shown: 'P', label: 'Show or hide the panel', run: toggleSide },
    ...tools.map((tool, i) => ({
      key: String(i + 1),
      shown: String(i + 1),
      label: `Tool: ${tool.label}`,
      run: () => toolPanel.choose(tool),
    })),
    { key: 'Escape', shown: 'Esc', label: 'Release', run: () => gestures.cancel() },
    { key: '?', shown: '?', label: 'This help', run: () => help.toggle() },
  ];
  const help = new Help(shortcuts, tools);

  const wireButton = iconButton(ICONS.wireframe, 'Edges', 'W', toggleWireframe);
  const sliceButton = iconButton(ICONS.slice, 'Slice', 'C', () => toggleSlice(options, session.world));
  const panelButton = iconButton(ICONS.panel, 'Panel', 'P', toggleSide);
  const layout = new Layout(view, {
    canvas,
    labels,
    title: title.element,
    buttons: [
      iconButton(ICONS.fit, 'Fit', 'F', () => fitFrom()),
      wireButton,
      sliceButton,
      iconButton(ICONS.camera, 'Picture', 'S', savePicture),
      iconButton(ICONS.theme, 'Dark or light', 'T', () => theme.toggle()),
      iconButton(ICONS.help, 'Help', '?', () => help.toggle()),
      panelButton,
    ],
    side: [...side.map((panel) => panel.element), scene.element],
    toolbar: toolPanel.element,
    transport: transport.element,
    overlays: [
      gizmo.element,
      legend.element,
      failure.element,
      notes.element,
      trouble.element,
      notices.element,
      help.element,
    ],
  });

  options.follow(() => {
    wireButton.setAttribute('aria-pressed', String(options.now.wireframe));
    sliceButton.setAttribute('aria-pressed', String(options.now.slice !== null));
    session.world?.applyOptions();
    showLegend();
    sendView();
  });
  theme.follow((palette) => {
    view.paint(palette);
    session.world?.paint(palette);
    curves.restyle();
    showLegend();
  });
  panelButton.setAttribute('aria-pressed', String(layout.sideIsOpen));
  listen(shortcuts);
  expose(session, view, latency);
  trouble.show('connecting');
  connection.open();
  session.run();

  /** Requests the data that this page shows from the server, if it has changed. */
  function sendView(): void {
    if (!session.display) return;
    const { color, slice } = options.now;
    const wanted: Outgoing = {
      do: 'view',
      color: color === 'region' ? 'none' : color,
      slice: slice && planeOf(slice),
    };
    const key = JSON.stringify(wanted);
    if (key === askedFor) return;
    askedFor = key;
    send(wanted);
  }

  function showLegend(): void {
    const { world, display } = session;
    const coloring = display?.colors.find(({ name }) => name === world?.shownColor);
    const wanted = coloring && coloring.name === options.now.color;
    legend.show(world && wanted ? { coloring, low: world.range.low, high: world.range.high } : null);
  }

  function frontRight(): Vector3 {
    const front = view.up.y > 0 ? new Vector3(0, 0, 1) : new Vector3(0, -1, 0);
    return new Vector3(0.55, 0, 0).addScaledVector(view.up, 0.42).add(front);
  }

  function fitFrom(direction?: Vector3): void {
    if (session.world) view.fit(session.world.bounds(), direction);
  }

  function toggleWireframe(): void {
    options.change({ wireframe: !options.now.wireframe });
  }

  function toggleSide(): void {
    layout.toggleSide();
    panelButton.setAttribute('aria-pressed', String(layout.sideIsOpen));
  }

  function savePicture(): void {
    if (session.display) screenshot(view, legend, session.display.title);
  }
}
