// SPDX-License-Identifier: Apache-2.0
// The console's frame: navigation, search, language, colours, keys; and which page an address is.
import {closeDialogs} from './dialog.js';
import {h, renewChildren} from './dom.js';
import {language, languages, setLanguage, t, word} from './i18n.js';
import {current, go, to} from './router.js';
import * as session from './session.js';
import {watchOperations} from './progress.js';
import {makeView, say} from './view.js';
import {fault, loading} from './parts.js';
import {cycleTheme, theme} from './theme.js';
import {claimAddress} from './claim_search.js';
import {isShortcut, showHelp} from './keys.js';

// name → the module that shows it, loaded when it is first needed.
const PAGES = {
  now: () => import('./page_now.js'),
  activities: () => import('./page_activities.js'),
  activity: () => import('./page_activity.js'),
  'activity-new': () => import('./activity_edit.js'),
  claims: () => import('./page_claims.js'),
  'dead-letters': () => import('./page_dead_letters.js'),
  'dead-letter': () => import('./page_dead_letter.js'),
  findings: () => import('./page_findings.js'),
  reports: () => import('./page_reports.js'),
  event: () => import('./page_event.js'),
  report: () => import('./page_report.js'),
  statements: () => import('./page_statements.js'),
  providers: () => import('./page_providers.js'),
  log: () => import('./page_log.js'),
  operations: () => import('./page_operations.js'),
  'sign-in': () => import('./page_sign_in.js'),
  missing: () => import('./page_missing.js'),
};
const MENU = [
  ['now', 'Now'],
  ['activities', 'Activities'],
  ['claims', 'Claims'],
  ['dead-letters', 'Dead letters'],
  ['findings', 'Findings'],
  ['reports', 'Reports'],
  ['statements', 'Statements'],
  ['providers', 'Providers'],
  ['operations', 'Operations'],
  ['log', 'Log'],
];
const SINGLE = {activities: 'activity', 'dead-letters': 'dead-letter', reports: 'report', events: 'event'};

const place = document.getElementById('app');
const state = {view: null, path: null};

function pageOf(route) {
  const [first = 'now', second] = route.parts;
  if (second !== undefined && SINGLE[first]) return SINGLE[first];
  return PAGES[first] && !Object.values(SINGLE).includes(first) ? first : 'missing';
}

const link = ([name, label], active) =>
  h('a', {href: to(name), class: 'nav-link', 'aria-current': name === active ? 'page' : null, 'data-page': name}, t(label));

function searchBox() {
  return h(
    'form',
    {
      role: 'search',
      class: 'search',
      onsubmit: (event) => {
        event.preventDefault();
        const field = event.currentTarget.elements.q;
        if (field.value.trim() !== '') go(claimAddress(field.value.trim()));
      },
    },
    h('label', {class: 'visually-hidden', for: 'search'}, t('Find a claim: claim id, user id, or activity/bizId')),
    h('input', {
      id: 'search',
      name: 'q',
      type: 'search',
      class: 'form-control',
      autocomplete: 'off',
      spellcheck: 'false',
      placeholder: t('Claim id, user, activity/bizId'),
    }),
    h('kbd', {'aria-hidden': 'true'}, '/'),
  );
}

function person() {
  const who = session.who();
  if (who === null) return h('a', {class: 'btn btn-sm btn-primary', href: to('sign-in')}, t('Sign in'));
  return h(
    'div',
    {class: 'person'},
    h('span', {class: 'person-name', title: who.name}, who.name),
    h('span', {class: 'tag tag-info'}, word('role', who.role ?? 'none')),
    session.isAnonymous()
      ? null
      : h('button', {type: 'button', class: 'btn btn-sm btn-quiet', id: 'sign-out', onclick: signOut}, t('Sign out')),
  );
}

async function signOut() {
  try {
    await session.signOut();
    go(to('sign-in'));
  } catch (error) {
    say(error.message, 'bad');
  }
}

function choices() {
  return h(
    'div',
    {class: 'choices'},
    h('label', {class: 'visually-hidden', for: 'language'}, t('Language')),
    h(
      'select',
      {
        id: 'language',
        class: 'form-select form-select-sm',
        value: language(),
        onchange: (event) => {
          setLanguage(event.target.value);
          showAll(true);
        },
      },
      languages().map(({code, name}) => h('option', {value: code, lang: code}, name)),
    ),
    h(
      'button',
      {
        type: 'button',
        id: 'theme',
        class: 'btn btn-sm btn-quiet',
        onclick: () => {
          cycleTheme();
          showAll(true);
        },
      },
      h('span', {'aria-hidden': 'true'}, '◐'),
      h('span', {class: 'long'}, t('Colours: {theme}', {theme: word('theme', theme())})),
    ),
    h('button', {type: 'button', id: 'help', class: 'btn btn-sm btn-quiet', 'aria-label': t('Help and keys'), onclick: showHelp}, '?'),
  );
}

