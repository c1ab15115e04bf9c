// SPDX-License-Identifier: Apache-2.0
// Making and renewing the page's elements. Data only ever becomes text: there is no innerHTML in the console.

const PROPERTIES = new Set(['checked', 'disabled', 'hidden', 'selected', 'open', 'indeterminate', 'readOnly', 'multiple']);
const HANDLERS = ['onclick', 'onchange', 'oninput', 'onsubmit', 'onkeydown', 'onclose', 'oncancel', 'ontoggle'];
const SVG = 'http://www.w3.org/2000/svg';

function put(el, name, value) {
  if (value === null || value === undefined || value === false) return;
  if (name === 'class') el.setAttribute('class', value);
  else if (name === 'style') for (const [key, text] of Object.entries(value)) el.style.setProperty(key, text);
  else if (name === 'value') el.value = value;
  else if (HANDLERS.includes(name)) el[name] = value;
  else if (PROPERTIES.has(name)) el[name] = value;
  else if (name === 'href' && !/^(#|[./]|https?:|v1\/|assets\/)/.test(value)) el.removeAttribute('href');
  else el.setAttribute(name, value === true ? '' : value);
}

function add(el, children) {
  for (const child of children) {
    if (child === null || child === undefined || child === false || child === '') continue;
    if (Array.isArray(child)) add(el, child);
    else el.append(child instanceof Node ? child : String(child));
  }
}

// h('a', {href: '#/now', class: 'x', onclick: f}, 'text', [more], null)
export function h(tag, props, ...children) {
  const el = document.createElement(tag);
  const {value, ...rest} = props ?? {};
  for (const [name, given] of Object.entries(rest)) put(el, name, given);
  add(el, children);
  if (value !== undefined) put(el, 'value', value); // a select's after its options
  return el;
}

export function svg(tag, props, ...children) {
  const el = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(props ?? {})) put(el, name, value);
  add(el, children);
  return el;
}

export function fragment(...children) {
  const f = document.createDocumentFragment();
  add(f, children);
  return f;
}

// Makes `old` look like `next` with as few changes as possible, so that focus, scrolling and what somebody types stay.
// Elements with data-key are matched by it; an element with `absorb` renews itself from its successor (charts).
export function renew(old, next) {
  if (old.absorb !== undefined && next.absorb !== undefined) return old.absorb(next);
  renewAttributes(old, next);
  renewChildren(old, [...next.childNodes]);
  renewValue(old, next);
  return undefined;
}

function renewAttributes(old, next) {
  for (const {name} of [...old.attributes]) {
    if (next.hasAttribute(name) || (name === 'open' && old.localName === 'details')) continue;
    old.removeAttribute(name);
  }
  for (const {name, value} of next.attributes) if (old.getAttribute(name) !== value && name !== 'style') old.setAttribute(name, value);
  if (old.style.cssText !== next.style.cssText) old.style.cssText = next.style.cssText;
  for (const name of HANDLERS) if (old[name] !== next[name]) old[name] = next[name];
}

function renewValue(old, next) {
  if (!('value' in old) || old.localName === 'li' || old.localName === 'button' || old === document.activeElement) return;
  if (old.value !== next.value) old.value = next.value;
  for (const name of ['checked', 'indeterminate', 'disabled']) if (name in old && old[name] !== next[name]) old[name] = next[name];
}

const keyOf = (node) => (node.nodeType === 1 ? node.getAttribute('data-key') : null);
const fits = (a, b) => a.nodeType === b.nodeType && a.nodeName === b.nodeName && keyOf(a) === keyOf(b);

export function renewChildren(old, wanted) {
  const keyed = new Map();
  for (const child of old.childNodes) if (keyOf(child) !== null) keyed.set(keyOf(child), child);
  let at = old.firstChild;
  for (const next of wanted) {
    const key = keyOf(next);
    const same = key !== null ? keyed.get(key) : null;
    if (same && same !== at && same.nodeName === next.nodeName) old.insertBefore(same, at);
    const found = same && same.nodeName === next.nodeName ? same : at && keyOf(at) === null && fits(at, next) ? at : null;
    if (found === null) {
      old.insertBefore(next, at);
    } else {
      at = found.nextSibling;
      if (found.nodeType === 1) renew(found, next);
      else if (found.nodeValue !== next.nodeValue) found.nodeValue = next.nodeValue;
    }
  }
  while (at !== null) {
    const gone = at;
    at = at.nextSibling;
    gone.remove();
  }
}

let last = 0;
export const newId = (prefix) => `${prefix}-${++last}`;
