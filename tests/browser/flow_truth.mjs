// SPDX-License-Identifier: Apache-2.0
// The morning after: findings, reports, statements.
import assert from 'node:assert/strict';
import {command, CONSOLE, flow, sql, until} from './console.mjs';

const rows = '#list-findings tbody tr';

flow('a finding is repaired after a look at what would change; another is explained', {}, async (at) => {
  sql(`select world.activity('odd', 'Odd stock', 100), world.submit('odd', 1, 10); select world.activity('even', 'Even stock', 100), world.submit('even', 1, 10)`);
  sql(`update largesse.stock set remaining = remaining - 3, taken = taken + 3 where activity_id = world.id('odd');
       update largesse.claim set created_at = now() - interval '20 days' where activity_id = world.id('even') and user_id = 3`);
  command('reconciler', ['audit', '--all'], 1);
  await at.show('findings?activityCode=odd');
  await at.page.waitForFunction((list) => document.querySelectorAll(list).length === 1, rows);
  await at.page.locator(`${rows} a.main-link`).click();
  await at.see('Expected');
  await at.see('Next step');
  await at.page.locator('#action-repair').click();
  await at.see('Before', 'dialog .preview');
  assert.equal(sql("select remaining from largesse.stock where activity_id = world.id('odd')"), '87');  // only a look
  await at.act('counted by hand');
  await at.page.locator('#action-close').click();
  await at.dialogGone();
  await until('the stock is right', () => sql("select remaining from largesse.stock where activity_id = world.id('odd')") === '90');
  await at.show('findings?activityCode=even');
  const n = await at.page.locator(rows).count();
  assert.ok(n >= 1);
  await at.page.locator('#select-all').click();
  await at.page.locator('#action-resolve').click();
  await at.see(`Resolve ${n}`, '#action-confirm');
  await at.act('moved by hand, agreed with finance');
  await at.page.locator('#action-close').click();
  await at.dialogGone();
  await at.see('Nothing fits this filter');
  command('reconciler', ['audit', '--all'], 0);  // an audit finds nothing more
  await at.show('findings?activityCode=even&state=gone');
  await at.page.locator(`${rows} a.main-link`).first().click();
  await at.see('moved by hand, agreed with finance');
  await at.show('log?action=findings');
  await at.see('counted by hand', '#list-log');
});

flow('a night is read and held against the night before', {}, async (at) => {
  sql(`select world.activity('nightly', 'Nightly', 100), world.submit('nightly', 1, 12), world.deliver('nightly', 1, 12);
       update largesse.claim set created_at = date_trunc('day', now()) - interval '5 hours', issued_at = date_trunc('day', now()) - interval '5 hours', succeeded_at = date_trunc('day', now()) - interval '4 hours', updated_at = date_trunc('day', now()) - interval '4 hours'
         where activity_id = world.id('nightly')`);
  const [before, date] = sql("select (now() at time zone 'UTC')::date - 2, (now() at time zone 'UTC')::date - 1").split('|');
  for (const each of [before, date]) command('reconciler', ['report', 'night', each]);
  await at.show('reports');
  await at.page.locator(`#list-reports a[href="#/reports/${date}"]`).click();
  await at.see('12', '.stat:has-text("Claims") .stat-value');
  await at.see('nightly', 'table');
  await at.page.locator('.chart canvas').first().waitFor();
  await at.page.locator('.chart-data summary').first().click();  // the same for who sees no picture
  await at.see('19', '.chart-data');
  await at.page.locator('.tabs a', {hasText: 'Comparison'}).click();
  await at.see('+12', 'table');
  for (const format of ['csv', 'html', 'json']) {
    const answer = await at.context.request.get(`${CONSOLE}/v1/reports/${date}?format=${format}`);
    assert.equal(answer.status(), 200);
    assert.ok((await answer.text()).length > 200);
  }
  await at.show(`reports/${date}/comparison?with=2020-01-01`);
  await at.see('There is no report of 2020-01-01');
});

flow('a statement is given in; a line that cannot be read refuses all of it', {}, async (at) => {
  sql(`select world.activity('paid', 'Paid', 10), world.submit('paid', 1, 3), world.deliver('paid', 1, 3);
       update largesse.claim set created_at = now() - interval '1 day 1 hour', issued_at = now() - interval '1 day 1 hour', succeeded_at = now() - interval '1 day', updated_at = now() - interval '1 day' where activity_id = world.id('paid')`);
  const date = sql("select ((now() - interval '1 day') at time zone 'UTC')::date");
  const lines = sql(`select c.activity_id || '-' || c.id || ',' || c.user_id || ',credit,' || case c.user_id when 2 then 1801 else 1800 end || ',CNY,' || largesse.time_text(c.succeeded_at) || ',bank-' || c.id
    from largesse.claim c where c.activity_id = world.id('paid') and c.user_id < 3 order by c.id`);
  const file = (name, text) => ({name, mimeType: 'text/csv', buffer: Buffer.from(`requestId,userId,type,amount,currency,at,ref\n${text}\n`)});
  await at.show('statements');
  await at.page.locator('#action-statement').click();
  await at.act('the bank\'s file', {provider: 'simulator', date, file: file('broken.csv', `${lines}\n1-1,1,credit,many,CNY,2026-01-01T00:00:00Z,x`)});
  await at.page.locator('dialog .action-said [role=alert]').waitFor();
  await at.see('4', 'dialog .action-said');  // the line
  assert.equal(sql('select count(*) from largesse.statement'), '0');
  await at.act('the bank\'s file', {file: file('bank.csv', lines)});
  await at.page.locator('dialog a', {hasText: 'Line by line'}).click();
  await at.see('Statement ', '#title');
  await at.see('18.01', 'table');
  await at.page.locator('#filter-outcome').selectOption('matched');
  await at.page.waitForFunction(() => location.hash.includes('outcome=matched'));
  await at.see('bank-', 'table');
  await at.show('findings?source=statement');
  await at.see('18.00', 'table');
  await at.page.waitForFunction((list) => document.querySelectorAll(list).length >= 2, rows);  // another amount, and one that is missing
});
