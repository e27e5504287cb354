// Access control, and independence of connections.

import { type IncomingMessage, request } from 'node:http';
import type { Socket } from 'node:net';
import { open, time } from './support/page';
import { beam } from './support/scenes';
import { expect, test, type Viewer } from './support/viewer';

/** Returns the HTTP status for a program that requests the socket. */
function upgrade(
  { url }: Viewer,
  { token = url.searchParams.get('token') ?? '', ...headers }: Record<string, string> = {},
  opened: (socket: Socket) => void = (socket) => socket.destroy(),
): Promise<number> {
  return new Promise((done, failed) => {
    const asked = request({
      host: url.hostname,
      port: url.port,
      path: `/socket?token=${token}`,
      headers: {
        Connection: 'Upgrade',
        Upgrade: 'websocket',
        'Sec-WebSocket-Version': '13',
        'Sec-WebSocket-Key': 'dGhlIHNhbXBsZSBub25jZQ==',
        ...headers,
      },
    });
    asked.on('upgrade', (answer: IncomingMessage, socket: Socket) => {
      opened(socket);
      done(answer.statusCode ?? 0);
    });
    asked.on('response', (answer) => {
      answer.resume();
      done(answer.statusCode ?? 0);
    });
    asked.on('error', failed);
    asked.end();
  });
}

test('only who knows the token, from a page of the server, may connect', async ({ view }) => {
  const viewer = await view(beam(), '--paused');
  expect(await upgrade(viewer)).toBe(101);
  expect(await upgrade(viewer, { Origin: viewer.url.origin })).toBe(101);
  expect(await upgrade(viewer, { token: 'wrong' })).toBe(403);
  expect(await upgrade(viewer, { token: '' })).toBe(403);
  expect(await upgrade(viewer, { Origin: 'https://evil.example' })).toBe(403);
  expect(await upgrade(viewer, { Host: 'evil.example' })).toBe(403);
  const page = await fetch(new URL('/?token=wrong', viewer.url));
  expect(page.status).toBe(403);
  expect(await page.text()).toContain('token');
});

test('garbage and those who vanish disturb nobody', async ({ page, view }) => {
  const viewer = await view(beam());
  await open(page, viewer);
  // Vanishes without a word, and in the middle of one.
  await upgrade(viewer);
  await upgrade(viewer, {}, (socket) => socket.end(Buffer.from([0x81, 0xfe, 0xff])));
  await upgrade(viewer, {}, (socket) => socket.end('this is no frame at all'));
  const received = await page.evaluate(
    async (address) => {
      const socket = new WebSocket(address);
      socket.binaryType = 'arraybuffer';
      const notices: string[] = [];
      await new Promise((done) => {
        socket.onopen = done;
      });
      const closed = new Promise((done) => {
        socket.onclose = done;
      });
      socket.onmessage = ({ data }: MessageEvent<ArrayBuffer>) => {
        const length = new DataView(data).getUint32(0, true);
        const header = JSON.parse(new TextDecoder().decode(new Uint8Array(data, 4, length)));
        if (header.type === 'notice') notices.push(header.text);
      };
      for (const garbage of [
        '',
        'garbage',
        '{}',
        '[[[[',
        '{"do":"fly"}',
        '{"do":"seek","time":"never"}',
        '{"do":"grab","pull":1,"triangle":4000000000,"weights":[1,0,0],"target":[0,0,0],"stiffness":1,"input":1}',
        '{"do":"set","step":-1}',
        '{"do":"set-material","index":0,"young":-5}',
      ]) {
        socket.send(garbage);
      }
      socket.send(new Uint8Array([1, 2, 3]));
      const wait = () => new Promise((done) => setTimeout(done, 50));
      for (let i = 0; i < 100 && notices.length < 8; i++) await wait();
      // Too long: that ends the connection.
      socket.send('x'.repeat(200_000));
      await closed;
      return notices;
    },
    viewer.url.href.replace('http', 'ws').replace('/?', '/socket?'),
  );
  expect(received.length).toBeGreaterThanOrEqual(8);
  const before = await time(page);
  await expect.poll(() => time(page)).toBeGreaterThan(before + 0.2);
  await expect.poll(() => page.evaluate(() => window.pliant.frame?.viewers)).toBe(1);
});

test('the page tells when the server is gone', async ({ page, view, complaints }) => {
  const viewer = await view(beam());
  await open(page, viewer);
  viewer.process.kill();
  await expect(page.getByRole('alert').filter({ hasText: 'The server is gone.' })).toBeVisible();
  // The browser complains about every attempt to reach it.
  complaints.length = 0;
  await page.close();
  complaints.length = 0;
});

test('without a token the page says what is missing', async ({ page, view, complaints }) => {
  const { url } = await view(beam(), '--paused');
  await page.goto(url.origin);
  await expect(page.locator('body')).toContainText('full address');
  complaints.length = 0;
});
