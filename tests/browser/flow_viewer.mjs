// SPDX-License-Identifier: Apache-2.0
// Who may only look cannot act: not by the page, not by hand-made requests, not beside the browser.
import assert from 'node:assert/strict';
import {execFileSync} from 'node:child_process';
import {CONSOLE, flow, KEYS, sql, untilSql} from './console.mjs';

const books = () => sql(`select concat_ws('|', (select a.status || a.version from largesse.activity a where a.code = 'watched'), (select s::text from largesse.stock s where s.activity_id = world.id('watched')),
  (select count(*) from largesse.dead_letter d where d.activity_id = world.id('watched') and d.closed_at is null), (select count(*) from largesse.operation), (select count(*) from largesse.provider_change), (select count(*) from largesse.statement),
  (select count(*) from largesse.activity a where a.code = 'new-one'), (select count(*) from largesse.operator_log where actor = 'vera' and action <> 'session.sign_in'))`);
const curl = (method, path, headers, body) => Number(execFileSync('curl', ['-s', '-o', '/dev/null', '-w', '%{http_code}', '-X', method, ...headers.flatMap((each) => ['-H', each]), '-H', 'Content-Type: application/json', '-d', JSON.stringify(body), `${CONSOLE}${path}`], {encoding: 'utf8'}));

flow('a viewer cannot act', {who: 'viewer'}, async (at) => {
  sql("select world.activity('watched', 'Watched', 10), world.submit('watched', 1, 2), world.letters('watched', 1, 2, 'refused', 'NO', 'no', 1)");
  const letter = sql("select min(id) from largesse.dead_letter where activity_id = world.id('watched')");
  await untilSql("select status from largesse.activity where code = 'watched'", 'ongoing');
  const before = books();
  for (const [address, buttons] of [['activities', ['new-activity']], ['activities/watched', ['action-pause', 'action-stock']], [`dead-letters/${letter}`, ['action-retry', 'action-refund', 'action-resolve']], ['providers', ['action-pause', 'action-limits']], ['statements', ['action-statement']]]) {
    await at.show(address);
    for (const id of buttons) {
      assert.equal(await at.isAble(`#${id}`), false, `${address} ${id}`);
      await at.page.locator(`#${id}`).first().click({force: true});
      assert.equal(await at.count('dialog'), 0, `${address} ${id}`);
      assert.match(await at.page.locator(`#${id}`).first().getAttribute('title'), /Your role is/);
    }
  }
  const orders = [['POST', '/v1/activities/watched/pause', {reason: 'x'}], ['POST', '/v1/activities/watched/stock-adjustments', {key: 'k', by: 5, reason: 'x'}], ['PUT', '/v1/activities/new-one', {code: 'new-one', name: 'n', kind: 'reward'}],
    ['POST', '/v1/dead-letters/retry', {ids: [letter], reason: 'x'}], ['POST', '/v1/dead-letters/refund', {filter: {}, reason: 'x'}], ['POST', '/v1/dead-letters/resolve', {ids: [letter], as: 'delivered', proof: 'p', reason: 'x'}], ['POST', '/v1/findings/repair', {filter: {}, reason: 'x'}],
    ['POST', '/v1/findings/resolve', {filter: {}, reason: 'x'}], ['POST', '/v1/providers/simulator/pause', {reason: 'x'}], ['POST', '/v1/statements/simulator?date=2026-01-01', {}], ['POST', '/v1/operations/1/cancel', {reason: 'x'}]];
  const [cookie] = await at.context.cookies();
  for (const [method, path, body] of orders) {
    assert.equal((await at.fetch(method, path, body)).status, 403, `${path} with the token`);
    assert.equal((await at.fetch(method, path, body, {token: false})).status, 403, `${path} without the token`);
    assert.equal(curl(method, path, [`Authorization: Bearer ${KEYS.viewer}`], body), 403, `${path} with the key`);
    assert.equal(curl(method, path, [`Cookie: largesse_session=${cookie.value}`, 'X-CSRF-Token: guessed'], body), 403, `${path} with a guessed token`);
    assert.equal(curl(method, path, [], body), 401, `${path} with nothing`);
  }
  assert.equal(books(), before);
  at.faults.length = 0;  // the refusals above, in the browser's own words
});

flow('an operator needs the token and a reason', {}, async (at) => {
  sql("select world.activity('guarded', 'Guarded', 10)");
  await at.show('activities/guarded');
  assert.equal((await at.fetch('POST', '/v1/activities/guarded/pause', {reason: 'x'}, {token: false})).status, 403);
  const unreasoned = await at.fetch('POST', '/v1/activities/guarded/pause', {});
  assert.equal(unreasoned.status, 400);
  assert.match(unreasoned.body, /reason/);
  assert.equal(sql("select status from largesse.activity where code = 'guarded'"), 'ongoing');
  assert.equal((await at.fetch('POST', '/v1/activities/guarded/pause', {reason: 'x'})).status, 200);
});
