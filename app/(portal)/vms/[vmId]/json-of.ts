/** Parses a JSON object or list. Returns undefined for an empty object or list, and for any other text. */
export function jsonOf(text: string): object | undefined {
  const trimmed = text.trim();
  const isWrapped =
    (trimmed.startsWith('{') && trimmed.endsWith('}')) || (trimmed.startsWith('[') && trimmed.endsWith(']'));
  if (!isWrapped) return undefined;
  const value = parsed(trimmed, asWritten) ?? parsed(trimmed);
  return value === undefined || Object.keys(value).length === 0 ? undefined : value;
}

function parsed(text: string, reviver?: typeof asWritten): object | undefined {
  try {
    return JSON.parse(text, reviver) as object;
  } catch {
    // The text is not JSON, or is nested too deeply for a reviver.
    return undefined;
  }
}

/** Keeps the spelling of numbers that JavaScript would round or reformat, if the browser provides their source text. */
function asWritten(_key: string, value: unknown, context?: { source?: string }): unknown {
  if (typeof value !== 'number' || context?.source === undefined) return value;
  return String(value) === context.source ? value : context.source;
}
