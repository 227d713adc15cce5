import { maskedTexts } from '../handler/mask.ts';

export { isSecretKey } from '#protocol/secret-keys.ts';

/** Returns the texts to mask for a value, which is given as the text of its JSON. */
export function secretTexts(json: string): string[] {
  const value: unknown = JSON.parse(json);
  // A long number loses digits when it is parsed.
  return maskedTexts(
    typeof value === 'number' ? [value, json] : value === null || typeof value === 'boolean' ? [] : [value],
  );
}
