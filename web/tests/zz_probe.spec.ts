import { open, pixels, share, isBodyBlue, visibleSpot } from './support/page';
import { beam, CUBE, DROPPED, TWO } from './support/scenes';
import { test } from './support/viewer';
for (const [n, s, o] of [['beam', beam(), []], ['beamp', beam(), ['--paused']], ['dropped', DROPPED, ['--paused']], ['two', TWO, ['--paused']], ['cube', CUBE, ['--paused']], ['droppedrun', DROPPED, []], ['high', DROPPED.replace('0.6', '2'), []]] as const)
test(n, async ({ page, view }) => {
  await open(page, await view(s, ...o));
  if (n === 'droppedrun' || n === 'high') await page.waitForTimeout(5000);
  await page.screenshot({ path: `/tmp/probe/${n}.png` });
  const all = await pixels(page, 1); const c = new Map<string, number>();
  for (let i = 0; i < all.data.length; i += 4) { const [r,g,b] = all.data.slice(i, i+3); if (b > 1.3*r && b > 1.1*g && b > 60) { const k = `${r},${g},${b}`; c.set(k, (c.get(k) ?? 0) + 1); } }
  console.log([...c].sort((a, b) => b[1] - a[1]).slice(0, 16).map(([k, v]) => { const [r,g,b] = k.split(',').map(Number); return `${k} x${v} ${(r/b).toFixed(2)} ${(g/b).toFixed(2)}`; }).join('\n'));
  console.log(n, share(await pixels(page), isBodyBlue), JSON.stringify(await page.evaluate(() => {
    const { stage, projectPoint, frame } = window.pliant;
    const [low, high] = stage?.view ?? [[0,0,0],[0,0,0]];
    return { time: frame?.time, playing: frame?.playing, low, high, corners: [0,1,2,3,4,5,6,7].map((i) => projectPoint([i & 1 ? high[0] : low[0], i & 2 ? high[1] : low[1], i & 4 ? high[2] : low[2]]).map(Math.round)),
     side: document.querySelector('.side')?.getBoundingClientRect(), tr: document.querySelector('.transport')?.getBoundingClientRect() };
  })));
  if (n === 'cube') {
    const spot = await visibleSpot(page); console.log(JSON.stringify(spot));
    await page.keyboard.press('5');
    await page.mouse.move(spot.x, spot.y); await page.mouse.down(); await page.mouse.move(spot.x, spot.y - 120, { steps: 3 });
    await page.waitForTimeout(500); await page.screenshot({ path: `/tmp/probe/cube2.png` });
    console.log(await page.locator('.arrow-label').count());
  }
});
