// SPDX-License-Identifier: Apache-2.0
// Texts in the person's language, and numbers, times and money as that language writes them. A text is looked up by its
// English form; `word` translates the closed sets of the API (states, causes, outcomes).
import {words as english} from './en.js';
import {texts as chinese, words as chineseWords} from './zh.js';

const LANGUAGES = {en: {name: 'English', texts: {}, words: english}, zh: {name: '中文', texts: chinese, words: chineseWords}};
const KEPT = 'largesse.language';

const kept = () => {
  try {
    return localStorage.getItem(KEPT);
  } catch {
    return null;
  }
};
const state = {language: LANGUAGES[kept()] ? kept() : (navigator.languages ?? []).some((l) => /^zh/i.test(l)) ? 'zh' : 'en'};

export const language = () => state.language;
export const languages = () => Object.entries(LANGUAGES).map(([code, {name}]) => ({code, name}));
export function setLanguage(code) {
  state.language = code;
  document.documentElement.lang = code === 'zh' ? 'zh-CN' : 'en';
  try {
    localStorage.setItem(KEPT, code);
  } catch {
    /* private windows keep nothing */
  }
}
setLanguage(state.language);

const fill = (text, values) => text.replace(/\{(\w+)\}/g, (whole, name) => values?.[name] ?? whole);
export const t = (text, values) => fill(LANGUAGES[state.language].texts[text] ?? text, values);
// tn(3, '{n} letter', '{n} letters'); languages without plural have the second only.
export const tn = (n, one, many) => t(n === 1 && state.language === 'en' ? one : many, {n: number(n)});
// A word of a closed set, for people; unknown ones as they are, without their underscores.
export const word = (set, value) =>
  value === undefined || value === null
    ? ''
    : (LANGUAGES[state.language].words[`${set}.${value}`] ?? LANGUAGES.en.words[`${set}.${value}`] ?? String(value).replaceAll('_', ' '));
export const hasWord = (set, value) => LANGUAGES[state.language].words[`${set}.${value}`] !== undefined;

const locale = () => (state.language === 'zh' ? 'zh-CN' : 'en-GB');
const made = new Map();
function format(make, options) {
  const key = `${make.name}${locale()}${JSON.stringify(options)}`;
  if (!made.has(key)) made.set(key, new make(locale(), options));
  return made.get(key);
}

export const number = (n, digits) =>
  n === null || n === undefined
    ? '–'
    : format(Intl.NumberFormat, {maximumFractionDigits: digits ?? 0, minimumFractionDigits: digits ?? 0}).format(n);
export const percent = (part) =>
  format(Intl.NumberFormat, {style: 'percent', maximumFractionDigits: part > 0 && part < 0.1 ? 1 : 0}).format(part);

// Minor units, exactly: the decimals are those of the currency (JPY 0, KWD 3).
export function money(amount, currency) {
  if (amount === null || amount === undefined) return '–';
  if (!currency) return number(amount);
  const writer = format(Intl.NumberFormat, {style: 'currency', currency, currencyDisplay: 'code'});
  const decimals = writer.resolvedOptions().maximumFractionDigits;
  const digits = String(Math.abs(amount)).padStart(decimals + 1, '0');
  const whole = digits.slice(0, digits.length - decimals),
    rest = digits.slice(digits.length - decimals);
  return writer.format(`${amount < 0 ? '-' : ''}${whole}${decimals > 0 ? `.${rest}` : ''}`);
}

const TIME = {year: 'numeric', month: 'short', day: 'numeric', hour: '2-digit', minute: '2-digit', second: '2-digit', hour12: false};
export const dateTime = (iso, zone) =>
  iso ? format(Intl.DateTimeFormat, zone ? {...TIME, timeZone: zone, timeZoneName: 'short'} : TIME).format(new Date(iso)) : '–';
export const shortTime = (iso, zone) =>
  format(Intl.DateTimeFormat, {
    month: 'short',
    day: 'numeric',
    hour: '2-digit',
    minute: '2-digit',
    hour12: false,
    ...(zone ? {timeZone: zone} : {}),
  }).format(new Date(iso));
export const clock = (iso, zone, withSeconds) =>
  format(Intl.DateTimeFormat, {
    hour: '2-digit',
    minute: '2-digit',
    ...(withSeconds ? {second: '2-digit'} : {}),
    hour12: false,
    ...(zone ? {timeZone: zone} : {}),
  }).format(new Date(iso));
export const day = (date) =>
  format(Intl.DateTimeFormat, {weekday: 'short', year: 'numeric', month: 'short', day: 'numeric', timeZone: 'UTC'}).format(
    new Date(`${date}T00:00:00Z`),
  );

const STEPS = [
  ['day', 86400],
  ['hour', 3600],
  ['minute', 60],
  ['second', 1],
];
export function ago(iso, now) {
  const seconds = (Date.parse(iso) - now) / 1000;
  const [unit, size] = STEPS.find(([, s]) => Math.abs(seconds) >= s) ?? STEPS.at(-1);
  return format(Intl.RelativeTimeFormat, {numeric: 'auto', style: 'short'}).format(Math.round(seconds / size), unit);
}
// 3 d 04:05:06, for countdowns; never negative.
export function span(ms) {
  const s = Math.max(0, Math.floor(ms / 1000));
  const two = (n) => String(n).padStart(2, '0');
  const days = Math.floor(s / 86400),
    hours = Math.floor(s / 3600) % 24;
  return `${days > 0 ? t('{n} d', {n: days}) + ' ' : ''}${days > 0 || hours > 0 ? `${two(hours)}:` : ''}${two(Math.floor(s / 60) % 60)}:${two(s % 60)}`;
}
export const seconds = (n) =>
  n === null || n === undefined ? '–' : n < 1 ? `${number(n * 1000)} ms` : n < 120 ? `${number(n, n < 10 ? 2 : 1)} s` : span(n * 1000);
