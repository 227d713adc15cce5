import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { layoutOf } from '../folder/layout.ts';
import { createKey } from './create-key.ts';
import { openSealed } from './open-sealed.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'annex-sealed-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** Encrypts a value with `openssl`, because handlers use `openssl` for decryption. */
function seal(certificate: string, value: unknown): string {
  const args = ['cms', '-encrypt', '-aes256', '-binary', '-outform', 'DER', certificate];
  return execFileSync('openssl', args, { input: JSON.stringify(value) }).toString('base64');
}

test('AZ-C3 settings encrypted for this machine can be decrypted only with its key', async () => {
  const layout = layoutOf(folder);
  const { thumbprint } = await createKey(layout, 'web-1');
  const sealed = seal(join(layout.certificates, `${thumbprint}.crt`), { password: 'käse & brot' });
  expect(openSealed(layout, thumbprint.toLowerCase(), sealed)).toEqual({ password: 'käse & brot' });
  expect(openSealed(layout, '0'.repeat(40), sealed)).toBeNull();
  expect(openSealed(layout, '../x', sealed)).toBeNull();
  expect(() => openSealed(layout, thumbprint, 'bm9uc2Vuc2U=')).toThrow();
});
