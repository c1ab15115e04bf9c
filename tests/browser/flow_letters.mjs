// SPDX-License-Identifier: Apache-2.0
// Clearing what a night has left: filters, a bulk retry that survives a reload, a refund.
import assert from 'node:assert/strict';
import {flow, sql, untilSql} from './console.mjs';

const lettersOf = (code, users, cause, answer, detail, attempts = 4) => `select world.letters('${code}', 1, ${users}, '${cause}', ${answer === null ? 'null' : `'${answer}'`}, '${detail}', ${attempts})`;
const rows = '#list-dead-letters tbody tr';

// The list before is to be seen until the one with the new filter is there: nothing can be turned over or chosen in it.
async function keepsStillWhileAnotherIsFetched(at) {
  let release;
  const held = new Promise((resolve) => { release = resolve; });
  await at.show('dead-letters?activityCode=sorted-a');
  await at.page.route(/v1\/dead-letters\?.*sorted-b/, async (route) => { await held; await route.continue(); });
  await at.page.locator('#filter-activityCode').fill('sorted-b');
  await at.page.locator('#filter-activityCode').press('Enter');
  await at.page.locator('main[aria-busy]').waitFor();
  for (const part of ['#next-page', '#select-all', `${rows} input`]) await at.page.locator(part).first().dispatchEvent('click');
  assert.equal(await at.count(`${rows}.is-on`), 0);
  release();
  await at.page.waitForFunction((list) => document.querySelectorAll(list).length === 3, rows);
  await at.see('Nothing is selected', '.selection');
  assert.match(await at.page.evaluate(() => location.hash), /activityCode=sorted-b$/);
  await at.page.unroute(/v1\/dead-letters\?.*sorted-b/);
}

flow('dead letters are filtered, sorted and turned over; the address keeps it', {}, async (at) => {
  sql(`select world.activity('sorted-a', 'Sorted', 60), world.submit('sorted-a', 1, 55)`);
  sql(`select world.activity('sorted-b', 'Sorted', 60), world.submit('sorted-b', 1, 3); ${lettersOf('sorted-a', 55, 'attempts_exhausted', 'BUSY', 'try later')}; ${lettersOf('sorted-b', 3, 'refused', 'ACCOUNT_CLOSED', 'closed', 1)}`);
  await at.show('dead-letters');
  await at.page.locator('#filter-activityCode').fill('sorted-a');
  await at.page.locator('#filter-activityCode').press('Enter');
  await at.page.waitForFunction(() => location.hash.includes('activityCode=sorted-a'));
  await at.see('50 entries on this page', '.pager');
  await at.page.locator('#next-page').click();
  await at.see('5 entries on this page', '.pager');
  await at.page.reload();
  await at.see('5 entries on this page', '.pager');
  await at.show('dead-letters?cause=refused&activityCode=sorted-b');
  await at.page.waitForFunction((list) => document.querySelectorAll(list).length === 3, rows);
  await keepsStillWhileAnotherIsFetched(at);
  await at.show('dead-letters?view=groups');
  await at.see('ACCOUNT_CLOSED');
  await at.page.locator('tr', {hasText: 'BUSY'}).locator('a.main-link').click();
  await at.page.waitForFunction(() => location.hash.includes('fingerprint='));
  await at.page.locator('#filter-fingerprint').waitFor();
  await at.page.locator('th a.sort', {hasText: 'Attempts'}).click();
  await at.page.locator('th[aria-sort=ascending]', {hasText: 'Attempts'}).waitFor();
  await at.show('dead-letters?activityCode=sorted-c');
  await at.see('Nothing fits this filter');
});

flow('six hundred letters are sent round again; the page is loaded anew in their midst', {}, async (at) => {
  sql(`select world.activity('bulk', 'Bulk', 700), world.submit('bulk', 1, 601)`);
  sql(`${lettersOf('bulk', 600, 'attempts_exhausted', 'BUSY', 'try later')}; select world.letters('bulk', 601, 1, 'refused', 'ACCOUNT_CLOSED', 'closed', 1)`);
  await at.show('dead-letters?activityCode=bulk&cause=attempts_exhausted');
  assert.equal(await at.isAble('#action-retry'), false);  // nothing is selected yet
  await at.page.locator('#select-all').click();
  await at.page.locator('#action-retry').click();
  await at.page.locator('#preview-count').waitFor();
  assert.equal(await at.text('#preview-count'), '600');
  assert.equal(await at.text('#action-confirm'), 'Retry 600');
  assert.equal(sql("select count(*) from largesse.operation where kind = 'retry'"), '0');  // a preview orders nothing
  await at.act('the provider is back');
  await at.page.locator('dialog progress').waitFor();
  await at.page.reload();
  await at.page.locator('#tray progress').waitFor();  // picked up again
  const id = sql("select max(id) from largesse.operation where kind = 'retry'");
  await at.page.locator('.toast-item', {hasText: '600'}).waitFor();
  await at.show(`operations/${id}`);
  await at.see('600', '.counts');
  await at.see('the provider is back');
  assert.equal(sql("select count(*) from largesse.dead_letter where resolution = 'retried' and close_reason = 'the provider is back' and closed_by = 'olga'"), '600');
  await untilSql("select count(*) from largesse.claim c where c.activity_id = world.id('bulk') and c.status = 'succeeded'", 600);  // they really went round
  assert.equal(sql("select count(*) from largesse.dead_letter d where d.activity_id = world.id('bulk') and d.closed_at is null"), '1');
});

flow('one letter is refunded', {}, async (at) => {
  sql(`select world.activity('refunded', 'Refunded', 10), world.submit('refunded', 1, 2)`);
  sql(lettersOf('refunded', 2, 'refused', 'ACCOUNT_CLOSED', 'the account is closed', 1));
  await at.show('dead-letters?activityCode=refunded');
  await at.page.locator(`${rows} a.main-link`).first().click();
  await at.see('Dead letter #', '#title');
  await at.see('the account is closed');
  await at.page.locator('#action-refund').click();
  await at.see('Refund 1', '#action-confirm');
  await at.act('the user has no account any more');
  await at.page.locator('#action-close').click();
  await at.dialogGone();
  await at.see('Closed', '.page-head');
  assert.equal(sql("select count(*) from largesse.claim c where c.activity_id = world.id('refunded') and c.status = 'failed'"), '1');
  assert.equal(sql("select s.remaining from largesse.stock s where s.activity_id = world.id('refunded')"), '9');  // given back
  assert.equal(await at.isAble('#action-refund'), false);
});
