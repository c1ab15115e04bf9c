// SPDX-License-Identifier: Apache-2.0
// Light, dark, or as the system says.
const KEPT = 'largesse.theme';
const THEMES = ['auto', 'light', 'dark'];
const dark = window.matchMedia('(prefers-color-scheme: dark)');

function kept() {
  try {
    return THEMES.find((name) => name === localStorage.getItem(KEPT)) ?? 'auto';
  } catch {
    return 'auto';
  }
}
const state = {theme: kept()};
const apply = () => {
  document.documentElement.dataset.theme = state.theme === 'auto' ? (dark.matches ? 'dark' : 'light') : state.theme;
  document.dispatchEvent(new CustomEvent('colours'));
};
dark.addEventListener('change', apply);
apply();

export const theme = () => state.theme;
export function cycleTheme() {
  state.theme = THEMES[(THEMES.indexOf(state.theme) + 1) % THEMES.length];
  try {
    localStorage.setItem(KEPT, state.theme);
  } catch {
    /* private windows keep nothing */
  }
  apply();
}
export const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
