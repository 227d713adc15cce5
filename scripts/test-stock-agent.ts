import { spawn } from 'node:child_process';
import path from 'node:path';
import { missingForStockAgent } from '#e2e/stock-agent/requirements.ts';
import { agentPackage, cacheFolder, suiteHere } from '#e2e/stock-agent/waagent-package.ts';
import { buildPages } from '#server/launcher/build.ts';
import { provideTestPrograms } from '#server/testing/programs.ts';
import { readFlags } from './read-flags.ts';

const usage = `usage: npm run test:stock-agent [-- FLAGS]

Runs the tests of the stock Azure Linux agent, as packaged by Debian, in throwaway machines against their own portal.
Needs root on Debian with util-linux, iproute2, python3 and openssl. The first run needs a Debian mirror.
  --suite NAME   Debian release whose agent is tested; can be repeated (this machine's release, and sid for the newest)
  --only NAME    test file to run: short, lifecycle, several, hold, faults, outages or field (all)
  --again        downloads the agent again, for example to get the newest from sid`;

const flags = readFlags(usage, {
  options: {
    suite: { type: 'string', multiple: true },
    only: { type: 'string', default: '' },
    again: { type: 'boolean', default: false },
  },
});

await provideTestPrograms();
const missing = missingForStockAgent();
if (missing.length > 0) {
  console.error(['The stock agent cannot be tested here:', ...missing.map((reason) => `  ${reason}.`)].join('\n'));
  process.exit(1);
}
const root = path.resolve(import.meta.dirname, '..');
// Builds the pages first. Otherwise, the portals in the tests would build them within the time limit of a test.
await buildPages(root, console.log);
const bin = path.join(root, 'node_modules/.bin');
const config = path.join(root, 'e2e/stock-agent/vitest.config.ts');
const results: string[] = [];
for (const suite of flags.suite ?? [...new Set([await suiteHere(), 'sid'])]) {
  const { version } = await agentPackage(cacheFolder, suite, flags.again);
  console.log(`\n── waagent ${version} from ${suite}`);
  const child = spawn(path.join(bin, 'vitest'), ['run', '--config', config, flags.only].filter(Boolean), {
    stdio: 'inherit',
    env: { ...process.env, PATH: `${bin}${path.delimiter}${process.env.PATH}`, ANNEX_STOCK_SUITE: suite },
  });
  const end = () => child.kill('SIGTERM');
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP', 'disconnect'] as const) process.once(signal, end);
  const code = await new Promise<number>((resolve) => child.once('close', (status) => resolve(status ?? 130)));
  results.push(`waagent ${version} (${suite}): ${code === 0 ? 'passed' : `FAILED (${code})`}`);
  if (code !== 0) process.exitCode = code;
}
console.log(`\n${results.join('\n')}`);
process.exit();
