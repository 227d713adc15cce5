import type { ResultException } from '#protocol/executions/execution-result.ts';

/** Limits what the page shows of a value, because a result can be as large as 16 MiB. */
const maxCharacters = 100_000;

export type ShownException = Pick<ResultException, 'Message' | 'Type' | 'Stack' | 'AdditionalInfo'> & {
  Causes: ShownException[];
};

/** Returns the exception that a result's Body describes; null if it describes none. Agents may send anything. */
export function exceptionOf(body: unknown, depth = 0): ShownException | null {
  if (typeof body !== 'object' || body === null || !('Message' in body)) return null;
  const { Message, Type, Stack, Causes, AdditionalInfo } = body as Record<string, unknown>;
  const text = (value: unknown) => (typeof value === 'string' ? value : '');
  const list = (value: unknown): unknown[] => (Array.isArray(value) ? value : []);
  return {
    Message: text(Message),
    Type: text(Type),
    Stack: list(Stack).map(text).filter(Boolean),
    AdditionalInfo,
    Causes: depth > 10 ? [] : list(Causes).flatMap((cause) => exceptionOf(cause, depth + 1) ?? []),
  };
}

/** Returns the lines of the Body that a stack names, such as 2 for `<plan>:2 in Body: …`. */
export function linesOfStack(stack: readonly string[]): number[] {
  return stack.flatMap((line) => {
    const number = /^<plan>:(\d+)/.exec(line)?.[1];
    return number === undefined ? [] : [Number(number)];
  });
}

/** Returns a value as text for display: a string as it is, anything else as JSON. Long text is truncated. */
export function shownText(value: unknown): { text: string; language: 'json' | 'text'; isCut: boolean } {
  const text = typeof value === 'string' ? value : JSON.stringify(value, null, 2);
  const language = typeof value === 'string' ? 'text' : 'json';
  return { text: text.slice(0, maxCharacters), language, isCut: text.length > maxCharacters };
}
