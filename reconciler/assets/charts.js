// SPDX-License-Identifier: Apache-2.0
// Charts by Chart.js, each with the same figures as a table for who cannot or does not want to look at a picture.
import {h} from './dom.js';
import {number, t} from './i18n.js';
import {colour} from './theme.js';

const loaded = {library: null};
const library = () => (loaded.library ??= import('./chart.min.js').then(() => globalThis.Chart));
const TONES = ['chart-1', 'chart-2', 'chart-3', 'chart-4', 'chart-5', 'chart-6'];

function dataTable(spec) {
  return h(
    'details',
    {class: 'chart-data'},
    h('summary', {}, t('Figures as a table')),
    h(
      'div',
      {class: 'table-wrap scroll-y', tabindex: '0'},
      h(
        'table',
        {class: 'grid grid-small'},
        h(
          'thead',
          {},
          h(
            'tr',
            {},
            h('th', {scope: 'col'}, spec.axis ?? ''),
            spec.series.map((s) => h('th', {scope: 'col', class: 'num'}, s.label)),
          ),
        ),
        h(
          'tbody',
          {},
          spec.labels.map((label, i) =>
            h(
              'tr',
              {},
              h('th', {scope: 'row'}, label),
              spec.series.map((s) => h('td', {class: 'num'}, spec.format ? spec.format(s.values[i]) : number(s.values[i]))),
            ),
          ),
        ),
      ),
    ),
  );
}

function configOf(spec) {
  const grid = colour('line'),
    text = colour('muted');
  const value = spec.isAcross ? 'x' : 'y';
  return {
    type: spec.type === 'line' ? 'line' : 'bar',
    data: {
      labels: spec.labels,
      datasets: spec.series.map((s, i) => {
        const c = colour(s.colour ?? TONES[i % TONES.length]);
        return {
          label: s.label,
          data: s.values,
          backgroundColor: spec.type === 'line' ? `${c}33` : c,
          borderColor: c,
          borderWidth: spec.type === 'line' ? 2 : 0,
          fill: spec.type === 'line' && spec.series.length === 1,
          pointRadius: s.values.length > 40 ? 0 : 2,
          cubicInterpolationMode: 'monotone',
          borderRadius: 3,
          maxBarThickness: 36,
        };
      }),
    },
    options: {
      animation: false,
      responsive: true,
      maintainAspectRatio: false,
      indexAxis: spec.isAcross ? 'y' : 'x',
      interaction: {mode: 'index', intersect: false},
      plugins: {
        legend: {display: spec.series.length > 1, labels: {color: text, boxWidth: 12}},
        tooltip: {callbacks: spec.format ? {label: (item) => `${item.dataset.label}: ${spec.format(item.parsed[value])}`} : {}},
      },
      scales: {
        x: {
          stacked: spec.isStacked,
          grid: {color: value === 'x' ? grid : 'transparent'},
          ticks: {color: text, maxRotation: 0, autoSkip: true},
        },
        y: {
          stacked: spec.isStacked,
          beginAtZero: true,
          grid: {color: value === 'y' ? grid : 'transparent'},
          ticks: {color: text, precision: 0, ...(spec.isAcross ? {autoSkip: false} : {})},
        },
      },
    },
  };
}

// spec: title, type ('bar' or 'line'), labels, series [{label, values, colour}], axis (what the labels are), isAcross (bars from left to right), isStacked, format.
export function chart(spec) {
  const canvas = h('canvas', {role: 'img', 'aria-label': spec.title});
  const box = h(
    'div',
    {class: 'chart-box', style: {height: `${spec.isAcross ? Math.max(120, 40 + spec.labels.length * 26) : 240}px`}},
    canvas,
  );
  const figure = h('figure', {class: 'chart', 'data-key': `chart-${spec.title}`}, h('figcaption', {}, spec.title), box, dataTable(spec));
  const state = {chart: null, spec};
  const draw = async () => {
    const Chart = await library();
    if (!figure.isConnected) return;
    state.chart?.destroy();
    state.chart = new Chart(canvas, configOf(state.spec));
  };
  const onColours = () => (figure.isConnected ? draw() : document.removeEventListener('colours', onColours));
  document.addEventListener('colours', onColours);
  figure.spec = spec;
  figure.absorb = (next) => {
    if (JSON.stringify(next.spec) === JSON.stringify(state.spec)) return;
    state.spec = next.spec;
    figure.querySelector('.chart-data').replaceWith(dataTable(next.spec));
    if (state.chart === null) return;
    const config = configOf(next.spec);
    state.chart.data = config.data;
    state.chart.update('none');
  };
  requestAnimationFrame(draw);
  return figure;
}
