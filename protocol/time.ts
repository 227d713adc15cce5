const pattern =
  /^(\d{4})([-/])(\d{1,2})\2(\d{1,2})(?:T|,?\s+|,)(\d{1,2}):(\d{2})(?::(\d{2})(?:[.,](\d{1,12}))?)?\s*(Z|UTC|[+-]\d{2}:?\d{2})?$/i;

/** Matches .NET's JSON dates, and seconds or milliseconds since 1970. Milliseconds have more digits than seconds. */
const sinceEpoch = /^(?:\\?\/Date\((-?\d{1,13})(?:[+-]\d{4})?\)\\?\/|(\d{9,10}(?:\.\d+)?)|(\d{12,13}))$/;

/**
 * Parses a handler's time and returns it as ISO 8601 in UTC. Accepts ISO forms, the source document's `2013/11/13,
 * 17:46:30.447` (AZ-S2), `/Date(1384364790447)/`, and seconds or milliseconds since 1970. A time without a zone is UTC.
 * Returns null if the text is not a time, such as the document's sample `<current utc time>`.
 */
export function parseHandlerTime(text: string): string | null {
  const match = pattern.exec(text.trim());
  if (match === null) return epochTime(text.trim());
  const [, year, , month, day, hour, minute, second = '0', fraction = '', zone = 'Z'] = match;
  const milliseconds = Number(fraction.slice(0, 3).padEnd(3, '0'));
  const fields = [Number(year), Number(month) - 1, Number(day), Number(hour), Number(minute), Number(second)] as const;
  const date = new Date(Date.UTC(...fields, milliseconds));
  const kept = [
    date.getUTCFullYear(),
    date.getUTCMonth(),
    date.getUTCDate(),
    date.getUTCHours(),
    date.getUTCMinutes(),
    date.getUTCSeconds(),
  ];
  if (fields.some((field, index) => field !== kept[index])) return null;
  return new Date(date.getTime() - offsetMinutes(zone) * 60_000).toISOString();
}

function epochTime(text: string): string | null {
  const [, dotNet, seconds, milliseconds] = sinceEpoch.exec(text) ?? [];
  const date = new Date(seconds === undefined ? Number(dotNet ?? milliseconds ?? Number.NaN) : Number(seconds) * 1000);
  return Number.isNaN(date.getTime()) ? null : date.toISOString();
}

function offsetMinutes(zone: string): number {
  const match = /^([+-])(\d{2}):?(\d{2})$/.exec(zone);
  if (match === null) return 0;
  const minutes = Number(match[2]) * 60 + Number(match[3]);
  return match[1] === '-' ? -minutes : minutes;
}
