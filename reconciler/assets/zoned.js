// SPDX-License-Identifier: Apache-2.0
// Local times of a zone as instants with offset, and back: forms show an activity's times in its own zone.

export function zoneIsKnown(zone) {
  try {
    return Boolean(new Intl.DateTimeFormat('en', {timeZone: zone}));
  } catch {
    return false;
  }
}

// Milliseconds that the zone's clocks are ahead of UTC at an instant.
function offsetAt(ms, zone) {
  const parts = new Intl.DateTimeFormat('en-GB', {
    timeZone: zone,
    hourCycle: 'h23',
    year: 'numeric',
    month: '2-digit',
    day: '2-digit',
    hour: '2-digit',
    minute: '2-digit',
    second: '2-digit',
  }).formatToParts(new Date(ms));
  const of = Object.fromEntries(parts.map(({type, value}) => [type, Number(value)]));
  return Date.UTC(of.year, of.month - 1, of.day, of.hour, of.minute, of.second) - Math.floor(ms / 1000) * 1000;
}

const two = (n) => String(n).padStart(2, '0');
const offsetText = (offset) => {
  const minutes = Math.round(Math.abs(offset) / 60000);
  return `${offset < 0 ? '-' : '+'}${two(Math.floor(minutes / 60))}:${two(minutes % 60)}`;
};

// "2026-10-01T11:00:00" in that zone as an instant; null where clocks leave it out. What they show twice is the first.
export function toInstant(local, zone) {
  const wall = Date.parse(`${local.length === 16 ? `${local}:00` : local}Z`);
  if (!Number.isFinite(wall) || !zoneIsKnown(zone)) return null;
  const tries = [wall - 86400000, wall + 86400000].map((near) => offsetAt(near, zone));
  for (const offset of [Math.max(...tries), Math.min(...tries)]) {
    const at = wall - offset;
    if (offsetAt(at, zone) === offset) return `${new Date(wall).toISOString().slice(0, 19)}${offsetText(offset)}`;
  }
  return null;
}

// An instant as the zone's clocks show it, for a field of type datetime-local.
export function toLocal(iso, zone) {
  const at = Date.parse(iso);
  if (!Number.isFinite(at) || !zoneIsKnown(zone)) return '';
  return new Date(Math.floor(at / 1000) * 1000 + offsetAt(at, zone)).toISOString().slice(0, 19);
}
