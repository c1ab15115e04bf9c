// SPDX-License-Identifier: Apache-2.0
// The pictures that README shows: make screenshots.
import assert from 'node:assert/strict';
import {writeFileSync} from 'node:fs';
import {test} from 'node:test';
import {open, sql} from './console.mjs';
import {dates, prepare} from './festival.mjs';
import {shrink} from './palette.mjs';

const FOLDER = process.env.LARGESSE_SCREENSHOTS;
const BYTES_MAX = 120 * 1024;

async function take(name, address, {ready, before, ...options}) {
  const at = await open(options);
  await at.show(address);
  if (ready) await at.page.waitForFunction(ready);
  await before?.(at);
  const small = shrink(await at.page.screenshot({animations: 'disabled', caret: 'hide'}));
  assert.ok(small.length <= BYTES_MAX, `${name}: ${small.length} bytes`);
  writeFileSync(`${FOLDER}/${name}.png`, small);
  assert.deepEqual(at.faults, []);
  await at.context.close();
}
const drawn = () => document.querySelector('.chart canvas') !== null && [...document.querySelectorAll('.chart canvas')].every((canvas) => globalThis.Chart?.getChart(canvas) !== undefined);
async function askRetry(at) {
  await at.page.locator('tr', {hasText: 'outcome unknown'}).locator('#action-retry').click();
  await at.page.locator('#preview-count').waitFor();
  await at.page.locator('dialog [name=reason]').fill('The wallet service is back since 21:40; ticket 8812.');
}

test('pictures for README', async () => {
  await prepare();
  const claim = sql("select activity_id || '-' || claim_id from largesse.dead_letter where cause = 'unknown' limit 1");
  await take('now', 'now', {height: 1000});
  await take('retry', 'dead-letters?view=groups', {dark: true, before: askRetry});
  await take('claim', `claims/${claim}`, {height: 900});
  await take('report', `reports/${dates[1]}`, {height: 900, ready: drawn});
  await take('review-zh', 'activities/lantern-vouchers/review', {height: 900, locale: 'zh-CN', ready: drawn});
  await take('phone', 'now', {width: 390, height: 844, isMobile: true, hasTouch: true});
});
