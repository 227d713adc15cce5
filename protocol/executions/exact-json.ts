declare global {
  interface JSON {
    /** Returns a value that `JSON.stringify` writes as this text. Part of JavaScript, but not yet of TypeScript's types. */
    rawJSON(text: string): unknown;
  }
}

/** Parses JSON so that `JSON.stringify` writes each number with the digits that it was written with. */
export function parseExactJson(text: string): unknown {
  return JSON.parse(text, keepDigits);
}

function keepDigits(_: string, value: unknown, context?: { source?: string }): unknown {
  return typeof value === 'number' && context?.source !== undefined ? JSON.rawJSON(context.source) : value;
}
