// SPDX-License-Identifier: Apache-2.0
// A list of things: filters, order, pages and what is opened stand in the address; rows can be selected one by one, as a
// page, or as everything that the filter means.
import {get, path} from './api.js';
import {h, newId} from './dom.js';
import {t, tn} from './i18n.js';
import {empty} from './parts.js';
import {go, withQuery} from './router.js';

const selections = new Map(); // by the list's id: {of: the filter it belongs to, ids, all}

function selectionOf(spec, filter) {
  const of = JSON.stringify(filter);
  const kept = selections.get(spec.id);
  if (kept?.of === of) return kept;
  const fresh = {of, ids: new Set(), all: false};
  selections.set(spec.id, fresh);
  return fresh;
}
export const clearSelection = (id) => selections.delete(id);

function filterField(view, spec, filter) {
  const id = `filter-${filter.name}`;
  const value = view.route.query[filter.name] ?? filter.default ?? '';
  const change = (event) => {
    const given = event.target.value.trim();
    go(withQuery(view.route, {[filter.name]: given === (filter.default ?? '') ? undefined : given, after: undefined}));
  };
  const field = filter.options
    ? h(
        'select',
        {id, class: 'form-select form-select-sm', value, onchange: change},
        filter.options.map(([code, label]) => h('option', {value: code}, label)),
        value !== '' && !filter.options.some(([code]) => code === value) ? h('option', {value}, value) : null,
      )
    : h('input', {
        id,
        class: 'form-control form-control-sm',
        type: filter.type ?? 'text',
        value,
        list: filter.suggest ? `${id}-known` : null,
        placeholder: filter.placeholder,
        onchange: change,
        autocomplete: 'off',
        spellcheck: 'false',
      });
  return h(
    'div',
    {class: 'filter', 'data-key': id},
    h('label', {for: id}, filter.label),
    field,
    filter.suggest
      ? h(
          'datalist',
          {id: `${id}-known`},
          filter.suggest.map((known) => h('option', {value: known})),
        )
      : null,
  );
}

function filterBar(view, spec) {
  const isFiltered = spec.filters.some((filter) => view.route.query[filter.name] !== undefined);
  return h(
    'form',
    {class: 'filters', role: 'search', 'aria-label': t('Filter'), 'data-key': 'filters', onsubmit: (event) => event.preventDefault()},
    spec.filters.map((filter) => filterField(view, spec, filter)),
    spec.extra ?? null,
    isFiltered
      ? h(
          'a',
          {
            class: 'btn btn-sm btn-quiet',
            'data-key': 'clear',
            href: withQuery(view.route, {...Object.fromEntries(spec.filters.map((f) => [f.name, undefined])), after: undefined}),
          },
          t('Clear'),
        )
      : null,
  );
}

function heading(view, spec, column) {
  const sorts = column.sort;
  if (!sorts) return h('th', {scope: 'col', class: column.class}, column.label);
  const now = view.route.query.sort ?? spec.sort;
  const direction = now === undefined ? null : now === sorts[0] ? 'ascending' : now === sorts[1] ? 'descending' : null;
  const next = now === sorts[0] && sorts[1] ? sorts[1] : sorts[0];
  return h(
    'th',
    {scope: 'col', class: column.class, 'aria-sort': direction},
    h(
      'a',
      {class: 'sort', href: withQuery(view.route, {sort: next, after: undefined})},
      column.label,
      h('span', {'aria-hidden': 'true'}, direction === 'ascending' ? ' ↑' : direction === 'descending' ? ' ↓' : ' ↕'),
    ),
  );
}

function tick(label, isChecked, onchange, isPartly = false) {
  const id = newId('tick');
  return h(
    'span',
    {class: 'tick'},
    h('input', {
      type: 'checkbox',
      class: 'form-check-input',
      id,
      'aria-label': label,
      checked: isChecked,
      indeterminate: isPartly,
      onchange,
    }),
  );
}

function rows(view, spec, items, chosen, again) {
  const isOn = (item) => chosen.all || chosen.ids.has(spec.key(item));
  const set = (item, on) => {
    if (chosen.all) {
      chosen.all = false;
      for (const each of items) chosen.ids.add(spec.key(each));
    }
    if (on) chosen.ids.add(spec.key(item));
    else chosen.ids.delete(spec.key(item));
  };
  const on = items.filter(isOn).length;
  const pick = spec.actions ? [{label: '', class: 'col-tick'}] : [];
  return h(
    'div',
    {class: 'table-wrap', tabindex: '-1', 'data-of-address': ''},
    h(
      'table',
      {class: 'grid', id: `list-${spec.id}`},
      h('caption', {class: 'visually-hidden'}, spec.caption ?? spec.title),
      h(
        'thead',
        {},
        h(
          'tr',
          {},
          pick.map(() =>
            h(
              'th',
              {class: 'col-tick'},
              tick(
                t('Select all on this page'),
                on > 0 && on === items.length,
                (event) => {
                  for (const item of items) set(item, event.target.checked);
                  again();
                },
                on > 0 && on < items.length,
              ),
            ),
          ),
          spec.columns.map((column) => heading(view, spec, column)),
        ),
      ),
      h(
        'tbody',
        {},
        items.map((item) =>
          h(
            'tr',
            {'data-key': spec.key(item), 'data-id': spec.key(item), class: isOn(item) && spec.actions ? 'is-on' : null},
            pick.map(() =>
              h(
                'td',
                {class: 'col-tick'},
                tick(t('Select {what}', {what: spec.key(item)}), isOn(item), (event) => {
                  set(item, event.target.checked);
                  again();
                }),
              ),
            ),
            spec.columns.map((column) => h('td', {class: column.class, 'data-label': column.label}, column.show(item))),
          ),
        ),
      ),
    ),
  );
}

