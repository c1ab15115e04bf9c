// SPDX-License-Identifier: Apache-2.0
// An activity's life as an operator leads it.
import assert from 'node:assert/strict';
import {claim, flow, sql} from './console.mjs';

const logged = (action, target) => sql(`select actor || ': ' || coalesce(reason, '') from largesse.operator_log where action = '${action}' and target = '${target}' order by seq desc limit 1`);
const statusOf = (code) => sql(`select status from largesse.activity where code = '${code}'`);

flow('an activity is created, published, and found again', {}, async (at) => {
  await at.show('activities');
  await at.page.locator('#new-activity').click();
  await at.see('New activity', '#title');
  await at.page.locator('#save').click();
  await at.page.locator('#form-fault .note-bad').waitFor();  // what is missing is said, and nothing is sent
  const field = (name) => at.page.locator(`main form [name="${name}"]`);
  await field('code').fill('moon-2026');
  await field('name').fill('Moon cakes, 月饼');
  await field('timeZone').fill('Asia/Shanghai');
  await field('startAt').fill('2031-10-01T18:00');
  await field('endAt').fill('2031-10-01T22:00');
  await field('rewardCode').fill('voucher');
  await field('stock.total').fill('500');
  await at.page.locator('#flip').click();  // the same as JSON
  const doc = JSON.parse(await at.page.locator('#activity-json').inputValue());
  assert.deepEqual([doc.code, doc.startAt, doc.stock.total], ['moon-2026', '2031-10-01T18:00:00+08:00', 500]);
  await at.page.locator('#flip').click();
  await at.page.locator('#save').click();
  await at.page.locator('dialog[open]').waitFor();
  await at.act('for the Mid-Autumn night');
  await at.see('Moon cakes, 月饼', '#title');
  await at.see('Draft', '.page-head');
  assert.equal(statusOf('moon-2026'), 'draft');
  assert.equal(logged('activity.put', 'moon-2026'), 'olga: for the Mid-Autumn night');
  await at.page.locator('#action-publish').click();
  await at.page.locator('#action-confirm').click();  // without a reason the browser asks for it
  assert.equal(statusOf('moon-2026'), 'draft');
  await at.act('checked by two');
  await at.see('Published', '.page-head');
  assert.equal(statusOf('moon-2026'), 'published');
  assert.equal(logged('activity.publish', 'moon-2026'), 'olga: checked by two');
  await at.show('activities?status=published&q=月饼');
  await at.see('moon-2026', '#list-activities');
  assert.equal(await at.count('#list-activities tbody tr'), 1);
});

flow('an activity is paused: claims are refused, until it is resumed', {}, async (at) => {
  sql("select world.activity('pausing', 'Lantern vouchers', 10)");
  await at.show('activities/pausing');
  await at.page.locator('#action-pause').click();
  await at.act('the till is closed');
  await at.see('Paused', '.page-head');
  let answer = await claim('pausing', 1, 'c1');
  for (let i = 0; i < 100 && answer.status === 201; i++) answer = await claim('pausing', 1, `c${i}`);
  assert.equal((await answer.json()).code, 'PAUSED');
  await at.page.locator('#action-resume').click();
  await at.act('it is open again');
  await at.see('Ongoing', '.page-head');
  assert.equal(logged('activity.resume', 'pausing'), 'olga: it is open again');
  for (let i = 0; i < 100 && answer.status !== 201; i++) answer = await claim('pausing', 2, 'back');
  assert.equal(answer.status, 201);
  await at.see('1', '.stat:has-text("Issued") .stat-value');  // the page hears of it by itself
});

flow('a running session gets another name and nothing else, and a dialog goes with its page', {}, async (at) => {
  sql("select world.activity('renamed', 'Old name', 10)");
  sql("update largesse.activity set start_at = date_trunc('minute', start_at) + interval '0.25 s', end_at = date_trunc('second', end_at) + interval '0.5 s' where code = 'renamed'");
  await at.show('activities/renamed/edit');
  await at.page.locator('main form [name=name]').fill('New name');
  await at.page.locator('#save').click();
  await at.see('Old name', 'dialog .preview');
  assert.equal(await at.count('dialog .preview li'), 1);
  await at.act('a better one');
  await at.see('New name', '#title');
  await at.page.locator('#action-stock').click();
  await at.page.locator('dialog[open]').waitFor();
  await at.page.goBack();
  await at.dialogGone();
});

flow('stock is adjusted, and no more taken away than is free', {}, async (at) => {
  sql("select world.activity('stocked', 'Tea house seats', 100), world.submit('stocked', 1, 30)");
  await at.show('activities/stocked');
  await at.page.locator('#action-stock').click();
  const by = at.page.locator('dialog [name=by]');
  await by.fill('-71');
  await by.dispatchEvent('change');
  await at.see('So many are not free.', 'dialog');
  assert.equal(await at.page.locator('#action-confirm').isDisabled(), true);
  await by.fill('50');
  await by.dispatchEvent('change');
  await at.see('120', 'dialog .preview');
  await at.act('two more tables', {by: '50'});
  await at.see('Total 150, remaining 120', 'dialog');
  await at.page.keyboard.press('Escape');
  await at.dialogGone();
  await at.see('30 of 150 taken, 120 left');
  assert.equal(logged('stock.adjust', 'stocked'), 'olga: two more tables');
  await at.show('activities/stocked/history');
});
