import { execFileSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';

/** Encrypts protected settings with `openssl` for the machine in this folder, as a portal does. */
export function sealedFor(agentFolder: string, settings: unknown, thumbprint = thumbprintsIn(agentFolder)[0] ?? '') {
  const certificate = join(agentFolder, 'certificates', `${thumbprint}.crt`);
  const args = ['cms', '-encrypt', '-aes256', '-binary', '-outform', 'DER', certificate];
  const sealed = execFileSync('openssl', args, { input: JSON.stringify(settings) });
  return { protectedSettings: sealed.toString('base64'), protectedSettingsCertThumbprint: thumbprint };
}

/** Returns the thumbprints of a machine's keys. */
export function thumbprintsIn(agentFolder: string): string[] {
  return readdirSync(join(agentFolder, 'certificates'))
    .filter((name) => name.endsWith('.prv'))
    .map((name) => name.slice(0, -4))
    .sort();
}
