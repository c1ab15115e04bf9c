// SPDX-License-Identifier: Apache-2.0
// Operations under way: shown in a corner until they end, whoever began them, and found again after a reload.
import {get} from './api.js';
import {h, renewChildren} from './dom.js';
import {number, t, tn, word} from './i18n.js';
import {to} from './router.js';
import {may, who} from './session.js';
import {say} from './view.js';

const KEPT = 'largesse.operations';
const NOT_COUNTS = new Set(['total', 'done', 'rate', 'dryRun', 'previewed']);
const state = {seen: new Map(), timer: null};

// How many came to what, in words: [[outcome, n]], those that there are.
export const counts = (operation) =>
  Object.entries(operation).filter(([name, n]) => typeof n === 'number' && n > 0 && !NOT_COUNTS.has(name));
export const countsText = (operation) =>
  counts(operation)
    .map(([name, n]) => `${number(n)} ${word('count', name)}`)
    .join(', ');
export const progressBar = (operation) =>
  h(
    'div',
    {class: 'progress-row'},
    h('progress', {max: String(Math.max(1, operation.total)), value: operation.done ?? 0, 'aria-label': t('Progress')}),
    h('span', {class: 'num'}, `${number(operation.done ?? 0)} / ${number(operation.total)}`),
  );

// Asks how far it is until it has ended. Returns the last answer.
export async function follow(id, onUpdate, signal) {
  for (let pause = 300; ; pause = Math.min(pause * 1.3, 1500)) {
    const operation = await get(`v1/operations/${id}`, signal);
    onUpdate(operation);
    if (operation.state !== 'running') return operation;
    await new Promise((resolve) => setTimeout(resolve, pause));
    if (signal?.aborted) return operation;
  }
}

function keep() {
  try {
    sessionStorage.setItem(KEPT, JSON.stringify([...state.seen.keys()]));
  } catch {
    /* private windows keep nothing */
  }
}

function remembered() {
  try {
    return JSON.parse(sessionStorage.getItem(KEPT) ?? '[]').filter((id) => /^[0-9]+$/.test(id));
  } catch {
    return [];
  }
}

export const title = (operation) =>
  t('{kind} of {what}', {kind: word('operation', operation.kind), what: tn(operation.total, '{n} item', '{n} items')});

function paint(running) {
  const tray = document.getElementById('tray');
  if (tray === null) return;
  renewChildren(
    tray,
    running.length === 0
      ? []
      : [
          h(
            'section',
            {class: 'tray', 'aria-label': t('Operations under way')},
            running.map((operation) =>
              h(
                'div',
                {class: 'tray-item', 'data-key': operation.operationId},
                h('a', {href: to('operations', operation.operationId)}, title(operation)),
                progressBar(operation),
              ),
            ),
          ),
        ],
  );
}

async function tell(id) {
  state.seen.delete(id);
  const operation = await get(`v1/operations/${id}`).catch(() => null);
  if (operation !== null && operation.state !== 'running') {
    say(`${title(operation)}: ${word('state', operation.state)}. ${countsText(operation)}`, 'good');
    document.dispatchEvent(new CustomEvent('operation-ended', {detail: operation}));
  }
}

async function look() {
  if (who() === null || !may('read', 'activities', 'review')) return 10000;
  const {items} = await get('v1/operations?state=running&limit=20');
  const ids = new Set(items.map((operation) => operation.operationId));
  for (const id of [...state.seen.keys()]) if (!ids.has(id)) await tell(id);
  for (const operation of items) state.seen.set(operation.operationId, operation);
  keep();
  paint(items);
  return items.length > 0 ? 1000 : 5000;
}

async function turn() {
  let pause = 5000;
  try {
    if (!document.hidden) pause = await look();
  } catch {
    /* away: the page itself says so */
  }
  clearTimeout(state.timer);
  state.timer = setTimeout(turn, pause);
}

export function watchOperations() {
  for (const id of remembered()) state.seen.set(id, null);
  turn();
}
// Something was begun: look at once.
export const watchSoon = (id) => {
  if (id) state.seen.set(String(id), null);
  keep();
  clearTimeout(state.timer);
  state.timer = setTimeout(turn, 50);
};
