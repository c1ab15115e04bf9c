// SPDX-License-Identifier: Apache-2.0
// Looks at every page: axe-core, widths, pictures.
import assert from 'node:assert/strict';
import {test} from 'node:test';
import {axeSource, flow, open, sql} from './console.mjs';
import {dates, prepare} from './festival.mjs';

const SCREENSHOTS = process.env.SCREENSHOTS;
// These, which have every part and colour, or all pages in the long form, are looked at in the dark and shown in every look.
const IN_EVERY_LOOK = ['now', 'activity', 'activity-review', 'claim', 'dead-letters', 'finding', 'report', 'providers', 'log'];
const isShownInEveryLook = (name) => process.env.LARGESSE_CHAOS !== undefined || IN_EVERY_LOOK.includes(name);
const RULES = {runOnly: {type: 'tag', values: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'best-practice']}, resultTypes: ['violations']};

function places() {
  const letter = sql("select min(id) from largesse.dead_letter where cause = 'attempts_exhausted'");
  const claim = sql("select activity_id || '-' || claim_id from largesse.dead_letter where cause = 'unknown' limit 1");
  const finding = sql("select key from largesse.finding where kind = 'stock_not_matching_claims' limit 1");
  const statement = sql('select max(id) from largesse.statement');
  return {now: 'now', activities: 'activities', activity: 'activities/lantern-vouchers', 'activity-review': 'activities/lantern-vouchers/review', 'activity-claims': 'activities/lantern-vouchers/claims', 'activity-refusals': 'activities/lantern-vouchers/refusals', 'activity-history': 'activities/river-boats/history',
    'activity-edit': 'activities/tea-house/edit', 'activity-numbers': 'activities/lucky-numbers/numbers', 'activity-blocked': 'activities/lucky-numbers/blocked-users', 'activity-new': 'activity-new', event: 'events/lanterns-2026', claims: 'claims', claim: `claims/${claim}`, 'claims-of-user': 'claims?user=17',
    'dead-letters': 'dead-letters', 'dead-letter-groups': 'dead-letters?view=groups', 'dead-letter': `dead-letters/${letter}`, findings: 'findings', finding: `findings/${encodeURIComponent(finding)}`, reports: 'reports', report: `reports/${dates[1]}`, comparison: `reports/${dates[1]}/comparison`,
    statements: 'statements', statement: `statements/${statement}`, providers: 'providers', 'provider-history': 'providers/simulator', webhooks: 'providers?view=webhooks', operations: 'operations', operation: 'operations/1', log: 'log', missing: 'nothing-here'};
}

const drawn = (at) => at.page.waitForFunction(() => [...document.querySelectorAll('.chart canvas')].every((canvas) => globalThis.Chart?.getChart(canvas) !== undefined));
// The first screen, or as much as two screens show.
async function picture(at, name, screens = 1) {
  const {width, height} = at.page.viewportSize();
  const whole = screens === 1 ? height : await at.page.evaluate(() => document.documentElement.scrollHeight);
  const more = whole > height ? {fullPage: true, clip: {x: 0, y: 0, width, height: Math.min(whole, height * screens)}} : {};
  await at.page.screenshot({path: `${SCREENSHOTS}/${name}.png`, animations: 'disabled', caret: 'hide', ...more});
}

// What axe-core finds of these weights is nothing that anybody should meet; smaller things are listed for who reads the output.
async function accessible(at, name, rules = RULES) {
  if (!await at.page.evaluate(() => globalThis.axe !== undefined)) await at.page.evaluate(axeSource);
  const {violations} = await at.page.evaluate((r) => globalThis.axe.run(document, r), rules);
  const told = violations.map((v) => [v.impact, `${name}: ${v.impact} ${v.id}: ${v.help}: ${v.nodes.slice(0, 3).map((node) => `${node.target.join(' ')} (${node.any[0]?.message ?? ''})`).join('; ')}`]);
  const of = (isBad) => told.filter(([impact]) => ['serious', 'critical'].includes(impact) === isBad).map(([, text]) => text);
  return {bad: of(true), small: of(false)};
}

// Nothing stands out to the side, and what can be pressed is within reach.
const outside = () => {
  const wide = document.documentElement.scrollWidth > innerWidth ? [`the page is ${document.documentElement.scrollWidth} wide`] : [];
  const scrolls = (el) => { for (let up = el.parentElement; up !== null && up !== document.body; up = up.parentElement) if (['auto', 'scroll'].includes(getComputedStyle(up).overflowX)) return true; return false; };
  const lost = [...document.querySelectorAll('button, a[href], input, select, textarea')].filter((el) => !el.classList.contains('skip') && !scrolls(el)).map((el) => [el, el.getBoundingClientRect()]).filter(([, box]) => box.width > 0 && (box.left < -1 || box.right > innerWidth + 1));
  return [...wide, ...lost.map(([el, box]) => `${el.localName}#${el.id} ${el.textContent.slice(0, 30)} from ${Math.round(box.left)} to ${Math.round(box.right)}`)];
};

