import { maskedText } from '../handler/mask.ts';

/** Returns a JSON value with secrets masked in all values and names. */
export function maskedValue(value: unknown, secrets: readonly string[]): unknown {
  if (secrets.length === 0) return value;
  const visit = (each: unknown): unknown => {
    if (typeof each === 'string') return maskedText(each, secrets);
    if (typeof each !== 'object' || each === null) return isSecret(String(each), secrets) ? '[masked]' : each;
    if (Array.isArray(each)) return each.map(visit);
    // `parseExactJson` represents numbers as objects without a prototype.
    if (Object.getPrototypeOf(each) === null) return isSecret(JSON.stringify(each), secrets) ? '[masked]' : each;
    return Object.fromEntries(Object.entries(each).map(([name, inner]) => [maskedText(name, secrets), visit(inner)]));
  };
  return visit(value);
}

const isSecret = (text: string, secrets: readonly string[]): boolean => secrets.some((secret) => text.includes(secret));
