import { existsSync } from 'node:fs';
import { expect, test } from 'vitest';
import { waagentFolderOf } from './waagent-folder.ts';

test('keys go to the configured folder or nowhere; by default, to /var/lib/waagent if the agent runs as root', () => {
  expect(waagentFolderOf('/srv/keys')).toBe('/srv/keys');
  expect(waagentFolderOf('none')).toBeUndefined();
  const isTheirs = ['/usr/sbin/waagent', '/usr/bin/waagent', '/etc/waagent.conf'].some((path) => existsSync(path));
  const usual = process.getuid?.() === 0 && !isTheirs ? '/var/lib/waagent' : undefined;
  expect(waagentFolderOf(undefined)).toBe(usual);
});