// Names and codes are as they are in every language.
const KNOWN = /^(bizId|Webhook$|simulator(-b)?|largesse|adam|olga|vera|clock|Lantern|Seats|Lucky|Porcelain|Night market|River|Opening|Closing)/;
async function untranslated(at) {
  assert.equal(await at.page.evaluate(() => document.documentElement.lang), 'zh-CN');
  const texts = await at.page.evaluate(() => [...document.querySelectorAll('h1, h2, th, .btn, .tab, label, .stat-name, dt, .sub, figcaption, legend, .form-text, .tag, .chip')].map((el) => [...el.childNodes].filter((node) => node.nodeType === 3).map((node) => node.textContent).join(' ').trim()));
  return [...new Set(texts)].filter((text) => /[a-z]{3,}/.test(text) && !/[\u4e00-\u9fff]/.test(text) && !KNOWN.test(text));
}

// The ways to look at a page, each from the one before without loading it anew.
const LOOKS = {
  light: async (at, name, t) => {
    const {bad, small} = await accessible(at, name);
    for (const each of small) t.diagnostic(each);
    return bad;
  },
  dark: async (at, name) => {
    await at.page.emulateMedia({colorScheme: 'dark'});
    return (await accessible(at, name, {runOnly: ['color-contrast'], resultTypes: ['violations']})).bad;
  },
  phone: async (at) => {
    await at.page.emulateMedia({colorScheme: 'light'});
    await at.page.setViewportSize({width: 360, height: 740});
    return at.page.evaluate(outside);
  },
  zh: async (at) => {
    await at.page.setViewportSize(DESK);
    await at.page.locator('#language').selectOption('zh');
    await at.there();
    await drawn(at);
    return untranslated(at);
  },
};
const DESK = {width: 1280, height: 800};

test('the festival is audited, reported, and held against a statement; an order is given', prepare);

test('every page: no serious fault in light or dark, room on a phone, Chinese throughout', async (t) => {
  const faults = [];
  const at = await open({who: 'admin', ...DESK});
  try {
    for (const [name, address] of Object.entries(places())) {
      await at.show(address);
      await drawn(at);
      for (const [look, run] of Object.entries(LOOKS)) {
        if (['dark', 'zh'].includes(look) && !isShownInEveryLook(name)) continue;
        faults.push(...(await run(at, name, t)).map((fault) => `${name}, ${look}: ${fault}`));
        if (look === 'light' || isShownInEveryLook(name)) await picture(at, `${name}-${look}`, look === 'light' || look === 'phone' ? 2 : 1);
      }
      await at.page.setViewportSize(DESK);
      await at.page.locator('#language').selectOption('en');
    }
    assert.deepEqual([...faults, ...at.faults], []);
  } finally {
    await at.context.close();
  }
});

test('dialogs have no serious fault either', async () => {
  for (const dark of [false, true]) {
    const at = await open({dark});
    for (const [address, opener, name] of [['dead-letters?cause=unknown', '#action-retry', 'dialog-retry'], ['activities/lantern-vouchers', '#action-stock', 'dialog-stock'], ['findings?kind=stock_not_matching_claims', '#action-repair', 'dialog-repair'], ['statements', '#action-statement', 'dialog-statement']]) {
      await at.show(address);
      if (await at.count('#select-all') > 0) await at.page.locator('#select-all').click();
      await at.page.locator(opener).click();
      await at.page.waitForFunction(() => document.querySelector('dialog[open]') !== null && document.querySelector('dialog .loading') === null);
      await picture(at, `${name}-${dark ? 'dark' : 'light'}`);
      assert.deepEqual((await accessible(at, name)).bad, []);
      await at.page.keyboard.press('Escape');
      await at.dialogGone();
    }
    await at.context.close();
  }
});

flow('an operator clears letters with a thumb', {width: 360, height: 740, hasTouch: true, isMobile: true}, async (at) => {
  await at.show('now');
  await at.page.locator('.side a', {hasText: 'Dead letters'}).tap();
  await at.see('Dead letters', '#title');
  await at.page.locator('#list-dead-letters tbody input[type=checkbox]').first().tap();
  await at.page.locator('#action-retry').tap();
  await at.page.locator('#preview-count').waitFor();
  assert.deepEqual(await at.page.evaluate(outside), []);
  await picture(at, 'dialog-retry-phone');
  await at.page.locator('dialog [name=reason]').fill('from the train');
  await at.page.locator('#action-confirm').tap();
  await at.page.locator('#action-close').tap();
  await at.dialogGone();
});
