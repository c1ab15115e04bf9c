// SPDX-License-Identifier: Apache-2.0
// Lists that belong to an activity, from CSV: all rows or none; rejected ones are shown by line.
import {call, path, post} from './api.js';
import {openAction} from './action.js';
import {h} from './dom.js';
import {number, t, tn} from './i18n.js';
import {note, table} from './parts.js';

const HELP = {
  qualifications: () => t('With a header: userId[,source][,batch][,ext]. UTF-8.'),
  numbers: () => t('With a header: number. UTF-8.'),
};
const SHOWN = 5;

async function peek(file) {
  const text = await file.slice(0, 4096).text();
  const lines = text.split(/\r?\n/).filter((line) => line !== '');
  return h(
    'div',
    {class: 'preview'},
    h('p', {}, h('b', {}, file.name), ` · ${number(file.size)} ${t('bytes')}`),
    h('pre', {class: 'json', tabindex: '0'}, lines.slice(0, SHOWN + 1).join('\n'), lines.length > SHOWN + 1 ? '\n…' : ''),
  );
}

export function rejectedRows(error) {
  const rows = error.problem?.rejected ?? [];
  if (rows.length === 0) return [];
  return [
    h(
      'p',
      {class: 'mt-2 mb-1'},
      tn(
        error.problem.rejectedCount ?? rows.length,
        '{n} row was rejected; nothing was imported.',
        '{n} rows were rejected; nothing was imported.',
      ),
    ),
    table(
      [
        {label: t('Line'), class: 'num', show: (r) => number(r.line)},
        {label: t('Why'), show: (r) => r.reason},
      ],
      rows,
    ),
  ];
}

const importedText = (r) =>
  note(
    'good',
    tn(r.inserted ?? r.added ?? 0, '{n} is new', '{n} are new'),
    (r.duplicates ?? 0) > 0 ? ` · ${tn(r.duplicates, '{n} was there already', '{n} were there already')}` : '',
  );

export function openImport(a, what, again) {
  openAction({
    title: what === 'numbers' ? t('Import numbers') : t('Import qualified users'),
    confirm: t('Import'),
    wide: true,
    after: again,
    refused: rejectedRows,
    fields: [{name: 'file', label: t('CSV file'), type: 'file', accept: '.csv,text/csv', required: true, help: HELP[what]()}],
    preview: async ({file}) =>
      file
        ? {ok: true, node: await peek(file)}
        : {ok: false, node: h('p', {class: 'muted'}, t('Choose a file. All rows are taken, or none.'))},
    run: (values) =>
      call(path(['v1/activities', a.code, what], {reason: values.reason}), {method: 'POST', body: values.file, type: 'text/csv'}),
    done: importedText,
  });
}

export function openNumbers(a, again) {
  openAction({
    title: t('Add numbers to {name}', {name: a.name}),
    confirm: t('Add'),
    after: again,
    refused: rejectedRows,
    intro: h(
      'p',
      {},
      t('A range here; single numbers from a CSV file: '),
      h(
        'button',
        {
          type: 'button',
          class: 'btn btn-sm btn-quiet',
          onclick: (event) => {
            event.target.closest('dialog').close();
            openImport(a, 'numbers', again);
          },
        },
        t('Import CSV'),
      ),
    ),
    fields: [
      {name: 'from', label: t('From'), type: 'number', min: 0, required: true},
      {name: 'to', label: t('To'), type: 'number', min: 0, required: true},
    ],
    preview: async ({from, to}) => {
      const n = Number(to) - Number(from) + 1;
      if (from === '' || to === '') return {ok: false, node: ''};
      return n > 0
        ? {ok: true, confirm: t('Add {n}', {n: number(n)}), node: h('p', {}, tn(n, '{n} number', '{n} numbers'))}
        : {ok: false, node: note('bad', t('The range is empty.'))};
    },
    run: (values) =>
      post(path(['v1/activities', a.code, 'numbers'], {reason: values.reason}), {from: Number(values.from), to: Number(values.to)}),
    done: importedText,
  });
}
