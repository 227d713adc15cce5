const minute = 60_000;

/** Returns a function that computes the offset of a time zone from UTC at a given time, in milliseconds. */
export function zoneOffset(timeZone: string): (at: number) => number {
  const format = new Intl.DateTimeFormat('en-u-ca-gregory', {
    timeZone,
    hourCycle: 'h23',
    year: 'numeric',
    month: 'numeric',
    day: 'numeric',
    hour: 'numeric',
    minute: 'numeric',
  });
  return (at) => {
    const parts = Object.fromEntries(format.formatToParts(at).map(({ type, value }) => [type, Number(value)]));
    const { year = 0, month = 1, day: date = 1, hour: hours = 0, minute: minutes = 0 } = parts;
    return Date.UTC(year, month - 1, date, hours, minutes) - Math.floor(at / minute) * minute;
  };
}
