import { execFile } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { hasProgram } from '#server/testing/programs.ts';
import { expect, test } from './support/test.ts';

const root = path.resolve(import.meta.dirname, '..');

/** Returns the commands in "First steps", except those that start the portal. */
function firstSteps(): string {
  const section =
    readFileSync(path.join(root, 'README.md'), 'utf8').split('## First steps')[1]?.split('\n## ')[0] ?? '';
  const blocks = [...section.matchAll(/```sh\n([\s\S]*?)```/g)].map((match) => match[1] ?? '');
  return blocks.filter((block) => !block.includes('npm start')).join('\n');
}

// Without these programs, the run reports this test as not run.
if (['curl', 'openssl'].every(hasProgram))
  test('the first steps of the README work with curl and openssl alone', async ({ portal }) => {
    const folder = mkdtempSync(path.join(tmpdir(), 'annex-steps-'));
    try {
      for (const name of ['package.json', 'samples', 'scripts', 'protocol']) {
        cpSync(path.join(root, name), path.join(folder, name), { recursive: true });
      }
      const script = firstSteps()
        .replace('http://localhost:3000', portal.url)
        .replace('http://localhost:3001', portal.gatewayUrl)
        .replace('npm run -s sample --', `node ${path.join(root, 'scripts/sample.ts')}`);
      const { stdout } = await promisify(execFile)('bash', ['-euc', script], {
        cwd: folder,
        env: { ...process.env, ANNEX_BOOTSTRAP_TOKEN: portal.token },
      });
      expect(stdout).toContain('"state":"published"');
      expect(stdout).toMatch(/^304$/m);
      expect(stdout).toContain('{"password":"correct horse"}');
      expect(stdout).toContain('HTTP/1.1 204');
      const english = stdout.indexOf('Failed to establish connection to files.example.net as backup');
      const german = stdout.indexOf('Die Verbindung zu files.example.net konnte nicht als backup hergestellt werden.');
      expect(english).toBeGreaterThan(0);
      expect(german).toBeGreaterThan(english);
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });
