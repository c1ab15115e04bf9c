// SPDX-License-Identifier: Apache-2.0
// What the tests of the console share: one browser, a page that is watched for faults, people who sign in, and looks at the
// server from beside (SQL, HTTP, commands). browser.sh sets the environment.
import assert from 'node:assert/strict';
import {execFileSync} from 'node:child_process';
import {createRequire} from 'node:module';
import {after, test} from 'node:test';

const env = process.env;
const require = createRequire(`${env.PACKAGES}/package.json`);
const {chromium} = require('playwright-core');
export const axeSource = require('axe-core').source;
export const CONSOLE = env.CONSOLE;
export const KEYS = {viewer: env.VIEWER_KEY, operator: env.OPERATOR_KEY, admin: env.ADMIN_KEY, service: env.SERVICE_KEY};
const PATIENCE = 15000;

const started = {browser: null};
export async function browser() {
  started.browser ??= await chromium.launch({executablePath: env.CHROMIUM, args: process.getuid() === 0 ? ['--no-sandbox'] : []});
  return started.browser;
}
after(() => started.browser?.close());

// --- beside the browser
export const sql = (text) => execFileSync(env.PSQL, ['-XqAt', '-v', 'ON_ERROR_STOP=1', '-c', text], {encoding: 'utf8'}).trim();
export function command(name, args, status = 0) {
  let out = '', got = 0;
  try {
    out = execFileSync(`${env.BIN}/${name}`, ['-c', env.CONFIG, ...args], {encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe']});
  } catch (error) {
    got = error.status;
    out = `${error.stdout}${error.stderr}`;
  }
  assert.equal(got, status, `${name} ${args.join(' ')}: ${out}`);
  return out;
}
export const claim = (activityCode, userId, bizId) => fetch(`${env.SCHEDULER_URL}/v1/claims`, {method: 'POST', headers: {'Content-Type': 'application/json'}, body: JSON.stringify({activityCode, userId, bizId})});
export async function until(what, condition) {
  for (const end = Date.now() + PATIENCE; ;) {
    const got = await condition();
    if (got) return got;
    if (Date.now() > end) assert.fail(`waited in vain: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}
export const untilSql = (text, wanted) => until(`${text} = ${wanted}`, () => sql(text) === String(wanted));

// --- a page whose faults are kept
const REFUSED = /^Failed to load resource: the server responded with a status of 4/;  // said by the page itself, where a person sees it

function watch(page, faults) {
  page.on('dialog', (dialog) => { faults.push(`a dialog of the browser: ${dialog.message()}`); dialog.dismiss().catch(() => {}); });
  page.on('pageerror', (error) => faults.push(`error: ${error.stack ?? error}`));
  page.on('console', (said) => { if (['error', 'warning'].includes(said.type()) && !REFUSED.test(said.text())) faults.push(`console: ${said.text()} (${said.location().url})`); });
  page.on('response', (answer) => { if (answer.status() >= 500 || (answer.status() >= 400 && answer.url().includes('/assets/'))) faults.push(`${answer.status()} ${answer.url()}`); });
  page.on('requestfailed', (request) => { if (!['net::ERR_ABORTED', 'net::ERR_NETWORK_CHANGED'].includes(request.failure()?.errorText)) faults.push(`${request.failure()?.errorText} ${request.url()}`); });
  page.on('request', (request) => { if (!request.url().startsWith(CONSOLE) && !request.url().startsWith('data:') && !request.url().startsWith('blob:')) faults.push(`asks somebody else: ${request.url()}`); });
}
const tellViolations = () => document.addEventListener('securitypolicyviolation', (event) => console.error(`CSP: ${event.violatedDirective} ${event.blockedURI} ${event.sample}`));

export async function open({who = 'operator', width = 1280, height = 800, dark = false, locale = 'en-GB', ...more} = {}) {
  const context = await (await browser()).newContext({viewport: {width, height}, colorScheme: dark ? 'dark' : 'light', locale, timezoneId: 'Asia/Shanghai', reducedMotion: 'reduce', ...more});
  context.setDefaultTimeout(PATIENCE);
  const faults = [];
  await context.addInitScript(tellViolations);
  const page = await context.newPage();
  watch(page, faults);
  const at = new Console(page, context, faults);
  if (who !== null) await at.signInAtOnce(who);
  return at;
}

export class Console {
  constructor(page, context, faults) {
    Object.assign(this, {page, context, faults, csrf: ''});
  }

  // By the call that the form makes; the form itself has a test of its own.
  async signInAtOnce(who) {
    const answer = await this.context.request.post(`${CONSOLE}/v1/session`, {data: {key: KEYS[who]}});
    assert.ok(answer.ok(), `sign in as ${who}: ${answer.status()} ${await answer.text()}`);
    this.csrf = (await answer.json()).csrf;
  }

  // Shows a page of the console; it is there when its title is and nothing loads any more.
  async show(address) {
    await this.page.goto(`${CONSOLE}/#/${address}`);
    await this.there();
  }
  async there() {
    await this.page.locator('#title').waitFor();
    await this.page.waitForFunction(() => document.querySelector('main:not([aria-busy])') !== null && document.querySelector('main .loading') === null);
  }
  at = (selector, text) => this.page.locator(selector, text === undefined ? undefined : {hasText: text}).first();
  see = (text, selector = 'main') => this.page.locator(selector).getByText(text).first().waitFor();
  gone = (selector) => this.page.locator(selector).first().waitFor({state: 'detached'});
  text = (selector) => this.page.locator(selector).first().innerText();
  count = (selector) => this.page.locator(selector).count();
  isAble = async (selector) => (await this.page.locator(selector).first().getAttribute('aria-disabled')) !== 'true';

  // The dialog that is open: fills fields by name and a reason, and confirms.
  async act(reason, fields = {}) {
    const dialog = this.page.locator('dialog[open]');
    for (const [name, value] of Object.entries(fields)) {
      const field = dialog.locator(`[name="${name}"]`);
      if (typeof value === 'object') await field.setInputFiles(value);
      else if (await field.evaluate((el) => el.localName) === 'select') await field.selectOption(value);
      else await field.fill(value);
      await field.dispatchEvent('change');
    }
    await dialog.locator('[name=reason]').fill(reason);
    await this.page.locator('#action-confirm:not([disabled])').click();
  }
  dialogGone = () => this.page.locator('dialog[open]').waitFor({state: 'detached'});

  // A call as a page could make it by hand: with the cookie, and with the token or without.
  fetch(method, path, body, {token = true} = {}) {
    return this.page.evaluate(async ([m, p, b, csrf]) => {
      const answer = await fetch(p, {method: m, headers: {'Content-Type': 'application/json', ...(csrf === null ? {} : {'X-CSRF-Token': csrf})}, body: b === null ? undefined : JSON.stringify(b)});
      return {status: answer.status, body: await answer.text()};
    }, [method, `${CONSOLE}${path}`, body ?? null, token ? this.csrf : null]);
  }
}

// A flow: what somebody does; afterwards nothing may have gone wrong behind their back. A failed one leaves a picture.
export const flow = (name, options, run) => test(name, async () => {
  const at = await open(options);
  try {
    await run(at);
    assert.deepEqual(at.faults, []);
  } catch (error) {
    await at.page.screenshot({path: `${env.LOG_DIR}/${name.replaceAll(/\W+/g, '-')}.png`}).catch(() => {});
    if (at.faults.length > 0) error.message += `\nThe page's faults: ${at.faults.join('\n')}`;
    throw error;
  } finally {
    await at.context.close();
  }
});
