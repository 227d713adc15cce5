declare global {
  interface JSON {
    /** Returns a value that `JSON.stringify` writes as this text. TypeScript's types lack this function. */
    rawJSON(text: string): unknown;
  }
}

/** Parses JSON so that `JSON.stringify` writes each number exactly as it was in the text. */
export function parseExactJson(text: string): unknown {
  return JSON.parse(text, keepDigits);
}

function keepDigits(_: string, value: unknown, context?: { source?: string }): unknown {
  return typeof value === 'number' && context?.source !== undefined ? JSON.rawJSON(context.source) : value;
}
