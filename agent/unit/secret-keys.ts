import { maskedTexts } from '../handler/mask.ts';

const secretNames = /password|passwd|secret|token|private.?key|credential/i;

/** Whether the value of a key is masked in output: the formula lists the key, or its name looks like a secret. */
export function isSecretKey(key: string, masked: readonly string[]): boolean {
  return masked.includes(key) || secretNames.test(key);
}

/** Returns the texts to mask for a value, which is given as the text of its JSON. */
export function secretTexts(json: string): string[] {
  const value: unknown = JSON.parse(json);
  // A long number loses digits when it is parsed.
  return maskedTexts(
    typeof value === 'number' ? [value, json] : value === null || typeof value === 'boolean' ? [] : [value],
  );
}
