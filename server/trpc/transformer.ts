/** A response as it is sent: JSON, and the paths of the strings that are dates. */
export interface Sent {
  json: unknown;
  dates?: DatePath[];
}

/** The property names and indexes that lead from the root of a response to a date. */
export type DatePath = (string | number)[];

/** Returns data for pages in the form that `restoreDates` in the browser reads. */
function serialize(json: unknown): Sent {
  const dates: DatePath[] = [];
  collectDates(json, [], dates);
  return dates.length === 0 ? { json } : { json, dates };
}

/** Collects the paths of dates. Throws for values that JSON would silently change, such as a `Map` or a `Buffer`. */
function collectDates(value: unknown, path: DatePath, dates: DatePath[]): void {
  if (typeof value !== 'object' || value === null) return;
  if (value instanceof Date) {
    dates.push(path);
  } else if (Array.isArray(value)) {
    for (const [index, part] of value.entries()) collectDates(part, [...path, index], dates);
  } else if (isPlain(value)) {
    for (const name of Object.keys(value)) collectDates(value[name], [...path, name], dates);
  } else {
    throw new TypeError(`Pages cannot receive a ${value.constructor.name}, at ${path.join('.')}.`);
  }
}

function isPlain(value: object): value is Record<string, unknown> {
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}

const unwrap = (sent: unknown): unknown => (sent as Partial<Sent> | undefined)?.json;

/**
 * The format of calls from pages. Pages receive dates as dates, and everything else as JSON. Inputs contain no dates,
 * so date paths in inputs, which anyone could send, are ignored.
 */
export const transformer = {
  input: { serialize: (json: unknown): Sent => ({ json }), deserialize: unwrap },
  output: { serialize, deserialize: unwrap },
};
