import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';

/** A text that was written or sent, and where. */
export interface Evidence {
  where: string;
  bytes: Buffer;
}

/**
 * Returns every file below a folder, except files that disappear in the meantime, for example because the database
 * removes them.
 */
export function filesBelow(folder: string): Evidence[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .flatMap((entry) => {
      const where = path.join(entry.parentPath, entry.name);
      try {
        return [{ where, bytes: readFileSync(where) }];
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
        throw error;
      }
    });
}

/** Finds where a text occurs and in which form: plain, in UTF-16, in hexadecimal, or anywhere inside base64. */
export function tracesOf(text: string, evidence: readonly Evidence[]): string[] {
  const forms = formsOf(text);
  return evidence.flatMap(({ where, bytes }) =>
    forms.filter(({ bytes: form }) => bytes.includes(form)).map(({ form }) => `${where} (${form})`),
  );
}

function formsOf(text: string): { form: string; bytes: Buffer }[] {
  const plain = Buffer.from(text);
  const wide = Buffer.from(text, 'utf16le');
  const hex = plain.toString('hex');
  return [
    { form: 'text', bytes: plain },
    { form: 'UTF-16', bytes: wide },
    { form: 'hex', bytes: Buffer.from(hex) },
    { form: 'HEX', bytes: Buffer.from(hex.toUpperCase()) },
    ...(['base64', 'base64url'] as const).flatMap((encoding) =>
      [0, 1, 2].map((offset) => ({ form: encoding, bytes: Buffer.from(insideBase64(plain, offset, encoding)) })),
    ),
  ];
}

/** Returns the base64 digits that the text alone determines when it begins at this offset in a three-byte group. */
function insideBase64(plain: Buffer, offset: number, encoding: 'base64' | 'base64url'): string {
  const skipped = offset === 0 ? 0 : 3 - offset;
  const whole = plain.subarray(skipped, plain.length - ((plain.length - skipped) % 3));
  return whole.toString(encoding);
}
