import { readFileSync } from 'node:fs';

const usual = ['\t', '\n', '\r', '\u001b'];

/** Whether a file is UTF-8 text whose only control characters are tabs, line breaks and ESC. */
export function isText(path: string): boolean {
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(readFileSync(path));
    return !/\p{Cc}/u.test(usual.reduce((rest, character) => rest.replaceAll(character, ''), text));
  } catch {
    return false;
  }
}