// What is selected, and what can be done with it: {ids} or {filter}.
function selectionBar(spec, filter, items, next, chosen, again) {
  if (!spec.actions) return null;
  const n = chosen.ids.size;
  const selection = chosen.all ? {filter} : {ids: [...chosen.ids]};
  const isAny = chosen.all || n > 0;
  const all =
    spec.canSelectAll === false
      ? null
      : h(
          'button',
          {
            type: 'button',
            class: 'btn btn-sm btn-quiet',
            id: 'select-all',
            onclick: () => {
              chosen.all = true;
              chosen.ids.clear();
              again();
            },
          },
          t('Select all that the filter means'),
        );
  return h(
    'div',
    {class: `selection${isAny ? ' is-on' : ''}`, role: 'group', 'aria-label': t('Selection'), 'data-key': 'selection', 'data-of-address': ''},
    h(
      'span',
      {class: 'selection-text', 'aria-live': 'polite'},
      chosen.all
        ? t('Everything that the filter means is selected')
        : n > 0
          ? tn(n, '{n} selected', '{n} selected')
          : t('Nothing is selected'),
    ),
    chosen.all || (n === 0 && items.length === 0) ? null : all,
    isAny
      ? h(
          'button',
          {
            type: 'button',
            class: 'btn btn-sm btn-quiet',
            id: 'select-none',
            onclick: () => {
              chosen.all = false;
              chosen.ids.clear();
              again();
            },
          },
          t('Select none'),
        )
      : null,
    h('span', {class: 'selection-actions'}, spec.actions(isAny ? selection : null)),
  );
}

function pager(view, items, next) {
  return h(
    'nav',
    {class: 'pager', 'aria-label': t('Pages of the list'), 'data-key': 'pager', 'data-of-address': ''},
    h('span', {class: 'muted'}, tn(items.length, '{n} entry on this page', '{n} entries on this page')),
    view.route.query.after
      ? h('a', {class: 'btn btn-sm btn-quiet', id: 'first-page', href: withQuery(view.route, {after: undefined})}, t('First page'))
      : null,
    next !== null
      ? h('a', {class: 'btn btn-sm btn-quiet', id: 'next-page', rel: 'next', href: withQuery(view.route, {after: next})}, t('Next page'))
      : null,
  );
}

// spec: id, title, above (nodes over the list), url (parts of the API's path), fixed (query that always goes with it), filters [{name, label, options|placeholder,
// default, api: whether the call knows it}], sort, columns [{label, show, class, sort: [up, down]}], key, actions (selection) → nodes, filterOf (query) → the filter
// of an order, empty [title, help], poll (ms), each (items) → nodes instead of a table.
export async function showList(view, spec) {
  const query = {limit: spec.limit ?? 50, ...spec.fixed, after: view.route.query.after, sort: view.route.query.sort ?? spec.sort};
  for (const filter of spec.filters ?? []) query[filter.param ?? filter.name] = view.route.query[filter.name] ?? filter.default;
  for (const [name, value] of Object.entries(query)) if (value === 'any') query[name] = undefined;
  const filter = spec.filterOf ? spec.filterOf(view.route.query) : {};
  let page = null;
  const paint = () => {
    const chosen = selectionOf(spec, filter);
    const {items, next} = page;
    const isFiltered = (spec.filters ?? []).some((f) => view.route.query[f.name] !== undefined);
    view.show(
      spec.above?.(page) ?? null,
      (spec.filters ?? []).length ? filterBar(view, spec) : null,
      items.length > 0 ? selectionBar(spec, filter, items, next, chosen, paint) : null,
      items.length > 0
        ? (spec.each?.(items) ?? rows(view, spec, items, chosen, paint))
        : isFiltered && !spec.keepEmpty
          ? empty(t('Nothing fits this filter'), t('Clear the filter, or choose a wider one.'))
          : empty(...spec.empty),
      items.length > 0 || view.route.query.after ? pager(view, items, next) : null,
      spec.below?.(page) ?? null,
    );
  };
  const load = async () => {
    page = await get(path(spec.url, query), view.signal);
    paint();
  };
  await load();
  if (spec.poll) view.every(spec.poll, load);
  return load;
}
