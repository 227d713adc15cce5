const pattern =
  /^(\d{4})([-/])(\d{1,2})\2(\d{1,2})(?:T|,?\s+|,)(\d{1,2}):(\d{2})(?::(\d{2})(?:[.,](\d{1,12}))?)?\s*(Z|UTC|[+-]\d{2}:?\d{2})?$/i;

/**
 * A handler's time as ISO 8601 in UTC: ISO forms, and the source document's `2013/11/13, 17:46:30.447` (AZ-S2).
 * Without a zone it is UTC. Null where the text is no time, as in the document's sample `<current utc time>`.
 */
export function parseHandlerTime(text: string): string | null {
  const match = pattern.exec(text.trim());
  if (match === null) return null;
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

function offsetMinutes(zone: string): number {
  const match = /^([+-])(\d{2}):?(\d{2})$/.exec(zone);
  if (match === null) return 0;
  const minutes = Number(match[2]) * 60 + Number(match[3]);
  return match[1] === '-' ? -minutes : minutes;
}