function frame(active) {
  return [
    h(
      'a',
      {
        class: 'skip',
        href: '#main',
        onclick: (event) => {
          event.preventDefault();
          focusTitle();
        },
      },
      t('Skip to the content'),
    ),
    h(
      'header',
      {class: 'top'},
      h(
        'a',
        {class: 'brand', href: to('now')},
        h('img', {src: new URL('icon.svg', import.meta.url).pathname, alt: '', width: '28', height: '28'}),
        h('span', {}, 'largesse'),
      ),
      session.who() ? searchBox() : null,
      choices(),
      person(),
    ),
    h(
      'div',
      {class: 'body'},
      session.who()
        ? h(
            'nav',
            {class: 'side', 'aria-label': t('Pages')},
            MENU.map((item) => link(item, active)),
          )
        : null,
      h('main', {id: 'main', 'data-key': 'main'}),
    ),
    h('div', {id: 'tray', 'data-key': 'tray'}),
    h('div', {id: 'toasts', 'data-key': 'toasts', role: 'status', 'aria-live': 'polite'}),
  ];
}

// The frame is renewed around what the page shows: main, tray and messages keep their content.
function showFrame(active) {
  const next = frame(active);
  const keep = ['main', 'tray', 'toasts'].map((id) => [id, document.getElementById(id)]);
  const wrapped = h('div', {}, ...next);
  for (const [id, old] of keep) if (old !== null) wrapped.querySelector(`#${id}`).absorb = true;
  for (const [, old] of keep) if (old !== null && old.absorb === undefined) old.absorb = () => {};
  renewChildren(place, [...wrapped.childNodes]);
}

export const focusTitle = () => (document.getElementById('title') ?? document.getElementById('main'))?.focus({preventScroll: false});

async function showPage(route, isSamePath) {
  const name = session.who() === null ? 'sign-in' : pageOf(route);
  const [first = 'now'] = route.parts;
  showFrame(session.who() === null ? null : ['activity-new', 'events'].includes(first) ? 'activities' : first);
  document.querySelector('.side [aria-current]')?.scrollIntoView({block: 'nearest', inline: 'center'});
  const main = document.getElementById('main');
  state.view?.leave();
  const view = makeView(main, route);
  state.view = view;
  main.setAttribute('aria-busy', 'true');
  if (!isSamePath) {
    main.replaceChildren(loading());
    window.scrollTo(0, 0);
  }
  try {
    const page = await (PAGES[name] ?? PAGES.missing)();
    if (view.isLeft()) return;
    await page.show(view, route);
    if (!isSamePath && !view.isLeft() && !(document.activeElement instanceof HTMLInputElement && main.contains(document.activeElement)))
      focusTitle();
  } catch (error) {
    if (error.name === 'AbortError' || view.isLeft()) return;
    if (error.status === 401) return;
    view.title(t('Fault'));
    main.replaceChildren(
      h('h1', {id: 'title', tabindex: '-1'}, t('This cannot be shown')),
      fault(error, () => showAll(true)),
    );
    main.removeAttribute('aria-busy');
  }
}

function showAll(isSamePath = false) {
  const route = current();
  const same = isSamePath || state.path === route.path;
  state.path = route.path;
  if (!same) closeDialogs();
  return showPage(route, same);
}

// A list stays to be seen while the next one is fetched: with another filter, say. What is chosen and turned over in it by then would be of the old one.
function holdWhileBusy(event) {
  if (event.target.closest?.('main[aria-busy] [data-of-address]') == null) return;
  event.preventDefault();
  event.stopPropagation();
}

function onKey(event) {
  if (!isShortcut(event)) return;
  if (event.key === '/') {
    event.preventDefault();
    document.getElementById('search')?.focus();
  } else if (event.key === '?') {
    event.preventDefault();
    showHelp();
  } else if (event.key >= '0' && event.key <= '9' && session.who() !== null) {
    const item = MENU[(Number(event.key) + 9) % 10];
    if (item) go(to(item[0]));
  }
}

async function start() {
  try {
    await session.load();
  } catch (error) {
    place.replaceChildren(
      h(
        'main',
        {class: 'alone'},
        h('h1', {}, 'largesse'),
        fault(error, () => location.reload()),
      ),
    );
    return;
  }
  window.addEventListener('hashchange', () => showAll());
  document.addEventListener('keydown', onKey);
  document.addEventListener('click', holdWhileBusy, {capture: true});
  document.addEventListener('signed-out', () => {
    if (session.who() === null) return;
    session.forget();
    showAll(true);
  });
  document.addEventListener('signed-in', () => showAll(true));
  await showAll();
  watchOperations();
}

start();
