import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { AgentError } from '../agent-error.ts';
import type { AgentLayout } from '../folder/layout.ts';

/**
 * Encrypts protected settings for one of the agent's certificates, as a portal does. Throws AgentError if openssl is
 * missing or fails.
 */
export function sealFor(layout: AgentLayout, thumbprint: string, settings: unknown) {
  const certificate = join(layout.certificates, `${thumbprint}.crt`);
  const form = ['cms', '-encrypt', '-binary', '-aes256', '-outform', 'DER', certificate];
  try {
    const sealed = execFileSync('openssl', form, {
      input: JSON.stringify(settings),
      stdio: ['pipe', 'pipe', 'ignore'],
    });
    return { protectedSettings: sealed.toString('base64'), protectedSettingsCertThumbprint: thumbprint.toLowerCase() };
  } catch {
    throw new AgentError('openssl is required to encrypt protected settings. Install it: apt-get install openssl');
  }
}
